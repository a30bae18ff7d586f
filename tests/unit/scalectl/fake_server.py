# SPDX-License-Identifier: LGPL-3.0-or-later
"""A control socket that says what a test wants, and an answer to say."""

import copy
import json
import socket
import threading

OUTCOMES = ("hit", "negative", "miss", "expired", "invalid", "uncached",
            "shared")
SOURCES = ("own_change", "upcall", "notify", "stale", "unexport",
           "foreign_seen")


def outcomes(**counts):
    """The outcomes of an operation, those that are not named 0."""
    return {**dict.fromkeys(OUTCOMES, 0), **counts}


def counted(factor=1):
    """What one export, or all, have counted."""
    return {
        "requests": {
            "getattrs": outcomes(hit=70 * factor, miss=20 * factor,
                                 expired=10 * factor),
            "lookup": outcomes(negative=30 * factor, shared=10 * factor),
            "write": outcomes(uncached=1000 * factor)},
        "calls": {
            "getattrs": {"count": 30 * factor, "errors": 2 * factor,
                         "sum_us": 15000.0 * factor, "mean_us": 500.0,
                         "p50_us": 450.0, "p99_us": 2500.0,
                         "max_us": 123456.0}},
        "invalidations": {**dict.fromkeys(SOURCES, 0),
                          "own_change": 12345 * factor}}


def stats(factor=1, version="0.1.0", pid=4711):
    """An answer to the command stats."""
    return {
        "scale": 1, "ok": True, "command": "stats",
        "server": {"version": version, "pid": pid, "started": 1700000000},
        "cache": {
            "limits": {"maxFilesToCache": 100000, "maxStatCache": 0,
                       "bytes": 256 << 20},
            "usage": {"files": 25000, "stats": 0, "pinned": 3,
                      "names": 1234567, "bytes": 64 << 20, "used": 32 << 20,
                      "handles": 17, "fds": 11},
            "counters": {"promote": 8 * factor, "demote": 7 * factor,
                         "evict": 6 * factor, "evict_file": 5 * factor,
                         "put": 99}},
        "watcher": {
            "file_systems": [
                {"path": "/disk", "watched": True},
                {"path": "/other", "watched": False, "why_not": "a reason"}],
            "counters": {"events": 300 * factor, "own": 200 * factor,
                         "overflows": 1}},
        "total": counted(factor),
        "exports": [{"id": 1, "path": "/one", "backend": "VFS",
                     **counted(factor)},
                    {"id": 9, "path": "/nine", "backend": "CEPH",
                     **copy.deepcopy(counted(0))}],
        "meanings": {"counters": {"put": "stored"}}}


class FakeServer:
    """Answers each connection's first line by say(number), the connections
    counted from 0: with a dictionary, or bytes as they are."""

    def __init__(self, path, say):
        self.path = path
        self.requests = []
        self._say = say
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                line = connection.makefile("rb").readline()
                answer = self._say(len(self.requests))
                self.requests.append(line)
                if isinstance(answer, dict):
                    answer = json.dumps(answer).encode() + b"\n"
                connection.sendall(answer)

    def stop(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
