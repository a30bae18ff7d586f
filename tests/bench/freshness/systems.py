# SPDX-License-Identifier: LGPL-3.0-or-later
"""The systems that are compared: a backend, a stack, who changes the files.

Over VFS the changes are made in the exported directory, a file system of its
own in an image, so that nothing else on the machine is watched or heard.  Over
GLUSTER and CEPH a second client makes them, the backend's own by FUSE.
"""

import contextlib
import os
import pathlib
from dataclasses import dataclass

from backends.ceph import Ceph
from backends.gluster import ADDRESS, VOLUME, Gluster
from backends.vfs import Vfs
from nfsbench.load import Load, check, names
from nfsbench.servers import NO_EXPIRY, Bed, scale, stock

IMAGE_BYTES = 4 << 30    # sparse
# What the clients do besides, a second; of each churn two requests.
LOAD_FILES = 200


class ImageVfs(Vfs):
    """FSAL_VFS over an ext4 in an image, mounted inside the namespace."""

    def start(self, namespace):
        super().start(namespace)
        image = self.directory.with_name("image")
        with open(image, "wb") as file:
            file.truncate(IMAGE_BYTES)
        namespace.run("mkfs.ext4", "-q", "-F", image)
        namespace.run("mount", "-o", "loop", image, self.directory)
        inside(namespace, self.directory).chmod(0o1777)
        self.changed = self.directory


class MountedGluster(Gluster):
    """Gluster with a mount of the volume beside the server."""

    def start(self, namespace):
        super().start(namespace)
        self.changed = self.rundir / "second"
        self.changed.mkdir()
        namespace.run("glusterfs", f"--volfile-server={ADDRESS}",
                      f"--volfile-id={VOLUME}",
                      f"--log-file={self.rundir}/log/second.log",
                      self.changed)
        inside(namespace, self.changed).chmod(0o1777)


class MountedCeph(Ceph):
    """CephFS with a mount beside the server."""

    def start(self, namespace):
        super().start(namespace)
        self.changed = self.folder / "second"
        self.changed.mkdir()
        namespace.run("ceph-fuse", "-c", self.conf, "-n", "client.admin",
                      self.changed)
        inside(namespace, self.changed).chmod(0o1777)


def inside(namespace, path):
    """A path as processes in the namespace see it."""
    return pathlib.Path(f"/proc/{namespace.pid}/root{path}")


@dataclass(frozen=True)
class System:
    """One line of the comparison.

    patient: whether a change is waited for before the next is made; where it
    takes a minute, many are made at once.
    churn: CREATEs and as many REMOVEs a second of the loaded variants; reads
    make up the rest of the 5,000 requests.
    """

    key: str
    label: str
    backend: type
    stack: object
    patient: bool = True
    extra: str = ""
    churn: int = 500


SYSTEMS = [
    System("vfs-notify", "VFS, SCALE (notify)", ImageVfs,
           lambda: scale("Freshness = notify;")),
    System("vfs-ttl", "VFS, SCALE (ttl)", ImageVfs,
           lambda: scale("Freshness = ttl;"), patient=False),
    System("vfs-stock", "VFS, stock", ImageVfs, stock, patient=False),
    System("gluster-upcall", "GLUSTER, SCALE (upcall)", MountedGluster,
           lambda: scale("Freshness = upcall;"), churn=50),
    System("gluster-stock", "GLUSTER, stock", MountedGluster, stock,
           churn=50),
    System("ceph-ask", "CEPH, SCALE (ask)", MountedCeph,
           lambda: scale("Freshness = ask;"), extra=NO_EXPIRY, churn=50),
    System("ceph-stock", "CEPH, stock", MountedCeph, stock, patient=False,
           churn=50),
]
BY_KEY = {system.key: system for system in SYSTEMS}


@contextlib.contextmanager
def serving(system, folder):
    """(its Bed, its Running server), a new one in a new folder."""
    with Bed(folder, system.backend(folder)) as bed:
        export = bed.backend.export()
        export.extra = system.extra
        with bed.running(system.stack(), [export]) as server:
            yield bed, server


@contextlib.contextmanager
def loaded(system, bed, server):
    """Clients that do 5,000 NFS operations a second; a list that holds the
    rate that was reached, afterwards."""
    rate = []
    folder = inside(bed.ns, bed.backend.changed) / "load"
    if not folder.exists():
        (folder / "work").mkdir(parents=True)
        for path in (folder, folder / "work"):
            os.chmod(path, 0o777)
        for number in range(LOAD_FILES):
            (folder / f"f{number}").touch()
    readers, writers = Load(bed.ns), Load(bed.ns)
    for load in (readers, writers):
        load("mount", export=server.pseudo, version=3, keep="root")
        load("lookup", of="root", names=["load"], keep="load")
    readers("lookup", of="load", names=names("f", LOAD_FILES), keep="files")
    writers("lookup", of="load", names=["work"], keep="work")
    readers.start("getattr", of="files", order="random", depth=8,
                  rate=5000 - 2 * system.churn, until_input=True)
    writers.start("churn", of="work", names=names("new", 1000), depth=4,
                  rate=system.churn, until_input=True)
    try:
        yield rate
    finally:
        reports = [load.end() for load in (readers, writers)]
        for report in reports:
            check(report, "OK")
        rate.append(sum(report["requests"] / report["seconds"]
                        for report in reports))
        readers.stop()
        writers.stop()
