# SPDX-License-Identifier: LGPL-3.0-or-later
"""A small tree that is changed at random, one system call after another.

Each change is recorded in a History:

    ("name", directory, name)   the Key that the name leads to
    ("attributes", key)         of an object; None when it is gone
    ("data", key)               a file's content, or a symlink's target
    ("parent", key)             of a directory
"""

import os
import random
import time

from beside.directories import exchange
from beside.hands import Local
from beside.history import History
from beside.truth import attributes, key_of

NAMES = [b"n%d" % number for number in range(12)]
MOST_SIZE = 4096        # one page, so that no content is written in parts
MOST_DIRECTORIES = 8
HOT_SECONDS = 0.4
RECORD = 64


class World:
    """The model of the tree below `here` and `outside`, and its changes.

    What is changed changes from time to time: most of it is left alone for
    longer than a stale answer may live.
    """

    def __init__(self, here, outside, seed, hands=()):
        """hands: who makes changes besides this process; see hands.py."""
        self._hands, self._change = [Local(), *hands], not hands
        self.history, self.rng = History(), random.Random(seed)
        self.kinds, self.links = {}, {}
        self._names, self._tops, self._count = {}, {}, 0
        self.hot = []
        for path in (here, outside):
            key = key_of(path)
            self._tops[key] = os.fsencode(path)
            self._names[key], self.kinds[key] = {}, "directory"
            self.history.begin(("attributes", key),
                               self._stat(path))
        self.root = key_of(here)
        self._choose()
        hands, self._hands = self._hands, self._hands[:1]
        for _ in range(60):
            self.change()
        self._hands = hands

    def directories(self):
        return list(self._names)

    def _stat(self, path):
        return attributes(os.lstat(path), change=self._change)

    def path(self, key):
        """An object's path, by any of its names."""
        if key in self._tops:
            return self._tops[key]
        directory, name = next(iter(self.links[key]))
        return os.path.join(self.path(directory), name)

    def at(self, directory, name):
        return os.path.join(self.path(directory), name)

    def way(self, key):
        """The names that lead to an object, from a top; (top, names)."""
        names = []
        while key not in self._tops:
            key, name = next(iter(self.links[key]))
            names.insert(0, name)
        return key, names

    def _parents(self, key):
        """The directories above a directory, itself among them."""
        while key not in self._tops:
            yield key
            key = next(iter(self.links[key]))[0]
        yield key

    # --- What is known of the objects behind a change -----------------------

    def _values(self, objects, names=(), data=()):
        values = {}
        for key in objects:
            there = key in self._tops or self.links.get(key)
            values["attributes", key] = self._stat(
                self.path(key)) if there else None
            if self.kinds[key] == "directory" and key not in self._tops:
                values["parent", key] = \
                    next(iter(self.links[key]))[0] if there else None
        for directory, name in names:
            values["name", directory, name] = \
                self._names.get(directory, {}).get(name)
        for key, content in data:
            values["data", key] = content
        return values

    def _link(self, directory, name, key):
        self._names[directory][name] = key
        self.links.setdefault(key, set()).add((directory, name))

    def _unlink(self, directory, name):
        key = self._names[directory].pop(name)
        self.links[key].remove((directory, name))

    # --- Changes ------------------------------------------------------------

    def _choose(self):
        """What is changed in the next while."""
        self._until = time.monotonic() + HOT_SECONDS
        directories = self.directories()
        self._places = self.rng.sample(directories, min(2, len(directories)))
        names = [(directory, name) for directory in directories
                 for name in self._names[directory]]
        self._things = self.rng.sample(names, min(4, len(names)))
        # Where something has just changed it is asked most.
        self.hot = (self._places + [
            self._names[directory][name]
            for directory, name in self._things] + self.hot)[:30]

    def _place(self):
        return self.rng.choice(self._places)

    def _thing(self, *kinds):
        """(directory, name, Key) of something that is there."""
        things = [(directory, name) for directory, name in self._things
                  if name in self._names.get(directory, ())]
        things += [(directory, name) for directory in self._places
                   for name in self._names[directory]]
        things = [(directory, name, self._names[directory][name])
                  for directory, name in things]
        things = [thing for thing in things
                  if not kinds or self.kinds[thing[2]] in kinds]
        return self.rng.choice(things) if things else None

    def change(self):
        """Make one change, if what is chosen can be done."""
        self._places = [key for key in self._places if key in self._names]
        if time.monotonic() > self._until or not self._places:
            self._choose()
        self.rng.choice(CHANGES)(self)

    def _free(self, directory):
        free = [name for name in NAMES if name not in self._names[directory]]
        return self.rng.choice(free) if free else None

    def _record(self, change, values):
        """change(hand): asks a hand, by chance, for the change."""
        hand = self.rng.choice(self._hands)
        self.history.record(lambda: change(hand.bound(self)), values,
                            hand.steps)

    def _make(self, kind, make, content=None):
        directory = self._place()
        name = self._free(directory)
        if name is None:
            return
        path = self.at(directory, name)

        def values():
            key = key_of(path)
            self.kinds[key] = kind
            if kind == "directory":
                self._names[key] = {}
            self._link(directory, name, key)
            return self._values(
                [key, directory], [(directory, name)],
                [(key, content)] if content is not None else ())

        self._record(lambda hand: make(hand, directory, name), values)

    def create(self):
        self._make("file", lambda hand, *where: hand.create(*where), b"")

    def mkdir(self):
        if len(self._names) < MOST_DIRECTORIES:
            self._make("directory", lambda hand, *where: hand.mkdir(*where))

    def symlink(self):
        self._count += 1
        target = b"target-%d" % self._count
        self._make("symlink", lambda hand, *where: hand.symlink(
            *where, target), target)

    def rewrite(self):
        """Truncate, then write: two changes."""
        self.truncate()
        self.append()

    def append(self):
        thing = self._thing("file")
        if thing is None:
            return
        key = thing[2]
        old = self.history.story(("data", key))[-1].value
        if len(old) + RECORD > MOST_SIZE:
            return
        self._count += 1
        record = b"%*d\n" % (RECORD - 1, self._count)
        self._record(lambda hand: hand.write(key, len(old), record),
                     lambda: self._values([key], data=[(key, old + record)]))

    def truncate(self):
        thing = self._thing("file")
        if thing is None:
            return
        key = thing[2]
        old = self.history.story(("data", key))[-1].value
        size = self.rng.choice((0, 0, len(old) // 2, len(old) + 10))
        if size > MOST_SIZE:
            return
        new = old[:size].ljust(size, b"\0")
        self._record(lambda hand: hand.truncate(key, size),
                     lambda: self._values([key], data=[(key, new)]))

    def chmod(self):
        mode = self.rng.choice((0o600, 0o640, 0o755, 0o711, 0o4755))
        thing = self._thing("file", "directory")
        if thing:
            self._record(lambda hand: hand.chmod(thing[2], mode),
                         lambda: self._values([thing[2]]))

    def utime(self):
        stamp = self.rng.randrange(10**9, 2 * 10**18)
        thing = self._thing()
        if thing:
            self._record(lambda hand: hand.utime(thing[2], stamp),
                         lambda: self._values([thing[2]]))

    def link(self):
        thing, directory = self._thing("file", "symlink"), self._place()
        name = self._free(directory)
        if thing is None or name is None:
            return

        def values():
            self._link(directory, name, thing[2])
            return self._values([thing[2], directory], [(directory, name)])

        self._record(lambda hand: hand.link(thing[2], directory, name),
                     values)

    def remove(self):
        thing = self._thing()
        if thing is None:
            return
        directory, name, key = thing
        if self._names.get(key):
            return
        is_directory = key in self._names

        def values():
            self._unlink(directory, name)
            self._names.pop(key, None)
            return self._values([key, directory], [(directory, name)])

        self._record(lambda hand: hand.remove(directory, name, is_directory),
                     values)

    def rename(self):
        thing, to = self._thing(), self._place()
        if thing is None:
            return
        directory, name, key = thing
        new = self.rng.choice(NAMES)
        over = self._names[to].get(new)
        if key in self._names and (key in self._parents(to)
                                   or over is not None):
            return
        if over == key or over in self._names:
            return

        def values():
            if over is not None:
                self._unlink(to, new)
            self._unlink(directory, name)
            self._link(to, new, key)
            return self._values(
                {key, directory, to} | ({over} if over else set()),
                [(directory, name), (to, new)])

        self._record(lambda hand: hand.rename(directory, name, to, new, key),
                     values)

    def exchange(self):
        """No request does this."""
        one, other = self._thing(), self._thing()
        if one is None or other is None or one[2] == other[2]:
            return
        for mine, yours in ((one, other), (other, one)):
            if mine[2] in self._names and \
                    mine[2] in self._parents(yours[0]):
                return
        paths = [self.at(*thing[:2]) for thing in (one, other)]

        def values():
            for thing in (one, other):
                self._unlink(*thing[:2])
            self._link(*one[:2], other[2])
            self._link(*other[:2], one[2])
            return self._values(
                {one[0], other[0], one[2], other[2]},
                [one[:2], other[:2]])

        self.history.record(lambda: exchange(*paths), values)

    def run(self, seconds):
        """Change for so long, now in a burst and now at leisure."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for _ in range(self.rng.choice((1, 1, 1, 3, 20))):
                self.change()
            time.sleep(self.rng.random() * 0.02)


CHANGES = [World.create] * 5 + [World.append] * 8 + [World.remove] * 4 + \
    [World.rename] * 5 + [World.chmod] * 3 + [World.utime] * 2 + \
    [World.mkdir, World.mkdir, World.symlink, World.link, World.link,
     World.truncate, World.truncate, World.rewrite, World.exchange]
