# SPDX-License-Identifier: LGPL-3.0-or-later
"""A client that compares all that it can see with the truth."""

import os
import time

from harness.answers import (BADHANDLE, NO_REPLY, NOENT, OK, SERVERFAULT,
                             STALE, Reply)
from harness.rawnfs import NoReply
from harness.wait import wait_for

# SERVERFAULT is Ganesha's answer to version 4 where version 3 gets none.
GONE = frozenset((STALE, BADHANDLE, NOENT, NO_REPLY, SERVERFAULT))
SILENCE = 3


class Looker:
    """Looks at a directory by names, by listings and by handles.

    Every name and every handle that was ever seen is asked for again: what is
    gone must be gone by each way.
    """

    def __init__(self, client, root):
        """client: Client3 or Client4; root: the directory's handle."""
        self._client, self._root = client, root
        self.version = client.version
        self._handles = {}
        self._names = {}

    def expect_none(self, directory, name):
        """A name that will be asked for, in the directory with a Key."""
        self._names.setdefault(directory, set()).add(name)

    def look(self, tree, elsewhere, rng):
        """What is not as it is in `tree`, in words.

        elsewhere: a Tree of what may be reached by handles only; rng: the
        order in which is looked.
        """
        self._handles.setdefault(tree.root, self._root)
        wrong, waiting, found = [], [tree.nodes[tree.root]], {tree.root}
        while waiting:
            node = waiting.pop(rng.randrange(len(waiting)))
            ways = [self._by_handle]
            if node.names is not None:
                ways += [self._by_name, self._by_listing]
                rng.shuffle(ways)
            for way in ways:
                wrong += [f"v{self.version} {node.path}: {what}"
                          for what in way(node, tree)]
            new = {key for key in (node.names or {}).values()
                   if key in self._handles} - found
            found |= new
            waiting += [tree.nodes[key] for key in new]
        for key in set(self._handles) - set(tree.nodes):
            wrong += [f"v{self.version} {what}"
                      for what in self._gone(key, elsewhere)]
        return wrong

    def _ask(self, request, *arguments, **more):
        try:
            return getattr(self._client, request)(*arguments, **more)
        except NoReply:
            self._client.reconnect()
            return Reply(NO_REPLY)

    def _by_handle(self, node, tree):
        handle = self._handles[node.key]
        reply = self._ask("getattr", handle)
        if reply.status != OK:
            yield f"GETATTR was answered {reply.status}"
            return
        yield from reply.attributes.differences(node.attributes)
        if node.attributes.type == "directory":
            if node.parent is not None:
                yield from self._parent(node, tree, handle)
        elif node.data is not None:
            reply = self._ask("readlink" if node.attributes.type == "symlink"
                              else "read", handle)
            if reply.status != OK:
                yield f"its content: {reply.status}"
            elif reply.data != node.data:
                yield (f"its content is {reply.data[-60:]!r} "
                       f"instead of {node.data[-60:]!r}")

    def _parent(self, node, tree, handle):
        reply = self._ask("lookup_parent", handle)
        if reply.status != OK:
            yield f'".." was answered {reply.status}'
        elif reply.attributes.fileid != \
                tree.nodes[node.parent].attributes.fileid:
            yield f'".." is {reply.attributes.fileid}, not its parent'

    def _same(self, name, key, handle):
        """Is it the handle of that object?"""
        if key.handle not in handle:
            yield f"{name!r} is another object"
        elif self._handles.setdefault(key, handle) != handle:
            yield f"{name!r} has another handle than before"

    def _by_name(self, node, tree):
        names = self._names.setdefault(node.key, set())
        names.update(node.names)
        for name in names:
            reply = self._ask("lookup", self._handles[node.key], name)
            if name not in node.names:
                if reply.status != NOENT:
                    yield f"LOOKUP of {name!r}, which is not there: " \
                        f"{reply.status}"
            elif reply.status != OK:
                yield f"LOOKUP of {name!r}: {reply.status}"
            else:
                key = node.names[name]
                yield from self._same(name, key, reply.handle)
                if reply.attributes is None:
                    yield f"LOOKUP of {name!r}: no attributes"
                    continue
                for what in reply.attributes.differences(
                        tree.nodes[key].attributes):
                    yield f"LOOKUP of {name!r}: {what}"

    def _by_listing(self, node, tree):
        reply = self._ask("readdir", self._handles[node.key], plus=True)
        if reply.status != OK:
            yield f"READDIR was answered {reply.status}"
            return
        listed = set(reply.names) - {b".", b".."}
        if listed != set(node.names):
            yield (f"listed besides: {sorted(listed - set(node.names))[:5]}, "
                   f"not listed: {sorted(set(node.names) - listed)[:5]}")
        for name in listed & set(node.names):
            key = node.names[name]
            fileid, attributes, handle = reply.names[name]
            if fileid != tree.nodes[key].attributes.fileid:
                yield f"listed {name!r} has fileid {fileid}"
            if handle is not None:
                yield from self._same(name, key, handle)
            if attributes is not None:
                for what in attributes.differences(
                        tree.nodes[key].attributes):
                    yield f"listed {name!r}: {what}"

    def _gone(self, key, elsewhere):
        handle = self._handles[key]
        reply = self._ask("getattr", handle)
        if elsewhere is not None and key in elsewhere.nodes:
            node = elsewhere.nodes[key]
            if reply.status != OK:
                yield f"moved out, {node.path}: {reply.status}"
            else:
                for what in reply.attributes.differences(node.attributes):
                    yield f"moved out, {node.path}: {what}"
        elif reply.status == OK and reply.attributes.nlink:
            yield f"what is gone still has {reply.attributes}"
        elif reply.status == OK and reply.attributes.type == "directory":
            names = self._ask("readdir", handle).names or {}
            if set(names) - {b".", b".."}:
                yield f"a directory that is gone lists {sorted(names)[:5]}"
        elif reply.status != OK and reply.status not in GONE:
            yield f"what is gone was answered {reply.status}"


def find(client, directory, path, within):
    """The handle of a path, as bytes, that comes to be within so many s."""
    for name in path.split(b"/"):
        wait_for(lambda: client.lookup(directory, name).status == OK, within,
                 f"v{client.version} to see {os.fsdecode(path)}", step=0.005)
        directory = client.lookup(directory, name).handle
    return directory


def agree(lookers, truth, within, rng):
    """Wait until all see what truth() gives; the seconds that it took.

    truth() gives (Tree, Tree elsewhere).  What is found by a look that began
    later than `within` seconds must be right.
    """
    tree, elsewhere = truth()
    begin = time.monotonic()
    for looker in rng.sample(lookers, len(lookers)):
        while True:
            started = time.monotonic()
            wrong = looker.look(tree, elsewhere, rng)
            if not wrong:
                break
            assert started - begin < within, "\n".join(
                [f"after {started - begin:.2f} s:", *wrong[:12]])
            time.sleep(0.005)
    return time.monotonic() - begin
