# SPDX-License-Identifier: LGPL-3.0-or-later
"""The slow backends: what is exported, how it gets its files, the targets.

Each has a directory of FILES names to look up and another one, "work", of as
many to create in.
"""

import contextlib

from backends.ceph import Ceph
from backends.fault import FaultOver, over, tree_block
from backends.gluster import Gluster
from backends.vfs import Vfs
from harness.ganesha import Export
from nfsbench.far import FarProxyV4
from nfsbench.load import names
from nfsbench.servers import NO_EXPIRY, stock

FILES = 1000
# Where up-calls tell of foreign changes memory answers for the backend; by TTL
# a directory is read again after a change; CEPH is asked each time.
TOLD = {"cold": 1, "storm": 2, "negative": 2, "readdir": 2}
BY_TTL = {**TOLD, "readdir": 1}
ASKED = {"cold": 1, "storm": 1, "negative": 1, "readdir": 1}


class Place:
    """A backend with one export."""

    delay = 0    # us that FAULT adds to each call
    directory = "names"
    targets = TOLD
    options = ""    # of SCALE in the export
    extra = ""      # of the export, whatever the stack

    def __init__(self, folder, below):
        self.folder = folder
        self.folder.mkdir()
        self.below = below
        self.backend = FaultOver(folder, below)

    def exports(self, slower):
        """The one with the names first; FAULT is in only if it has to be."""
        export = self.below.export()
        export.extra = self.extra
        if slower:
            export.fsal = over(export.fsal)
        return [export]

    @contextlib.contextmanager
    def serving(self, bed, stack, slower=0):
        """A server whose backend answers so many us later than usual."""
        with bed.running(stack, self.exports(slower)) as server:
            if self.delay + slower:
                with self.backend.control() as fault:
                    fault.latency("all", fixed=self.delay + slower)
            yield server

    def find(self, server):
        """The directories' handles into the sets dir and work."""
        exports = server.server.exports
        server.mount(exports[0].pseudo, keep="first")
        server.mount(exports[-1].pseudo, keep="last")
        server.load("lookup", of="first", names=[self.directory], keep="dir")
        server.load("lookup", of="last", names=["work"], keep="work")

    def populate(self, bed):
        """Make the files, through a stock server."""
        with self.serving(bed, stock()) as server:
            load = server.load
            server.mount(server.pseudo)
            load("mkdir", of="root", names=["names", "work"], keep="dirs")
            load("create", of="dirs", depth=16,
                 names=names("f", FILES, first=1, digits=4))

    def touch(self, directory, folders):
        """Make the files on this machine."""
        for name in folders:
            folder = directory / name
            folder.mkdir()
            folder.chmod(0o777)
            for number in range(1, FILES + 1):
                (folder / f"f{number:04}").touch()


class FaultPlace(Place):
    """FAULT with 0.5 ms a call: a tree to look up, FSAL_VFS to create in."""

    label = "FAULT, 0.5 ms"
    delay = 500
    directory = "d00001"
    targets = {**TOLD, "cold": 5}
    # FAULT sends up-calls when it is told to; here nothing changes.
    options = "Freshness = upcall;"

    def __init__(self, folder):
        super().__init__(folder, Vfs(folder))

    def exports(self, slower):
        tree = tree_block(directories=1, files=FILES)
        return [Export(2, "/tree", tree, path="/tree"),
                self.backend.export()]

    def populate(self, bed):
        self.touch(self.below.directory, ["work"])


class ProxyPlace(Place):
    """PROXY_V4 to a server that is 0.5 ms farther away."""

    label = "PROXY_V4, 0.5 ms more"
    targets = BY_TTL

    def __init__(self, folder):
        super().__init__(folder, FarProxyV4(folder))

    def populate(self, bed):
        self.touch(self.below.behind.directory, ["names", "work"])


class CephPlace(Place):
    """CEPH; libcephfs is asked each time, for it knows, also by stock."""

    label = "CEPH, always asked"
    targets = ASKED
    options = "Freshness = ask;"
    extra = NO_EXPIRY

    def __init__(self, folder):
        super().__init__(folder, Ceph(folder))


class GlusterPlace(Place):
    """GLUSTER, which sends up-calls."""

    label = "GLUSTER, up-calls"
    options = "Freshness = upcall;"

    def __init__(self, folder):
        super().__init__(folder, Gluster(folder))


PLACES = {"fault": FaultPlace, "proxy_v4": ProxyPlace, "ceph": CephPlace,
          "gluster": GlusterPlace}
