# SPDX-License-Identifier: LGPL-3.0-or-later
"""The requests whose backend calls are counted, by the export they go to.

A row is a name and a function that sends its requests and returns how many.
Every set of handles that it uses was warmed by warm(), and then pushed out of
MDCACHE.
"""

import functools

from nfsbench.load import names

FEW, CHANGED, LARGE = 100, 1000, 100000
# Names looked up in the large directory.
PICKED = 2000
REPEATS = 10
FILES = names("f", FEW, first=1, digits=4)
LINKS = names("l", FEW, first=1, digits=4)
MISSING = names("missing", FEW)
BELOW_MISSING = [f"missing{i}/sub/file" for i in range(FEW)]
PICKED_FILES = names("f", PICKED, first=LARGE // 2, digits=4)
WHOLE = {"READDIR": ("readdir", ""), "READDIRPLUS": ("readdirplus", ""),
         "v4 READDIR": ("readdir", "4")}


class Rows:
    """The rows of one export; its sets' names begin with `label`."""

    def __init__(self, load, label):
        self.load = load
        self.label = label

    def set(self, name):
        return f"{self.label}-{name}"

    def find(self, pseudo, **directories):
        """Find directories: the set's name, and the names it is to hold."""
        for version, suffix in ((3, ""), (4, "4")):
            root = self.set("root" + suffix)
            self.load("mount", export=pseudo, version=version, keep=root)
            for name, contained in directories.items():
                self.load("lookup", of=root, names=contained,
                          keep=self.set(name + suffix))

    def warm(self):
        """Ask for everything, twice: what the first time left answers the
        second."""
        load, few, large = self.load, self.set("few"), self.set("large")
        load("readdirplus", of=self.set("evict"), keep=self.set("evictors"))
        for _ in range(2):
            for suffix in ("", "4"):
                load("readdir", of=few + suffix)
                load("lookup", of=few + suffix, names=FILES,
                     keep=self.set("files" + suffix))
                load("lookup", of=few + suffix, names=MISSING,
                     expect="NOENT")
                load("getattr", of=self.set("files" + suffix))
            load("readdirplus", of=few)
            load("lookup", of=few, names=LINKS, keep=self.set("links"))
            load("readlink", of=self.set("links"))
            load("access", of=self.set("files"))
            load("readdirplus", of=large)
            load("lookup", of=large, names=PICKED_FILES)
            load("fsstat", of=self.set("root"))

    def evict(self):
        """Make MDCACHE, which is small, hold other objects."""
        for _ in range(2):
            self.load("getattr", of=self.set("evictors"))

    def handles(self, op, name):
        """Each handle of a set, REPEATS times over."""
        return lambda: self.load(op, of=self.set(name),
                                 count=FEW * REPEATS)["items"]

    def look(self, name, which, expect="OK", count=FEW * REPEATS):
        """Lookups in a directory."""
        return lambda: self.load("lookup", of=self.set(name), names=which,
                                 expect=expect, count=count)["items"]

    def whole(self, kind, name, count=1):
        """A directory read to its end, which is one item."""
        op, suffix = WHOLE[kind]
        return lambda: self.load(op, of=self.set(name + suffix),
                                 count=count)["items"]

    def reading(self):
        """(name, function) of the requests that change nothing."""
        yield "GETATTR", self.handles("getattr", "files")
        yield "ACCESS", self.handles("access", "files")
        yield "v4 PUTFH+GETATTR", self.handles("getattr", "files4")
        yield "v4 LOOKUP+GETATTR", self.look("few4", FILES)
        yield f"LOOKUP, {FEW} names", self.look("few", FILES)
        yield (f"LOOKUP, {LARGE:,} names",
               self.look("large", PICKED_FILES, count=PICKED))
        yield "LOOKUP, no such name", self.look("few", MISSING, "NOENT")
        yield ("v4 LOOKUP below no such name",
               self.look("few4", BELOW_MISSING, "NOENT"))
        for kind in WHOLE:
            yield kind, self.whole(kind, "few", REPEATS)
        yield "READLINK", self.handles("readlink", "links")

    def changing(self):
        """(name, the change, function to be counted after it)."""
        for number, kind in enumerate(WHOLE):
            self.load(WHOLE[kind][0], of=self.set("changed"
                                                  + WHOLE[kind][1]))
            for change, op, more in (
                    ("CREATE", "create", {"names": [f"new{number}"]}),
                    ("RENAME", "rename", {"names": [f"new{number}"],
                                          "new_names": [f"newer{number}"]}),
                    ("REMOVE", "remove", {"names": [f"newer{number}"]}),
                    ("MKDIR", "mkdir", {"names": [f"sub{number}"]}),
                    ("LINK", "link", {"names": [f"linked{number}"],
                                      "targets": self.set("files")}),
                    ("SYMLINK", "symlink", {"names": [f"symbol{number}"]})):
                yield (f"{kind} after {change}",
                       functools.partial(self.load, op,
                                         of=self.set("changed"), **more),
                       self.whole(kind, "changed"))
            self.load("remove", of=self.set("changed"),
                      names=[f"linked{number}", f"symbol{number}"])
            self.load("rmdir", of=self.set("changed"),
                      names=[f"sub{number}"])
