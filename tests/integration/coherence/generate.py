# SPDX-License-Identifier: LGPL-3.0-or-later
"""Random steps, few names in few directories, so that they meet."""

import itertools

from coherence.model import ROOT
from harness.answers import (DIRECTORY, EXCLUSIVE, GUARDED, LINK, REGULAR,
                             UNCHECKED)

NAMES = [bytes([letter]) for letter in b"abcdefghijk"] + [
    b"long-" + b"n" * 200, b"quite another name.o", "\xfc".encode()]
# A target that is nowhere: for Ganesha's CREATE follows a link on the server.
TARGETS = (b"none/a", b"../none/b", b"none/" + b"t" * 200, b"/none/a")
MOST_DATA = 9000
MOST_OPENS = 6

# How often each step is chosen.
READS = {"getattr": 14, "access": 3, "lookup": 18, "lookup_parent": 3,
         "readlink": 4, "read": 6, "readdir": 6, "ghost": 3}
CHANGES = {"create": 11, "write": 7, "truncate": 3, "setattr": 6, "mkdir": 4,
           "symlink": 3, "mkfifo": 1, "remove": 11, "rename": 10, "link": 4,
           "open": 3, "close": 2, "read_open": 2, "write_open": 2}
MAKING = {"create", "mkdir", "symlink", "mkfifo"}
GROWING = {*MAKING, "link"}


class Nothing(Exception):
    """No step of that kind can be made now."""


class Generator:
    """Makes steps for `clients` from a Model and a random.Random.

    wrong_kinds: also RMDIR of files and REMOVE of directories, which Ganesha
    refuses only if its look at the object did not fail.
    """

    def __init__(self, clients, most_nodes=70, reads=READS, changes=CHANGES,
                 wrong_kinds=True):
        self.clients = clients
        self.wrong_kinds = wrong_kinds
        self._numbers = itertools.count(1)
        self.most_nodes = most_nodes
        self.reads, self.changes = reads, changes

    def step(self, model, rng, weights=None, focus=None, clients=None):
        """A step; with `focus`, on those (directories, names) only."""
        weights = weights or {**self.reads, **self.changes}
        growth = len(model.nodes) > self.most_nodes and "remove" in weights
        while True:
            op = rng.choices(list(weights), list(weights.values()))[0]
            if growth and op in GROWING and rng.random() < 0.8:
                op = "remove"
            able = [number for number, client in enumerate(self.clients)
                    if op in client.able
                    and (clients is None or number in clients)]
            if not able:
                continue
            share = [self.clients[number].share for number in able]
            number = rng.choices(able, share)[0]
            choice = Choice(model, rng, self.clients[number], focus,
                            self.wrong_kinds)
            try:
                step = getattr(choice, op)()
            except Nothing:
                continue
            if op in MAKING:
                step["new"] = next(self._numbers)
            return {"op": op, "client": number, **step}


class Choice:
    """The arguments of one step."""

    def __init__(self, model, rng, client, focus, wrong_kinds):
        self.model, self.rng, self.client = model, rng, client
        self.focus, self.wrong_kinds = focus, wrong_kinds

    def _directory(self):
        if self.focus:
            return self.rng.choice(self.focus[0])
        return self.rng.choice(self.model.live(DIRECTORY)).number

    def _name(self, directory, there):
        """A name of the directory, mostly one that is `there`, or any."""
        if self.focus:
            return self.rng.choice(self.focus[1])
        children = self.model.nodes[directory].children
        if there and children and self.rng.random() < 0.8:
            return self.rng.choice(list(children))
        return self.rng.choice(NAMES)

    def _node(self, *kinds):
        if self.focus:
            children = [self.model.nodes[child] for directory, child in (
                (directory, self.model.nodes[directory].children.get(name))
                for directory in self.focus[0] for name in self.focus[1])
                if child is not None]
        else:
            children = self.model.live()
        found = [node.number for node in children
                 if not kinds or node.type in kinds]
        if not found:
            raise Nothing
        return self.rng.choice(found)

    def getattr(self):
        return {"node": self._node()}

    access = getattr

    def lookup(self):
        directory = self._directory()
        return {"directory": directory, "name": self._name(
            directory, self.rng.random() < 0.6)}

    def lookup_parent(self):
        directory = self._directory()
        if directory == ROOT:
            raise Nothing
        return {"directory": directory}

    def readlink(self):
        return {"node": self._node(LINK)}

    def read(self):
        return {"node": self._node(REGULAR)}

    def readdir(self):
        return {"directory": self._directory(),
                "plus": self.rng.random() < 0.6,
                "most": self.rng.choice((1024, 8192))}

    def ghost(self):
        """GETATTR of what is gone."""
        ghosts = [node.number for node in self.model.nodes.values()
                  if node.gone and self.client.knows(node.number)]
        if not ghosts:
            raise Nothing
        return {"op": "getattr", "node": self.rng.choice(ghosts)}

    def _bytes(self):
        return bytes([self.rng.randrange(97, 123)]) * self.rng.choice(
            (1, 10, 100, 1000, 4096))

    def write(self):
        return {"node": self._node(REGULAR), "offset": self.rng.choice(
            (0, 0, 1, 100, 4000, MOST_DATA - 4096)), "data": self._bytes()}

    def truncate(self):
        return {"node": self._node(REGULAR), "size": self.rng.choice(
            (0, 0, 1, 50, 5000, MOST_DATA))}

    def setattr(self):
        node = self._node(REGULAR, DIRECTORY)
        changes = self.rng.choice((
            {"mode": self.rng.choice((0o600, 0o640, 0o755, 0o777))},
            # Not to come: then MDCACHE counts changes itself.
            {"mtime": self.rng.randrange(10**9, 10**18)},
            {"uid": self.rng.choice((0, 7, 1000))},
            {"gid": self.rng.choice((0, 8, 100000))}))
        return {"node": node, "changes": changes}

    def create(self):
        directory = self._directory()
        how = self.rng.choices((UNCHECKED, GUARDED, EXCLUSIVE), (4, 2, 1))[0]
        # MDCACHE keeps the old attributes of a file that version 3's CREATE
        # has truncated (test_names.py).
        truncate = how == UNCHECKED and self.client.truncates \
            and self.rng.random() < 0.5
        # The verifier becomes the file's times: not to come, either.
        return {"directory": directory, "name": self._name(
            directory, self.rng.random() < 0.3), "how": how,
            "truncate": truncate,
            "verifier": bytes(
                byte & 0x1f for byte in self.rng.randbytes(8)),
            "any": self.client.any_remove}

    def mkdir(self):
        directory = self._directory()
        return {"directory": directory, "name": self._name(directory, False)}

    mkfifo = mkdir

    def symlink(self):
        return {**self.mkdir(), "target": self.rng.choice(TARGETS)}

    def remove(self):
        directory = self._directory()
        name = self._name(directory, True)
        child = self.model.nodes[directory].children.get(name)
        is_directory = child is not None and \
            self.model.nodes[child].type == DIRECTORY
        if self.wrong_kinds and self.rng.random() < 0.05:
            is_directory = not is_directory
        return {"directory": directory, "name": name,
                "is_directory": is_directory,
                "any": self.client.any_remove}

    def rename(self):
        directory = self._directory()
        to = directory if self.rng.random() < 0.4 else self._directory()
        return {"directory": directory, "name": self._name(directory, True),
                "to_directory": to,
                "to_name": self._name(to, self.rng.random() < 0.4)}

    def link(self):
        return {**self.mkdir(), "node": self._node("file", "symlink",
                                                   "fifo")}

    def open(self):
        if len(self.client.opened) >= MOST_OPENS:
            raise Nothing
        directory = self._directory()
        return {"directory": directory, "name": self._name(directory, True)}

    def _opened(self):
        if not self.client.opened:
            raise Nothing
        return self.rng.choice(sorted(self.client.opened))

    def close(self):
        return {"node": self._opened()}

    read_open = close

    def write_open(self):
        node = self._opened()
        return {"node": node, "offset": self.rng.choice((0, 10, 2000)),
                "data": self._bytes()}
