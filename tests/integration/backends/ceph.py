# SPDX-License-Identifier: LGPL-3.0-or-later
"""FSAL_CEPH over a cluster of one monitor, one OSD and one MDS.

Objects are kept in memory (memstore).  The truth comes from a client of its
own, by libcephfs.
"""

import pathlib
import subprocess
import sys

from backends.conversation import Conversation
from harness.ganesha import Export
from harness.wait import wait_for

ADDRESS = "10.99.0.1"
FSID = "8f1d1e1a-6a1c-4c06-9f3d-1a2b3c4d5e6f"
OSD = "0b5f8f52-3f8e-4a39-8d43-5b1d2c3e4f60"
LOOK = pathlib.Path(__file__).with_name("ceph-look.py")

CONF = """[global]
fsid = {fsid}
mon_host = [v2:{address}:3300,v1:{address}:6789]
public_addr = {address}
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
ms_bind_ipv6 = false
run_dir = /run/ceph
admin_socket = /run/ceph/$name.$pid.asok
log_file = {folder}/log/$name.log
crash_dir = {folder}/log
mon_data = {folder}/mon
osd_data = {folder}/osd
mds_data = {folder}/mds
mon_allow_pool_size_one = true
mon_data_avail_warn = 1
mon_data_avail_crit = 1
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_crush_chooseleaf_type = 0
osd_objectstore = memstore
memstore_device_bytes = 4294967296
# At the defaults so small a cluster stalls for seconds.
mds_tick_interval = 0.2
paxos_propose_interval = 0.1
mon_tick_interval = 1
[client]
log_file = {folder}/log/client.$pid.log
keyring = /dev/null
"""


class CephTruth:
    """A process in the cluster's Namespace that looks at the files."""

    def __init__(self):
        self._process = None

    def start(self, namespace, conf):
        self._process = Conversation(namespace.popen(
            sys.executable, LOOK, conf, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE))

    def answer(self, operation, path, *arguments):
        return self._process.ask(operation, path, *arguments)

    ask = answer

    def stop(self):
        if self._process:
            self._process.stop()


class Ceph:
    """The cluster, in the server's own Namespace."""

    name = "CEPH"
    root = ""

    def __init__(self, rundir):
        self.folder = pathlib.Path(rundir) / "ceph"
        self.conf = self.folder / "ceph.conf"
        self.blocks = (f'CEPH {{ Ceph_Conf = "{self.conf}"; }}',)
        self.truth = CephTruth()
        self.namespace = None

    def _run(self, *argv, **kwargs):
        return self.namespace.run("env", f"CEPH_CONF={self.conf}", *argv,
                                  timeout=60, **kwargs)

    def start(self, namespace):
        self.namespace = namespace
        for name in ("log", "mon", "osd", "mds"):
            (self.folder / name).mkdir(parents=True)
        self.conf.write_text(CONF.format(
            fsid=FSID, address=ADDRESS, folder=self.folder))
        self._run("ip", "addr", "add", f"{ADDRESS}/32", "dev", "lo")
        self._run("mkdir", "-p", "/run/ceph")
        monmap = self.folder / "monmap"
        self._run("monmaptool", "--create", "--fsid", FSID, "--addv", "a",
                  f"[v2:{ADDRESS}:3300,v1:{ADDRESS}:6789]", monmap)
        self._run("ceph-mon", "--mkfs", "-i", "a", "--monmap", monmap)
        self._run("ceph-mon", "-i", "a")
        self._run("ceph", "osd", "new", OSD, "0")
        self._run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", OSD)
        self._run("ceph-osd", "-i", "0")
        self._run("ceph-mds", "-i", "a")
        for pool in ("meta", "data"):
            self._run("ceph", "osd", "pool", "create", pool, "8")
        self._run("ceph", "fs", "new", "cephfs", "meta", "data")
        wait_for(lambda: "up:active" in self._run(
            "ceph", "mds", "stat", check=False).stdout, 40,
            "the MDS to be active", step=0.2)
        self.truth.start(namespace, self.conf)

    def export(self, export_id=1, pseudo="/ceph"):
        return Export(export_id, pseudo,
                      'FSAL { Name = CEPH; User_Id = "admin"; }')

    def second_client(self):
        """What changes the file system beside the server."""
        client = CephTruth()
        client.start(self.namespace, self.conf)
        return client

    def tail(self):
        parts = []
        for name in ("mon.a", "osd.0", "mds.a"):
            log = self.folder / "log" / f"{name}.log"
            if log.exists():
                parts += [f"--- {log}", *log.read_text(
                    errors="replace").splitlines()[-8:]]
        return "\n".join(parts)

    def stop(self):
        self.truth.stop()
