# SPDX-License-Identifier: LGPL-3.0-or-later
"""What the tests run servers and clients with."""
