# SPDX-License-Identifier: LGPL-3.0-or-later
"""The distribution's ganesha.nfsd as a child of ci/serve."""

import pathlib
import shutil
import subprocess
import tempfile
import time

from errors import ServeError
from options import BUILD
import configuration
import rpc

HERE = pathlib.Path(__file__).resolve().parent
MODULE = BUILD / "fsal_scale/libfsalscale.so"
STARTED = "NFS SERVER INITIALIZED"
# Ganesha starts without an export whose configuration is wrong.
REFUSED = ":CONFIG :CRIT :"
START_SECONDS = 60
STOP_SECONDS = 20


class Server:
    """Runs until stop(); its folder in build/ is removed then."""

    def __init__(self, options):
        self.options = options
        self.log = BUILD / f"log/ganesha-{options.port}.log"
        self._child = None
        self._folder = None

    def start(self):
        """Start, and return when each served version answers."""
        (BUILD / "log").mkdir(parents=True, exist_ok=True)
        self.log.write_bytes(b"")
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="serve-",
                                                     dir=BUILD))
        config = self._folder / "ganesha.conf"
        config.write_text(
            configuration.text(self.options, self._plugins()),
            encoding="utf-8")
        # A session of its own: Ctrl-C must not reach the server past us.
        self._child = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "--mount-proc",
             "--propagation", "private", "--kill-child", "--",
             str(HERE / "inside.sh"), str(config), str(self.log)],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, start_new_session=True)
        self._wait_started()

    def _plugins(self):
        """A folder with the distribution's FSALs and the one built here."""
        folder = self._folder / "plugins"
        folder.mkdir()
        stock = pathlib.Path("/usr/lib")
        for module in stock.glob("*/ganesha/libfsal*.so"):
            if module.name != MODULE.name:
                (folder / module.name).symlink_to(module)
        (folder / MODULE.name).symlink_to(MODULE)
        return folder

    def _wait_started(self):
        deadline = time.monotonic() + START_SECONDS
        while STARTED not in self._log_text():
            self.check_running()
            if time.monotonic() > deadline:
                raise ServeError(f"ganesha.nfsd does not serve after "
                                 f"{START_SECONDS} s:\n{self._tail()}")
            time.sleep(0.1)
        refused = [line.partition(REFUSED)[2]
                   for line in self._log_text().splitlines()
                   if REFUSED in line]
        if refused:
            raise ServeError("ganesha.nfsd does not accept the export:\n"
                             + "\n".join(refused))
        services = [(self.options.port, rpc.NFS, 3),
                    (self.options.mount_port, rpc.MOUNT, 3),
                    (self.options.port, rpc.NFS, 4)]
        for port, program, version in services:
            try:
                rpc.ping("127.0.0.1", port, program, version)
            except OSError as error:
                raise ServeError(
                    f"ganesha.nfsd does not answer on port {port} ({error})"
                    f":\n{self._tail()}") from None

    def _log_text(self):
        return self.log.read_text(encoding="utf-8", errors="replace")

    def _tail(self, lines=25):
        tail = "\n".join(self._log_text().splitlines()[-lines:])
        return f"{tail}\n(log: {self.log})"

    def check_running(self):
        """ServeError when the server has ended by itself."""
        if self._child.poll() is not None:
            output = self._child.stderr.read().decode(errors="replace")
            raise ServeError(
                f"ganesha.nfsd ended with status {self._child.returncode}:\n"
                f"{output}{self._tail()}")

    def wait(self):
        """Until the server ends by itself, which is an error."""
        self._child.wait()
        self.check_running()

    def stop(self):
        """End the server and remove its folder; True if it ended cleanly."""
        clean = True
        if self._child is not None:
            self._child.stdin.close()
            try:
                clean = self._child.wait(STOP_SECONDS) == 0
            except subprocess.TimeoutExpired:
                clean = False
                self._child.kill()
                self._child.wait()
            self._child.stderr.close()
            self._child = None
        if self._folder is not None:
            shutil.rmtree(self._folder)
            self._folder = None
        return clean
