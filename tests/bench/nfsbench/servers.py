# SPDX-License-Identifier: LGPL-3.0-or-later
"""Servers to be measured: stock, with SCALE, with FSAL_NULL in its place."""

import contextlib
import os
import pathlib
import subprocess

from harness.ganesha import Ganesha, Settings, Stack
from harness.namespace import Namespace
from scalectl import control_client

from nfsbench.load import Load

# MDCACHE forgets at once what is not in use, or within a second: it replaces
# the newest first, and would keep what it has from before for ever.
SMALL_MDCACHE = ("MDCACHE { Entries_HWMark = 1; Chunks_HWMark = 1; "
                 "LRU_Run_Interval = 1; Entries_Release_Size = 1000000; }")
FOR_EVER = "Freshness = ttl; Attr_TTL = -1; Name_TTL = -1; Negative_TTL = -1;"
# What is known stays so until the backend tells otherwise, one's own changes
# included; FAULT tells when it is told to.
TOLD = "Freshness = upcall;"
ALWAYS_ASK = "Freshness = ttl; Attr_TTL = 0; Name_TTL = 0; Negative_TTL = 0;"
# An export that always asks must say so to MDCACHE, too.
NO_EXPIRY = "Attr_Expiration_Time = 0;"
SECONDS_TO_END = 3


def stock():
    """Ganesha as the distribution has it."""
    return Stack("stock")


def null():
    """FSAL_NULL in SCALE's place: a stacked FSAL that caches nothing."""
    return Stack("null")


def scale(options="", *, files="200K", stats="400K", pagepool="512M"):
    """SCALE with `options` in the exports' FSAL blocks."""
    return Stack(
        "scale", pathlib.Path(os.environ["SCALE_MODULE"]),
        scale=f'maxFilesToCache = "{files}"; maxStatCache = "{stats}"; '
              f'pagepool = "{pagepool}";', options=options)


class Running:
    """A server that serves, with the load generator's connections to it."""

    def __init__(self, namespace, server, connections):
        self.ns = namespace
        self.server = server
        self.load = Load(namespace, connections)

    @property
    def pid(self):
        return self.server.pid

    @property
    def pseudo(self):
        """Where the first export is."""
        return self.server.exports[0].pseudo

    def mount(self, pseudo, version=3, keep="root"):
        """The export's root handle into the set `keep`."""
        self.load("mount", export=pseudo, version=version, keep=keep)

    def rss(self):
        """Resident memory in bytes, huge pages included."""
        total = 0
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        for line in status.splitlines():
            if line.startswith(("VmRSS:", "HugetlbPages:")):
                total += int(line.split()[1]) * 1024
        return total

    def cpu_seconds(self):
        """What the server has used so far."""
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text() \
            .rpartition(")")[2].split()
        ticks = int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def stats(self):
        """What SCALE counts."""
        return control_client.ask(
            f"/proc/{self.pid}/root{control_client.DEFAULT_SOCKET}", "stats")

    def arrived(self):
        """Requests that have arrived at SCALE, without pure computation."""
        requests = self.stats()["total"]["requests"]
        return sum(sum(outcomes.values())
                   for op, outcomes in requests.items()
                   if op != "wire_to_host")


class Bed:
    """A namespace with a backend, on which servers run one after another."""

    def __init__(self, folder, backend):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(exist_ok=True)
        self.backend = backend
        self._number = 0
        self.ns = Namespace(self.folder / "ns")
        try:
            backend.start(self.ns)
        except BaseException:
            self.stop()
            raise

    @contextlib.contextmanager
    def running(self, stack, exports=None, blocks=(), connections=2,
                **settings):
        """A Running server; exports default to the backend's one; more
        settings as the harness's Settings has them."""
        self._number += 1
        server = Ganesha(
            self.ns, self.folder / f"server{self._number}-{stack.name}",
            stack, exports or [self.backend.export()],
            Settings(blocks=[*self.backend.blocks, *blocks],
                     modules=[*getattr(self.backend, "modules", ())],
                     **settings))
        try:
            server.start(60)
            running = Running(self.ns, server, connections)
            yield running
            running.load.stop()
        except Exception as error:
            raise RuntimeError(f"{error}\n{server.tail(15)}") from error
        finally:
            end(server)

    def stop(self):
        self.ns.stop()
        self.backend.stop()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.stop()


def end(server):
    """End a server; with some backends it hangs at its end."""
    if server.running:
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.stop(SECONDS_TO_END)
        server.kill()
