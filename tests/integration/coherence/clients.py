# SPDX-License-Identifier: LGPL-3.0-or-later
"""Clients that speak the protocol themselves and know handles.

Each client has
    name, version   for people
    able            the steps it can do
    share           how often it is chosen, beside the others
    any_remove      whether it has one request to remove what is there
    truncates       whether its create may truncate what is there
    by_path         whether it finds objects by paths, not by handles
    opened          {number of an object: its open states}
    knows(node)     whether it can name an object that is gone
    forget(node)    drops an object that is gone
    prepare(step, model)  a function that carries the step out, for a Reply;
                    the model must be as it is before the step
"""

import functools

from harness.answers import IO, NO_REPLY, OK, Reply
from harness.rawnfs import NoReply
from coherence.model import ROOT

STEPS = frozenset((
    "getattr", "access", "lookup", "lookup_parent", "readlink", "read",
    "readdir", "ghost", "create", "write", "truncate", "setattr", "mkdir",
    "symlink", "mkfifo", "remove", "rename", "link"))
OPENS = frozenset(("open", "close", "read_open", "write_open"))

READS = frozenset(("getattr", "access", "lookup", "lookup_parent", "readlink",
                   "read", "readdir"))
# Ganesha 4.3 does not answer version 3 about some objects that are just being
# removed; version 4 gets SERVERFAULT.
MOST_SILENCES = 3
# How often a LOOKUP on the way may meet an error that a test injected.
TRIES = 10


class Lost(AssertionError):
    """A request made on the way to a step was answered wrongly."""


class Handles(dict):
    """{number of an object: handle} of one export and one version."""

    def learn(self, number, handle):
        """One object has one handle."""
        known = self.setdefault(number, handle)
        if known != handle:
            raise Lost(f"object {number} has handle {handle.hex()} and had "
                       f"{known.hex()}")


class HandleClient:
    """Client3 or Client4; `handles` may be shared with like clients."""

    by_path = False

    def __init__(self, nfs, pseudo, handles, share=10):
        self.nfs, self.version = nfs, nfs.version
        self.name = f"raw v{nfs.version} {pseudo}"
        self.handles, self.share = handles, share
        self.any_remove = self.truncates = self.version != "3"
        self.able = STEPS if self.version == "3" else STEPS | OPENS
        self.opened, self.silences = {}, 0
        handles.learn(ROOT, nfs.mount(pseudo))

    def knows(self, number):
        return number in self.handles

    def forget(self, number):
        """An object that is gone will not be asked for again."""
        self.handles.pop(number, None)

    def handle(self, number, model):
        """An object's handle, by LOOKUPs from the root if it is new."""
        if number not in self.handles:
            directory, name = min(model.nodes[number].names)
            for _ in range(TRIES):
                reply = self.nfs.lookup(self.handle(directory, model), name)
                if reply.status != IO:
                    break
            if reply.status != OK:
                raise Lost(f"{self.name}: LOOKUP of {model.path(number)!r} "
                           f"was answered {reply.status}")
            self.handles.learn(number, reply.handle)
        return self.handles[number]

    def prepare(self, step, model):
        handles = {key: self.handle(step[key], model)
                   for key in ("node", "directory", "to_directory")
                   if key in step}
        function = getattr(self, "_" + step["op"], None)
        if function:
            call = functools.partial(function, step, **handles)
        else:
            call = functools.partial(
                getattr(self.nfs, step["op"]),
                *(handles[key] for key in ("node", "directory")
                  if key in handles),
                *(step[key] for key in ("name", "target") if key in step))
        return functools.partial(self._answered, call) \
            if step["op"] in READS else call

    def _answered(self, call):
        """The Reply; silence is one, but not again and again."""
        try:
            return call()
        except NoReply:
            self.silences += 1
            if self.silences > MOST_SILENCES:
                raise
            self.nfs.reconnect()
            return Reply(NO_REPLY)

    def _readdir(self, step, directory):
        return self.nfs.readdir(directory, step["plus"], step["most"])

    def _write(self, step, node):
        return self.nfs.write(node, step["offset"], step["data"])

    def _truncate(self, step, node):
        return self.nfs.setattr(node, size=step["size"])

    def _setattr(self, step, node):
        return self.nfs.setattr(node, **step["changes"])

    def _create(self, step, directory):
        return self.nfs.create(directory, step["name"], step["how"],
                               truncate=step["truncate"],
                               verifier=step["verifier"])

    def _remove(self, step, directory):
        return self.nfs.remove(directory, step["name"], step["is_directory"])

    def _rename(self, step, directory, to_directory):
        return self.nfs.rename(directory, step["name"], to_directory,
                               step["to_name"])

    def _link(self, step, node, directory):
        return self.nfs.link(node, directory, step["name"])

    def _open(self, step, directory):
        return self.nfs.open_file(directory, step["name"])

    def keep_open(self, number, state):
        """After an open was answered: the state for later steps."""
        self.opened.setdefault(number, []).append(state)

    def _close(self, step, node):
        del node
        states = self.opened[step["node"]]
        state = states.pop()
        if not states:
            del self.opened[step["node"]]
        return self.nfs.close_file(state)

    def _state(self, step):
        return self.opened[step["node"]][-1].stateid

    def _read_open(self, step, node):
        return self.nfs.read(node, stateid=self._state(step))

    def _write_open(self, step, node):
        return self.nfs.write(node, step["offset"], step["data"],
                              self._state(step))

    def stop(self):
        self.nfs.close()
