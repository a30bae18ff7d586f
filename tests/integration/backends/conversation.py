# SPDX-License-Identifier: LGPL-3.0-or-later
"""Talking with a process that answers a line of JSON with another."""

import json
import os
import threading


class Conversation:
    """ask(operation, path, argument...); RuntimeError with its error."""

    def __init__(self, process):
        self._process = process
        self._lock = threading.Lock()

    def ask(self, operation, path, *arguments):
        """The answer's "value", None without one."""
        with self._lock:
            self._process.stdin.write(json.dumps(
                [operation, os.fsdecode(path), *arguments]).encode() + b"\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        reply = json.loads(line or '{"error": "the process ended"}')
        if "error" in reply:
            raise RuntimeError(f"{operation} {path!r}: {reply['error']}")
        return reply.get("value")

    def stop(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(10)
