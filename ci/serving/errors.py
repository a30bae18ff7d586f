# SPDX-License-Identifier: LGPL-3.0-or-later
"""The error that ends ci/serve with a message instead of a traceback."""


class ServeError(Exception):
    """Says what is wrong, with what, and what to do."""
