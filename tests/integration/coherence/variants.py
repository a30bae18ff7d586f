# SPDX-License-Identifier: LGPL-3.0-or-later
"""Servers, budgets and clients to run with."""

import dataclasses
import json
import pathlib
import socket
from dataclasses import dataclass

from backends.fault import FaultOver
from backends.mem import Mem
from backends.vfs import Vfs
from coherence.clients import HandleClient, Handles
from coherence.generate import CHANGES, READS
from coherence.libnfs import LibNfs
from coherence.oracle import DirectoryOracle, ModelOracle
from coherence.pathclients import KernelMount, Outside
from coherence.told import Noise, Told
from coherence.run import Run
from harness.answers import BAD_STATEID, DELAY, DENIED, IO, SERVERFAULT
from harness.ganesha import Settings
from harness.instance import Instance
from harness.nfs3 import Client3
from harness.nfs4 import Client4

BUDGETS = {
    "tiny": 'maxFilesToCache = 24; maxStatCache = 32; pagepool = "1M";',
    "large": 'maxFilesToCache = "20K"; maxStatCache = "50K"; '
             'pagepool = "64M";'}
# MDCACHE first: it keeps what is in use, and names and attributes with it.
# Some of its own answers are wrong when several requests meet, so where steps
# are made at once it is set aside: it keeps no names and asks for attributes
# each time, and every answer is that of what is below it.
# FSAL_MEM loses what MDCACHE lets go, and its listings have no end without
# MDCACHE's: there it keeps all, but no attributes.
FIRST, ASIDE, KEEPS = "first", "aside", "keeps"
MDCACHE = {FIRST: "Entries_HWMark = 1;",
           ASIDE: "Entries_HWMark = 1; Dir_Chunk = 0;", KEEPS: ""}
EXPIRY = {FIRST: "", ASIDE: "Attr_Expiration_Time = 0;",
          KEEPS: "Attr_Expiration_Time = 0;"}
# What may be held when the tree is empty again: file descriptors more than at
# the beginning, and handles of the backend's, the roots' among them.
MORE_FDS, MOST_HANDLES = 8, 16
# Seconds after which version 3 will have no answer.
SILENCE = 10
NFSV4 = "Graceless = true; Lease_Lifetime = 120;"

# As long as the default is; but that is the export's Attr_Expiration_Time, and
# nothing is kept where that is 0.
NORMAL = "Attr_TTL = 60; Name_TTL = 60; Negative_TTL = 60;"
FOREVER = "Attr_TTL = -1; Name_TTL = -1; Negative_TTL = -1;"
UPCALL = "Freshness = upcall;"
ASK = "Freshness = ttl; Attr_TTL = 0; Name_TTL = 0; Negative_TTL = 0;"

# FSAL_MEM's up-call thread and its own removals end the server together, and
# it does not keep holes.
MEM_CHANGES = {op: weight for op, weight in CHANGES.items() if op in (
    "create", "setattr", "mkdir", "symlink", "mkfifo")}
# What a request may be answered when FAULT fails one of its calls; DENIED is
# version 4's READDIR's, without an entry's attributes, and BAD_STATEID that of
# an OPEN_CONFIRM whose file could not be found.
INJECTED = frozenset((IO, SERVERFAULT, DELAY, DENIED, BAD_STATEID))
FAULTS = (("lookup,getattrs,readdir,create_handle,readlink", "IO", 0.04),
          ("mkdir,symlink,mknode,link,rename,unlink,setattr2,open2",
           "IO", 0.12))
DELAYS = ("lookup,getattrs,readdir,unlink,rename,open2,mkdir", 700)


@dataclass(frozen=True)
class Variant:
    """One way to run; `raw`, `libnfs` and `kernel` are versions.

    share: steps of the standard run; pseudos: the exports of the same tree;
    outside: who else changes it, "told" by up-calls or "untold".
    """
    name: str
    budget: str
    share: int
    raw: tuple = ("3", "3", "4.0", "4.1")
    libnfs: tuple = ()
    kernel: tuple = ()
    mdcache: str = ASIDE
    together: float = 0.3
    most_changes: int = 3
    options: str = NORMAL
    pseudos: tuple = ("/tree",)
    backend: str = "VFS"    # or "MEM", "FAULT", or "TOLD": FAULT for up-calls
    outside: str = ""
    changes: dict | None = dataclasses.field(default=None, hash=False)

    @property
    def scale_only(self):
        """Whether it means nothing without SCALE."""
        return bool(self.outside)


def both(name, share, **values):
    """A variant with each budget."""
    return [Variant(f"{name}-{budget}", budget, share, **values)
            for budget in BUDGETS]


VARIANTS = [
    *both("v3", 1200, raw=("3", "3", "3"), libnfs=("3",), kernel=("3",)),
    *both("v4.0", 1200, raw=("4.0", "4.0", "4.0"), libnfs=("4",),
          kernel=("4.0",)),
    *both("v4.1", 1200, raw=("4.1", "4.1", "4.1"), kernel=("4.1",)),
    *both("mixed", 1600, libnfs=("3", "4"), kernel=("3", "4.0", "4.1"),
          mdcache=FIRST, together=0, options=""),
    *both("forever", 1500, options=FOREVER),
    *both("forever-mixed", 1000, options=FOREVER, mdcache=FIRST, together=0),
    *both("twins", 1500, options=FOREVER, pseudos=("/tree", "/twin")),
    *both("ask", 600, options=ASK, outside="untold", together=0),
    *both("upcalls", 1000, options=UPCALL, outside="told", backend="TOLD"),
    *both("mem", 200, options=FOREVER, backend="MEM", changes=MEM_CHANGES,
          mdcache=KEEPS, together=0),
    *both("faults", 800, options=FOREVER, backend="FAULT"),
]
BY_NAME = {variant.name: variant for variant in VARIANTS}


class Rig:
    """A running server, its clients and a Run of a variant."""

    def __init__(self, variant, rundir, stack, seed):
        self.variant = variant
        rundir = pathlib.Path(rundir)
        self.backend = self._backend(rundir)
        self._socket = rundir / "control" / "socket"
        stack = dataclasses.replace(
            stack, scale=BUDGETS[variant.budget]
            + f' Control_Socket = "{self._socket}";', options=variant.options)
        exports = [self._export(number, pseudo) for number, pseudo
                   in enumerate(variant.pseudos, 1)]
        settings = Settings(nfsv4=NFSV4, blocks=[
            f"MDCACHE {{ {MDCACHE[variant.mdcache]} }}"])
        if variant.backend == "MEM":
            settings.blocks.append(
                "MEM { Up_Test_Interval = 1; Inode_Size = 65536; }")
        self.clients, self.noise = [], None
        self.instance = Instance(rundir, stack, self.backend, settings,
                                 exports)
        try:
            self._start(seed)
        except BaseException:
            self.stop()
            raise

    def _backend(self, rundir):
        if self.variant.backend == "MEM":
            backend = Mem(rundir)
            backend.blocks = ()
            return backend
        vfs = Vfs(rundir)
        return vfs if self.variant.backend == "VFS" \
            else FaultOver(rundir, vfs)

    def _export(self, number, pseudo):
        export = self.backend.export(number, pseudo)
        return dataclasses.replace(
            export, extra=EXPIRY[self.variant.mdcache])

    def _start(self, seed):
        self._connect()
        variant = self.variant
        if variant.backend == "MEM":
            oracle = ModelOracle()
        else:
            oracle = DirectoryOracle(
                self.instance.rundir / "exported")
        if variant.outside == "untold":
            self.clients.append(Outside(oracle.root))
        if variant.outside == "told":
            self._tell(oracle.root)
        faulty = variant.backend == "FAULT"
        extra = {"changes": variant.changes} if variant.changes else {}
        extra["wrong_kinds"] = not faulty
        if faulty:
            # MDCACHE keeps the parent of a directory whose move was done and
            # answered with an error.
            extra["reads"] = {op: weight for op, weight in READS.items()
                              if op != "lookup_parent"}
        self.run = Run(self.clients, oracle, seed, variant.together,
                       INJECTED if faulty else frozenset(),
                       variant.most_changes, **extra)
        self.fds = self.count_fds()
        if faulty:
            with self.backend.control() as control:
                control.latency(DELAYS[0], exponential=DELAYS[1])
                for number, (ops, error, rate) in enumerate(FAULTS):
                    control.fail(ops, error, rate=rate, after=number > 0)

    def _connect(self):
        ns, variant = self.instance.ns, self.variant
        handles = {}
        for pseudo in variant.pseudos:
            for version in variant.raw:
                nfs = Client3(ns, SILENCE) if version == "3" \
                    else Client4(ns, version)
                table = handles.setdefault((version, pseudo), Handles())
                self.clients.append(HandleClient(nfs, pseudo, table))
        pseudo = variant.pseudos[0]
        for version in variant.libnfs:
            self.clients.append(LibNfs(ns, version, pseudo))
        if variant.kernel:
            client = self.instance.client()
            for version in variant.kernel:
                self.clients.append(KernelMount(client, version, pseudo))

    def _tell(self, root):
        """Changes that up-calls tell of, and up-calls that tell nothing."""
        table = Handles()
        helper = HandleClient(Client3(self.instance.ns),
                              self.variant.pseudos[0], table)
        self.clients.append(Told(root, helper, self.backend.control()))
        self.noise = Noise(self.backend.control(), table)

    def count_fds(self):
        """File descriptors that the server has open."""
        return len(list(pathlib.Path(
            f"/proc/{self.instance.server.pid}/fd").iterdir()))

    def usage(self):
        """What SCALE's control socket says of the cache's usage."""
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(10)
            control.connect(str(self._socket))
            control.sendall(b'{"scale": 1, "command": "stats"}\n')
            with control.makefile("rb") as answer:
                return json.loads(answer.readline())["cache"]["usage"]

    def leftovers(self):
        """What is still held when the tree is empty again, in words."""
        found = []
        fds = self.count_fds()
        if fds > self.fds + MORE_FDS:
            found.append(f"{fds} open files, {self.fds} at the beginning")
        if self.instance.server.stack.name != "scale":
            return found
        usage = self.usage()
        # After an injected error a state may go with its object only.
        if usage["pinned"] and self.variant.backend != "FAULT":
            found.append(f"{usage['pinned']} entries in use")
        # What was removed by a request that failed, or beside the server, may
        # stay for its time.
        known = self.variant.backend != "FAULT" and not self.variant.outside
        if known and usage["handles"] > MOST_HANDLES:
            found.append(f"{usage['handles']} handles of the backend's")
        return found

    def quiet(self):
        """No more errors, delays and needless up-calls."""
        if self.noise:
            self.noise.stop()
        if self.variant.backend == "FAULT":
            with self.backend.control() as control:
                control.clear()
            self.run.injected = frozenset()

    def stop(self):
        if self.noise:
            self.noise.stop()
        for client in self.clients:
            client.stop()
        if hasattr(self, "run"):
            self.run.close()
        self.instance.stop()
