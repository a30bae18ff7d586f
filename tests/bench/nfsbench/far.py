# SPDX-License-Identifier: LGPL-3.0-or-later
"""A backend at the end of a longer line."""

import subprocess

from backends.proxy_v4 import ADDRESS, ProxyV4

from nfsbench.load import PROGRAMS

RELAY_PORT = 2050


class FarProxyV4(ProxyV4):
    """PROXY_V4 whose server is `round_trip_us` farther away."""

    def __init__(self, rundir, round_trip_us=500):
        super().__init__(rundir)
        self.delay = round_trip_us // 2
        self._relay = None

    def start(self, namespace):
        super().start(namespace)
        self._relay = namespace.popen(
            PROGRAMS / "delay-relay", RELAY_PORT, ADDRESS, 2049, self.delay,
            stdout=subprocess.PIPE)
        if self._relay.stdout.readline().strip() != b"ready":
            raise RuntimeError("the relay did not start")

    def export(self, export_id=1, pseudo="/proxy"):
        export = super().export(export_id, pseudo)
        export.fsal = export.fsal.replace(
            f"Srv_Addr = {ADDRESS};",
            f"Srv_Addr = 127.0.0.1; NFS_Port = {RELAY_PORT};")
        return export

    def stop(self):
        super().stop()
        if self._relay:
            self._relay.stdout.close()
