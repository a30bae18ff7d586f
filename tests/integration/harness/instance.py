# SPDX-License-Identifier: LGPL-3.0-or-later
"""A backend, a server in front of it, and its clients, as one thing."""

import pathlib

from harness.ganesha import Ganesha, Settings
from harness.kclient import KernelClient
from harness.namespace import Namespace


class Instance:
    """Started when made; clients boot when they are first asked for."""

    def __init__(self, rundir, stack, backend, settings=None, exports=None):
        self.rundir = pathlib.Path(rundir)
        self.backend = backend
        self._clients = {}
        self._mounts = {}
        self.ns = Namespace(self.rundir / "ns")
        try:
            backend.start(self.ns)
            settings = settings or Settings()
            settings.blocks = [*settings.blocks, *backend.blocks]
            settings.modules = [*settings.modules,
                                *getattr(backend, "modules", ())]
            self.export = backend.export()
            self.server = Ganesha(self.ns, self.rundir / "server", stack,
                                  exports or [self.export], settings).start()
        except BaseException:
            backend.stop()
            self.ns.stop()
            raise

    def client(self, number=0):
        """Kernel client `number`; a new one if the last was lost."""
        client = self._clients.get(number)
        if client is None or client.broken:
            if client:
                client.stop()
            boots = len(list(self.rundir.glob(f"client{number}-*")))
            client = KernelClient(
                self.ns, self.rundir / f"client{number}-{boots}",
                self.backend.truth)
            self._clients[number] = client
            self._mounts = {key: path for key, path in self._mounts.items()
                            if key[0] != number}
        return client

    def mounted(self, version, number=0, options="", pseudo=None):
        """Where client `number` has the export; mounted when needed."""
        pseudo = pseudo or self.export.pseudo
        client = self.client(number)
        key = (number, version, options, pseudo)
        if key not in self._mounts:
            self._mounts[key] = client.mount(version, pseudo, options)
        return self._mounts[key]

    def truth_mount(self, version, number=0):
        """A second look for a backend without an outside, else None."""
        if self.backend.truth:
            return None
        other = "4.1" if version == "3" else "3"
        return self.mounted(other, number,
                            "actimeo=0,lookupcache=none,nosharecache")

    def check(self, check, version, deadline=60):
        """Run one guest check "module:check_name" by client 0."""
        mount = self.mounted(version)
        return self.client().call(
            "context:run_check", deadline, check=check, mount=mount,
            version=version, backend=self.backend.name,
            truth_mount=self.truth_mount(version), root=self.backend.root)

    def tail(self):
        """Logs of everything, for a failure's report."""
        parts = [self.server.tail(), self.backend.tail()]
        parts += [client.tail() for client in self._clients.values()]
        return "\n".join(filter(None, parts))

    def stop(self):
        for client in self._clients.values():
            client.stop()
        self.ns.stop()
        self.backend.stop()
