# SPDX-License-Identifier: LGPL-3.0-or-later
"""FSAL_PROXY_V4 in front of a second server, stock Ganesha over VFS."""

import pathlib

from backends.vfs import Vfs
from harness.ganesha import Export, Ganesha, Settings, Stack
from harness.namespace import Namespace

ADDRESS = "10.78.0.2"


class ProxyV4:
    """The second server has a Namespace of its own, joined by a cable."""

    name = "PROXY_V4"
    root = ""
    blocks = ()
    # What the second server makes of root.
    squash = "No_Root_Squash"

    def __init__(self, rundir):
        self.rundir = pathlib.Path(rundir)
        self.behind = Vfs(self.rundir)
        self.truth = self.behind.truth
        self.namespace = self.server = None

    def start(self, namespace):
        self.namespace = Namespace(self.rundir / "behind-ns", "behind")
        namespace.link_to(self.namespace)
        self.behind.start(self.namespace)
        export = self.behind.export(export_id=77, pseudo="/behind")
        export.squash = self.squash
        self.server = Ganesha(
            self.namespace, self.rundir / "behind", Stack("stock"), [export],
            Settings(protocols="4")).start()

    def export(self, export_id=1, pseudo="/proxy"):
        return Export(
            export_id, pseudo,
            f"FSAL {{ Name = PROXY_V4; Srv_Addr = {ADDRESS}; "
            "Retry_SleepTime = 1; RPC_Client_Timeout = 4; }", path="/behind")

    def tail(self):
        return self.server.tail() if self.server else ""

    def stop(self):
        if self.namespace:
            self.namespace.stop()
