# SPDX-License-Identifier: LGPL-3.0-or-later
"""The distribution's ganesha.nfsd in a Namespace: configuration and life."""

import os
import pathlib
import re
import signal
import subprocess
from dataclasses import dataclass, field

from harness.namespace import child_of
from harness.wait import wait_for

PORT, MOUNT_PORT = 2049, 20048
STARTED = "NFS SERVER INITIALIZED"
CRASH = re.compile(
    r"SIGSEGV|SIGABRT|double free|corrupted|stack smashing|Assertion .* failed"
    r"|free\(\): |malloc\(\): ")


class ServerError(RuntimeError):
    """The server did not start, or ended when it should not have."""


@dataclass
class Stack:
    """What stands between Ganesha's cache and the backend FSAL.

    name: "scale", "null" or "stock" (nothing); module: libfsalscale.so;
    scale: the lines of the SCALE block; options: of its FSAL blocks.
    """
    name: str
    module: pathlib.Path | None = None
    scale: str = ('maxFilesToCache = "20K"; maxStatCache = "50K"; '
                  'pagepool = "64M";')
    options: str = ""

    def wrap(self, backend):
        """The FSAL block of an export whose backend's FSAL block is given."""
        if self.name == "stock":
            return backend
        options = self.options if self.name == "scale" else ""
        return f"FSAL {{ Name = {self.name.upper()}; {options} {backend} }}"

    def block(self):
        """The stack's own configuration block."""
        return f"SCALE {{ {self.scale} }}" if self.name == "scale" else ""


@dataclass
class Export:
    """One EXPORT block; `fsal` is the backend's own FSAL block."""
    export_id: int
    pseudo: str
    fsal: str
    path: str = "/"
    protocols: str = "3,4"
    access: str = "RW"
    extra: str = ""
    stacked: bool = True
    squash: str = "No_Root_Squash"

    def text(self, stack):
        fsal = stack.wrap(self.fsal) if self.stacked else self.fsal
        return (f'EXPORT {{ Export_Id = {self.export_id}; '
                f'Path = "{self.path}"; Pseudo = "{self.pseudo}"; '
                f'Access_Type = {self.access}; Squash = {self.squash}; '
                f'SecType = sys; Protocols = {self.protocols}; '
                f'Transports = TCP; {self.extra}\n\t{fsal}\n}}\n')


@dataclass
class Settings:
    """Server settings that tests change; the strings are block contents.

    modules: FSALs besides the distribution's and the one under test.
    launcher: what starts the server, as setpriv does, with its arguments.
    """
    minor_versions: str = "0,1"
    core: str = ""
    nfsv4: str = "Graceless = true; Lease_Lifetime = 20;"
    blocks: list = field(default_factory=list)
    modules: list = field(default_factory=list)
    log_level: str = "EVENT"
    protocols: str = "3,4"
    nlm: bool = True
    launcher: tuple = ()


class Ganesha:
    """A server; its files are in `rundir`, its exports may change."""

    def __init__(self, namespace, rundir, stack, exports, settings=None):
        self.ns = namespace
        self.rundir = pathlib.Path(rundir)
        self.stack = stack
        self.exports = list(exports)
        self.settings = settings or Settings()
        self.rundir.mkdir(parents=True, exist_ok=True)
        self.config = self.rundir / "ganesha.conf"
        self.log = self.rundir / "ganesha.log"
        self._nsenter = None
        self.pid = None
        self._plugins()

    def _plugins(self):
        """A folder with the distribution's FSALs and those under test."""
        self.plugins = self.rundir / "plugins"
        self.plugins.mkdir(exist_ok=True)
        for module in stock_plugins().glob("libfsal*.so"):
            link = self.plugins / module.name
            if not link.exists() and module.name != "libfsalscale.so":
                link.symlink_to(module)
        own = [self.stack.module] if self.stack.module else []
        for module in [*own, *self.settings.modules]:
            link = self.plugins / module.name
            if not link.exists():
                link.symlink_to(module.resolve())

    def text(self):
        """The configuration file's content."""
        settings = self.settings
        nlm = "true" if settings.nlm else "false"
        return "\n".join([
            f'NFS_Core_Param {{ NFS_Port = {PORT}; MNT_Port = {MOUNT_PORT}; '
            f'Enable_NLM = {nlm}; Enable_RQUOTA = false; '
            f'Enable_UDP = false; '
            f'Protocols = {settings.protocols}; mount_path_pseudo = true; '
            f'Plugins_Dir = "{self.plugins}"; {settings.core} }}',
            f'NFSv4 {{ Minor_Versions = {settings.minor_versions}; '
            f'Only_Numeric_Owners = true; {settings.nfsv4} }}',
            f'LOG {{ Default_Log_Level = {settings.log_level}; }}',
            *settings.blocks, self.stack.block(),
            *(export.text(self.stack) for export in self.exports), ""])

    def write_config(self):
        self.config.write_text(self.text(), encoding="utf-8")

    def start(self, within=20):
        """Start the server and wait until it serves."""
        self.launch()
        try:
            wait_for(self._serving, within, "ganesha.nfsd to serve")
        except TimeoutError as error:
            raise ServerError(f"{error}\n{self.tail()}") from None
        return self

    def launch(self):
        """Start the server without waiting for it."""
        self.write_config()
        self._log_start = self._log_size()
        with open(self.rundir / "ganesha.out", "ab") as out:
            self._nsenter = self.ns.popen(
                *self.settings.launcher, "/usr/bin/ganesha.nfsd",
                "-F", "-f", self.config, "-L", self.log,
                "-p", "/run/ganesha/ganesha.pid",
                stdout=out, stderr=subprocess.STDOUT)
        try:
            self.pid = child_of(self._nsenter.pid)
        except (TimeoutError, FileNotFoundError, ProcessLookupError):
            raise ServerError(f"ganesha.nfsd ended:\n{self.tail()}") from None

    def _serving(self):
        if self._nsenter.poll() is not None:
            raise ServerError(
                f"ganesha.nfsd ended with {self._nsenter.returncode}:\n"
                f"{self.tail()}")
        return STARTED in self.log_text() and self.ns.port_open(PORT)

    @property
    def running(self):
        return self._nsenter is not None and self._nsenter.poll() is None

    def wait_end(self, within=15):
        """Wait for the server's end; its exit status, negative by signal."""
        return self._nsenter.wait(within)

    def stop(self, within=15):
        """SIGTERM; the exit status.  TimeoutExpired if it hangs."""
        os.kill(self.pid, signal.SIGTERM)
        return self.wait_end(within)

    def kill(self):
        """SIGKILL, as a crash would be."""
        if self.running:
            os.kill(self.pid, signal.SIGKILL)
            self.wait_end()

    def freeze(self):
        """Stop it with all its threads, until thaw()."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self):
        """nsenter stops with its child, and would let it go on too late."""
        os.kill(self._nsenter.pid, signal.SIGCONT)
        os.kill(self.pid, signal.SIGCONT)

    def reload(self):
        """Write the configuration again and send SIGHUP."""
        self.write_config()
        os.kill(self.pid, signal.SIGHUP)

    def manage(self, method, *arguments):
        """Call a method of org.ganesha.nfsd.exportmgr; the reply's text."""
        return self.ns.run(
            "dbus-send", "--system", "--print-reply",
            "--dest=org.ganesha.nfsd", "/org/ganesha/nfsd/ExportMgr",
            f"org.ganesha.nfsd.exportmgr.{method}", *arguments).stdout

    def add_export(self, export):
        """Add an export by D-Bus AddExport."""
        self.exports.append(export)
        self.write_config()
        return self.manage(
            "AddExport", f"string:{self.config}",
            f"string:EXPORT(Export_Id={export.export_id})")

    def update_export(self, export):
        """Change an export by D-Bus UpdateExport."""
        self.exports = [export if old.export_id == export.export_id else old
                        for old in self.exports]
        self.write_config()
        return self.manage(
            "UpdateExport", f"string:{self.config}",
            f"string:EXPORT(Export_Id={export.export_id})")

    def remove_export(self, export_id):
        """Take an export away by D-Bus RemoveExport."""
        reply = self.manage("RemoveExport", f"uint16:{export_id}")
        self.exports = [export for export in self.exports
                        if export.export_id != export_id]
        return reply

    def _log_size(self):
        return self.log.stat().st_size if self.log.exists() else 0

    def log_text(self):
        """What the server has logged since it was last started."""
        if not self.log.exists():
            return ""
        with open(self.log, encoding="utf-8", errors="replace") as log:
            log.seek(self._log_start)
            return log.read()

    def wait_log(self, pattern, within=10):
        """Wait for a line that matches; the match."""
        return wait_for(lambda: re.search(pattern, self.log_text()), within,
                        f"/{pattern}/ in {self.log}")

    def tail(self, lines=40):
        """The end of the log and of the output, for a failure's report."""
        text = self.log.read_text(errors="replace") if self.log.exists() \
            else ""
        out = (self.rundir / "ganesha.out").read_text(errors="replace")
        return "\n".join([f"--- {self.log}", *text.splitlines()[-lines:],
                          "--- output", *out.splitlines()[-lines:]])

    def crashes(self):
        """Lines in log and output that tell of a crash."""
        text = (self.log.read_text(errors="replace")
                if self.log.exists() else "")
        text += (self.rundir / "ganesha.out").read_text(errors="replace")
        return [line for line in text.splitlines() if CRASH.search(line)]


def stock_plugins():
    """The distribution's folder of FSALs."""
    for folder in pathlib.Path("/usr/lib").glob("*/ganesha"):
        if (folder / "libfsalvfs.so").exists():
            return folder
    raise ServerError("no libfsalvfs.so in /usr/lib/*/ganesha: "
                      "install nfs-ganesha-vfs")
