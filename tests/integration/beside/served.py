# SPDX-License-Identifier: LGPL-3.0-or-later
"""A server that exports fresh file systems, and where to change them."""

import contextlib
import dataclasses
import itertools
import json
import os
import pathlib
import random
import shutil
import socket

from beside.filesystems import mount_new
from beside.looker import Looker, agree, find
from beside.truth import Tree, key_of
from coherence.variants import ASK, NFSV4
from harness.answers import OK
from harness.ganesha import Export, Settings
from harness.instance import Instance
from harness.nfs import VERSIONS, connect

BUDGET = 'maxFilesToCache = "30K"; maxStatCache = "60K"; pagepool = "64M";'
NUMBERS = itertools.count()


@dataclasses.dataclass(frozen=True)
class Freshness:
    """How an export is kept fresh, and how late a change may be seen.

    options: of SCALE's block; extra: of the export's; within: seconds.
    """
    options: str
    extra: str
    within: float


FRESHNESS = {
    "notify": Freshness("Freshness = notify;", "", 2.0),
    # What the tests see of a server that is told nothing.  MDCACHE counts in
    # whole seconds, hence the rest.
    "ttl": Freshness("Freshness = ttl; Attr_TTL = 1; Name_TTL = 1; "
                     "Negative_TTL = 1;", "Attr_Expiration_Time = 1;", 6.0),
    # Of one that asks each time.
    "ask": Freshness(ASK, "Attr_Expiration_Time = 0;", 1.0),
}
# Told nothing, and sure of itself.
BLIND = Freshness("Freshness = ttl; Attr_TTL = 60; Name_TTL = 60; "
                  "Negative_TTL = 60;", "", 2.0)


class FileSystems:
    """A backend of Instance: a fresh file system for each kind.

    Of each, the directory `exported` is exported as /KIND.  Below that,
    `below` is the mount point of another file system, where `submounts` has
    one for the kind.
    """

    name = "VFS"
    blocks = ()
    truth = None
    root = ""

    def __init__(self, rundir, kinds, submounts=None):
        self._base = pathlib.Path(rundir)
        self.kinds, self.submounts = kinds, submounts or {}
        self._ns = None

    def start(self, namespace):
        self._ns = namespace
        for kind in self.kinds:
            mount_new(namespace, kind, self._base / kind)
            namespace.run("mkdir", "-m", "1777",
                          self._base / kind / "exported",
                          self._base / kind / "outside")
            if kind in self.submounts:
                mount_new(namespace, self.submounts[kind],
                          self._base / kind / "exported" / "below")
                namespace.run("mkdir", self._base / kind
                              / "exported/below/outside")
            namespace.run("mkdir", self._base / f"{kind}-again")
            namespace.run("mount", "--bind", self._base / kind,
                          self._base / f"{kind}-again")

    def path(self, kind, *parts):
        """Where it is, seen from outside the namespace."""
        return pathlib.Path(f"/proc/{self._ns.pid}/root{self._base}",
                            kind, *parts)

    def exports(self, freshness):
        return [Export(number, f"/{kind}", "FSAL { Name = VFS; }",
                       path=str(self._base / kind / "exported"),
                       extra=freshness.extra)
                for number, kind in enumerate(self.kinds, 1)]

    def export(self):
        return self.exports(BLIND)[0]

    def tail(self):
        return ""

    def stop(self):
        pass


def serve(rundir, stack, freshness, kinds, submounts=None, budget=BUDGET,
          mdcache="", exports=None, **settings):
    """An Instance; changes are made at instance.backend.path(kind, ...)."""
    backend = FileSystems(rundir, kinds, submounts)
    stack = dataclasses.replace(
        stack, options=freshness.options,
        scale=f'{budget} Control_Socket = "{control_socket(rundir)}";')
    return Instance(
        rundir, stack, backend, Settings(
            nfsv4=NFSV4, blocks=[f"MDCACHE {{ {mdcache} }}"], **settings),
        exports or backend.exports(freshness))


def control_socket(rundir):
    return pathlib.Path(rundir) / "control" / "socket"


def stats(instance):
    """What the control socket tells of the counters."""
    with socket.socket(socket.AF_UNIX) as control:
        control.settimeout(10)
        control.connect(str(control_socket(instance.rundir)))
        control.sendall(b'{"scale": 1, "command": "stats"}\n')
        with control.makefile("rb") as answer:
            return json.loads(answer.readline())


class Place:
    """A new directory of a served file system, and who looks at it.

    here: in the export; outside: on the same file system, out of it; again:
    `here` by another mount of the file system; change: whether version 4's
    change is known.
    """

    def __init__(self, instance, kind, within, below=False):
        self.within, self.change = within, True
        self._ns = instance.ns
        self.name = f"test-{next(NUMBERS)}"
        path = instance.backend.path
        self._inside = ("below", self.name) if below else (self.name,)
        self.here = path(kind, "exported", *self._inside)
        self.outside = path(kind, "exported", "below", "outside") / self.name \
            if below else path(kind, "outside", self.name)
        self.again = self.here if below else path(
            f"{kind}-again", "exported", self.name)
        self.outside.mkdir()
        self.absent = ()
        self._rng = random.Random(self.name)
        self._clients = [connect(instance, version, f"/{kind}", timeout=3)
                         for version in VERSIONS]
        first = self._clients[0]
        above = find(first, first.root, b"below", within) if below \
            else first.root
        assert first.mkdir(above, os.fsencode(self.name), 0o777).status == OK
        inside = os.fsencode("/".join(self._inside))
        self.handles = {client.version: find(client, client.root, inside,
                                             within)
                        for client in self._clients}
        self._lookers = [Looker(client, self.handles[client.version])
                         for client in self._clients]

    def run(self, *command):
        """Run a program inside, where our paths of files are its own."""
        outside = f"/proc/{self._ns.pid}/root"
        self._ns.run(*(str(part).replace(outside, "") for part in command))

    def truth(self):
        return (Tree(self.here, change=self.change),
                Tree(self.outside, data=False, change=self.change))

    def agree(self):
        """Wait until all see what is there; the seconds that it took."""
        return agree(self._lookers, self.truth, self.within, self._rng)

    def follow(self, scenario):
        """Run a scenario: all agree at each of its yields.

        What it yields are paths, relative to `here`, that are not there and
        will be asked for.  Before it goes on all have seen everything, so
        that whoever remembers anything remembers what is about to change.
        Gives the longest that a change took to be seen, in seconds.
        """
        slowest = 0
        for number, absent in enumerate(scenario(self)):
            took = self.agree()
            if number:
                slowest = max(slowest, took)
            for path in absent or ():
                directory, _, name = path.rpartition("/")
                key = key_of(self.here / directory)
                for looker in self._lookers:
                    looker.expect_none(key, os.fsencode(name))
            self.agree()
        return slowest

    def close(self):
        for client in self._clients:
            with contextlib.suppress(OSError):
                client.close()
        for path in (self.here, self.outside):
            shutil.rmtree(path, ignore_errors=True)
