# SPDX-License-Identifier: LGPL-3.0-or-later
"""What the benchmarks of a whole server have in common.

serve_benchmark of ../build.sh builds the programs and starts a benchmark's
main.py so that it finds this package, the servers and backends of the
integration tests, and FAULT's Python interface.
"""

import pathlib

TOP = pathlib.Path(__file__).resolve().parents[3]
