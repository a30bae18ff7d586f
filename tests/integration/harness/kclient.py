# SPDX-License-Identifier: LGPL-3.0-or-later
"""The Linux kernel's NFS client in a user-mode-linux guest.

A KernelClient boots in two to four seconds inside a server's Namespace and
then runs functions of guest/*.py on request, several at a time, each in a
process of its own with a deadline.  A function may ask for the backend's
truth about a path; the host answers with the `truth` object given here.
"""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import threading
from concurrent.futures import Future, TimeoutError as FutureTimeout

from harness.ganesha import MOUNT_PORT, PORT

GUEST = pathlib.Path(__file__).parent.parent / "guest"
BOOT_SECONDS = 60
MARGIN = 10     # what the host waits longer than the guest's own deadline


class GuestFailure(AssertionError):
    """A function in the guest failed; the text is its traceback."""


class ClientLost(RuntimeError):
    """The guest died, did not boot, or does not answer."""


class KernelClient:
    """A booted guest.  truth: object with answer(operation, path) or None."""

    def __init__(self, namespace, rundir, truth=None, memory="320M"):
        self.ns = namespace
        self.rundir = pathlib.Path(rundir)
        self.truth = truth
        self.broken = "the guest has not booted"
        self._control = None
        self._futures = {}
        self._next = 0
        self._lock = threading.Lock()
        self.rundir.mkdir(parents=True)
        shutil.copytree(GUEST, self.rundir / "guest",
                        ignore=shutil.ignore_patterns("__pycache__"))
        self.tap, self.gateway, self.address = namespace.add_tap()
        self._listener = namespace.listen(self.gateway)
        self._boot(memory)

    def _boot(self, memory):
        port = self._listener.getsockname()[1]
        (self.rundir / "client.env").write_text(
            f"address={self.address}\ngateway={self.gateway}\n"
            f"port={port}\nname={self.tap}\n")
        with open(self.rundir / "console", "wb") as console:
            self._uml = self.ns.popen(
                "linux.uml", f"mem={memory}", f"umid={self.tap}",
                f"uml_dir={self.rundir}/", "root=/dev/root",
                "rootfstype=hostfs", "rootflags=/", "ro", "init="
                f"{self.rundir}/guest/init.sh", f"rundir={self.rundir}",
                "panic=-1", "quiet",
                f"vec0:transport=tap,ifname={self.tap},depth=64,gro=1",
                "con=null", "con0=null,fd:1", stdout=console,
                stderr=subprocess.STDOUT,
                env={**os.environ, "TMPDIR": "/dev/shm"})
        self._listener.settimeout(1)
        for _ in range(BOOT_SECONDS):
            try:
                self._control, _ = self._listener.accept()
                break
            except socket.timeout:
                if self._uml.poll() is not None:
                    raise ClientLost("the guest did not boot\n"
                                     + self.tail()) from None
        else:
            raise ClientLost("the guest did not connect\n" + self.tail())
        self._listener.settimeout(None)
        self._control.setblocking(True)
        self.broken = None
        threading.Thread(target=self._receive, daemon=True).start()
        threading.Thread(target=self._accept_truth, daemon=True).start()

    def _lines(self):
        """What the guest sends, until it ends."""
        with contextlib.suppress(ConnectionError), \
                self._control.makefile("rb") as lines:
            yield from lines

    def _receive(self):
        for line in self._lines():
            reply = json.loads(line)
            future = self._futures.pop(reply["id"], None)
            if future is None:
                continue
            if "error" in reply:
                future.set_exception(GuestFailure(reply["error"]))
            else:
                future.set_result(reply["value"])
        self.broken = self.broken or "the guest ended"
        for future in list(self._futures.values()):
            if not future.done():
                future.set_exception(ClientLost(self.broken))

    def _accept_truth(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer_truth, args=(connection,),
                             daemon=True).start()

    def _answer_truth(self, connection):
        with connection, connection.makefile("rwb") as stream:
            for line in stream:
                request = json.loads(line)
                try:
                    reply = {"value": self.truth.answer(
                        request["operation"], os.fsencode(request["path"]))}
                except Exception as error:
                    reply = {"error": repr(error)}
                stream.write(json.dumps(reply).encode() + b"\n")
                stream.flush()

    def start(self, function, deadline=30, **arguments):
        """Start guest function "module:name"; a Future of its value."""
        if self.broken:
            raise ClientLost(self.broken)
        future = Future()
        with self._lock:
            self._next += 1
            self._futures[self._next] = future
            self._control.sendall(json.dumps(
                {"id": self._next, "function": function,
                 "deadline": deadline, "arguments": arguments}).encode()
                + b"\n")
        future.deadline = deadline
        return future

    def wait(self, future):
        """The value of a started function; raises what went wrong."""
        try:
            return future.result(future.deadline + MARGIN)
        except (FutureTimeout, TimeoutError):
            self.broken = "the guest does not answer"
            raise ClientLost(f"{self.broken}\n{self.tail()}") from None

    def call(self, function, deadline=30, **arguments):
        """Run guest function "module:name" to its end; its value."""
        return self.wait(self.start(function, deadline, **arguments))

    def mount(self, version, export, options="", deadline=30):
        """Mount an export; the path.  version is "3", "4.0", "4.1" ..."""
        return self.call("mounts:mount", deadline, server=self.gateway,
                         export=export, version=version, options=options,
                         port=PORT, mount_port=MOUNT_PORT)

    def unmount(self, path, deadline=30):
        """Unmount what mount() gave."""
        return self.call("mounts:unmount", deadline, path=path)

    def tail(self, lines=40):
        """The guest's kernel log or console, for a failure's report."""
        parts = []
        if not self.broken:
            try:
                log = self.call("mounts:kernel_log", 10)
                # What comes before the network is the boot.
                log = log.rpartition("vec0:")[2].splitlines()[1:]
                parts += ["--- guest dmesg after boot", *log[-lines:]]
            except (GuestFailure, ClientLost):
                pass
        for name in ("console", "agent.log"):
            path = self.rundir / name
            if path.exists():
                text = path.read_text(errors="replace")
                parts += [f"--- {path}", *text.splitlines()[-lines:]]
        return "\n".join(parts)

    def stop(self):
        """Halt the guest at once; mounts are not taken down."""
        self.broken = self.broken or "the guest was stopped"
        for connection in (self._listener, self._control):
            if connection is not None:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
                connection.close()
        try:
            self._uml.wait(5)
        except subprocess.TimeoutExpired:
            self._uml.kill()
            self._uml.wait(5)
