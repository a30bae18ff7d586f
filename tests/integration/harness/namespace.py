# SPDX-License-Identifier: LGPL-3.0-or-later
"""Private network, mount and pid namespaces for one server and its clients.

A Namespace has its own loopback, /run, /var/lib/nfs, rpcbind, statd and D-Bus
system bus.  Its first process ends when the pipe to this process closes, and
everything inside dies with it, so a test run that is killed leaves nothing.
"""

import ctypes
import os
import pathlib
import signal
import socket
import subprocess
import threading

from harness.wait import wait_for

CLONE_NEWNET = 0x40000000
INIT = pathlib.Path(__file__).with_name("namespace-init.sh")


class NamespaceError(RuntimeError):
    """The namespace or something in it did not start."""


class Namespace:
    """Namespaces that live until stop(); state is kept in `rundir`."""

    def __init__(self, rundir, name="ns"):
        self.rundir = pathlib.Path(rundir)
        self.name = name
        self._taps = 0
        self.rundir.mkdir(parents=True, exist_ok=True)
        self._log = open(self.rundir / "namespace.log", "wb")
        self._unshare = subprocess.Popen(
            ["unshare", "-n", "-m", "-p", "-f", "--mount-proc",
             "--propagation", "private", "--kill-child", "--",
             "bash", str(INIT), str(self.rundir)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log,
            start_new_session=True)
        line = self._unshare.stdout.readline()
        if line.strip() != b"ready":
            self.stop()
            raise NamespaceError(
                "namespace did not start:\n"
                + (self.rundir / "namespace.log").read_text())
        self.pid = child_of(self._unshare.pid)

    def command(self, *argv):
        """The argv that runs `argv` inside."""
        return ["nsenter", "-t", str(self.pid), "-n", "-m", "-p", "--",
                *map(str, argv)]

    def popen(self, *argv, **kwargs):
        """Start a program inside; see child_of() for its own pid."""
        kwargs.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen(self.command(*argv), **kwargs)

    def run(self, *argv, timeout=30, check=True, **kwargs):
        """Run a program inside to its end; output is text."""
        kwargs.setdefault("stdin", subprocess.DEVNULL)
        result = subprocess.run(self.command(*argv), timeout=timeout,
                                stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT,
                                encoding="utf-8", errors="backslashreplace",
                                **kwargs)
        if check and result.returncode:
            raise NamespaceError(
                f"{argv[0]} ended with {result.returncode}:\n{result.stdout}")
        return result

    def in_network(self, function):
        """Call function() in a thread that is in this network namespace.

        Sockets made there stay there, whichever thread uses them later.
        """
        answer = {}

        def body():
            try:
                libc = ctypes.CDLL(None, use_errno=True)
                fd = os.open(f"/proc/{self.pid}/ns/net", os.O_RDONLY)
                try:
                    if libc.setns(fd, CLONE_NEWNET):
                        raise OSError(ctypes.get_errno(), "setns")
                finally:
                    os.close(fd)
                answer["value"] = function()
            except BaseException as error:
                answer["error"] = error

        thread = threading.Thread(target=body, daemon=True)
        thread.start()
        thread.join()
        if "error" in answer:
            raise answer["error"]
        return answer["value"]

    def listen(self, address, port=0):
        """A TCP socket that listens inside."""
        return self.in_network(
            lambda: socket.create_server((address, port), backlog=64))

    def connect(self, address, port, timeout=10):
        """A TCP connection made from inside."""
        return self.in_network(
            lambda: socket.create_connection((address, port), timeout))

    def port_open(self, port, address="127.0.0.1"):
        """True if something accepts connections on the port inside."""
        try:
            self.connect(address, port, timeout=1).close()
        except OSError:
            return False
        return True

    def add_tap(self):
        """A tap device: (its name, this side's address, the other's)."""
        number = self._taps
        self._taps += 1
        tap = f"tap{number}"
        near, far = f"10.77.{number}.1", f"10.77.{number}.2"
        self.run("ip", "tuntap", "add", tap, "mode", "tap")
        self.run("ip", "addr", "add", f"{near}/30", "dev", tap)
        self.run("ip", "link", "set", tap, "up")
        return tap, near, far

    def link_to(self, other, subnet="10.78.0"):
        """Join two namespaces by a cable; addresses .1 here, .2 there."""
        # Only the network is entered here: the other's pid is not visible
        # in this pid namespace.
        subprocess.run(
            ["nsenter", "-t", str(self.pid), "-n", "ip", "link", "add",
             "cable", "type", "veth", "peer", "name", "cable",
             "netns", str(other.pid)], check=True, timeout=10)
        for namespace, last in ((self, 1), (other, 2)):
            namespace.run("ip", "addr", "add", f"{subnet}.{last}/24",
                          "dev", "cable")
            namespace.run("ip", "link", "set", "cable", "up")

    def stop(self):
        """End every process inside; harmless when called again."""
        if self._unshare.poll() is None:
            self._unshare.stdin.close()
            try:
                self._unshare.wait(10)
            except subprocess.TimeoutExpired:
                self._unshare.send_signal(signal.SIGKILL)
                self._unshare.wait(10)
        self._unshare.stdout.close()
        self._log.close()


def child_of(pid, within=5):
    """The pid of the only child of a process such as nsenter."""
    def first():
        with open(f"/proc/{pid}/task/{pid}/children",
                  encoding="ascii") as children:
            return children.read().split()
    return int(wait_for(first, within, f"a child of process {pid}")[0])
