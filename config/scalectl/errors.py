# SPDX-License-Identifier: LGPL-3.0-or-later
"""The errors scalectl reports, each with its exit code and a remedy."""

EXIT_OK = 0
EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_CONFIG = 3
EXIT_RESTART = 4
EXIT_SERVER = 5


class ScalectlError(Exception):
    """Something failed. str() is the sentence for the administrator.

    file and line say where, remedy what to do; each may be None.
    """

    exit_code = EXIT_FAILURE

    def __init__(self, message, remedy=None, file=None, line=None):
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.file = file
        self.line = line

    def __str__(self):
        place = ""
        if self.file is not None:
            place = self.file
            if self.line is not None:
                place += f":{self.line}"
            place += ": "
        text = place + self.message
        if self.remedy:
            text += f"; {self.remedy}"
        return text

    def as_dict(self):
        """The error for --json."""
        return {"message": self.message, "remedy": self.remedy,
                "file": self.file, "line": self.line}


class UsageError(ScalectlError):
    """A name or value on the command line is wrong."""

    exit_code = EXIT_USAGE


class ConfigError(ScalectlError):
    """The server's configuration cannot be parsed."""

    exit_code = EXIT_CONFIG


class RestartError(ScalectlError):
    """The configuration was changed, but the server did not restart."""

    exit_code = EXIT_RESTART


class ServerError(ScalectlError):
    """The running server does not answer, or not as expected."""

    exit_code = EXIT_SERVER
