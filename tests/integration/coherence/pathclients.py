# SPDX-License-Identifier: LGPL-3.0-or-later
"""Clients that find objects by paths: the kernel's, and the server's side.

Their attributes are what clients.py says of a client.
"""

import errno
import json

from guest import paths
from harness.answers import (BADHANDLE, BADTYPE, NOTEMPTY, OK, SERVERFAULT,
                             STALE, SYMLINK, Attributes, Reply)

# Of errors whose number is not NFS's.
STATUSES = {errno.ENOTEMPTY: NOTEMPTY, errno.ESTALE: STALE,
            errno.ELOOP: SYMLINK, errno.EBADF: BADHANDLE,
            # The kernel's EBADTYPE, which has no name outside it.
            527: BADTYPE}
STEPS = frozenset((
    "getattr", "lookup", "readlink", "read", "readdir", "create", "write",
    "truncate", "setattr", "mkdir", "symlink", "mkfifo", "remove", "rename",
    "link"))
OBJECTS = ("node", "directory", "to_directory")


def by_paths(step, model):
    """The step with paths for numbers, fit for JSON."""
    found = {}
    for key, value in step.items():
        if key in OBJECTS:
            value = model.path(value)
        if isinstance(value, bytes):
            value = value.decode("latin-1")
        found[key] = value
    return found


def to_reply(answer):
    """The Reply for an answer of paths.perform()."""
    number = answer["errno"]
    if number:
        return Reply(STATUSES.get(number, number))
    reply = Reply(OK)
    if "attributes" in answer:
        reply.attributes = Attributes(*answer["attributes"])
    if "data" in answer:
        reply.data = answer["data"].encode("latin-1")
    if "names" in answer:
        reply.names = {name.encode("latin-1"): (fileid, None, None)
                       for name, fileid in answer["names"].items()}
    return reply


class PathClient:
    """What all have in common; subclasses have perform(step by paths)."""

    by_path = True
    any_remove = False
    truncates = True
    able = STEPS

    def __init__(self, name, share):
        self.name, self.share = name, share
        self.opened = {}

    def knows(self, number):
        del number
        return False

    def forget(self, number):
        pass

    def prepare(self, step, model):
        step = by_paths(step, model)
        return lambda: to_reply(self.perform(step))

    def perform(self, step):
        raise NotImplementedError

    def stop(self):
        pass


class Outside(PathClient):
    """Changes the backend's directory beside the server.

    Untold it moves no directory: MDCACHE knows its parent for as long as it
    likes.
    """

    able = STEPS - {"rename"}

    def __init__(self, root, share=5):
        super().__init__("outside", share)
        self._root = root

    def perform(self, step):
        return paths.perform(self._root, step, client=False)


class KernelMount(PathClient):
    """A mount of a kernel client, without the client's own caches."""

    options = "noac,lookupcache=none,actimeo=0,nosharecache"

    def __init__(self, client, version, pseudo, share=1, deadline=3600):
        super().__init__(f"kernel v{version} {pseudo}", share)
        path = client.mount(version, pseudo, self.options)
        listener = client.ns.listen(client.gateway)
        listener.settimeout(20)
        self._future = client.start(
            "paths:serve", deadline=deadline, root=path, host=client.gateway,
            port=listener.getsockname()[1])
        self._connection, _ = listener.accept()
        listener.close()
        self._connection.settimeout(60)
        self._stream = self._connection.makefile("rwb")

    def perform(self, step):
        answer = self._ask(step)
        if answer["errno"] == errno.ESTALE:
            # It had something of that name once, and knows better now.
            self._look_up_names(step)
            answer = self._ask(step)
        return answer

    def _look_up_names(self, step):
        """Those of a rename between directories, one of which was moved.

        By another client, which this one sees when it looks the name up; yet
        while it renames it cannot move its own entry, and so says ESTALE each
        time (Linux, fs/dcache.c: __d_unalias).
        """
        if step["op"] == "rename":
            for end in ("", "to_"):
                self._ask({"op": "lookup", "client": step["client"],
                           "directory": step[end + "directory"],
                           "name": step[end + "name"]})

    def _ask(self, step):
        self._stream.write(json.dumps(step).encode() + b"\n")
        self._stream.flush()
        line = self._stream.readline()
        return json.loads(line) if line else {"errno": SERVERFAULT}

    def stop(self):
        self._stream.close()
        self._connection.close()
