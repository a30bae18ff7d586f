# SPDX-License-Identifier: LGPL-3.0-or-later
"""The benchmarks' tools: nfsload's answers are what the server holds, and
delay-relay delays.  The server is the distribution's, over FSAL_VFS."""

import contextlib
import json
import os
import pathlib
import subprocess
import threading
import time

import pytest

from backends import BACKENDS
from harness.ganesha import Stack
from harness.instance import Instance

TOOLS = pathlib.Path(os.environ.get(
    "SCALE_MODULE", pathlib.Path(__file__).parents[2]
    / "build/fsal_scale/libfsalscale.so")).parents[1] / "tests/bench/nfsload"
NAMES = {"prefix": "f", "digits": 3, "first": 1, "count": 300}

pytestmark = [pytest.mark.scale_only, pytest.mark.xdist_group("VFS")]


@pytest.fixture(scope="module")
def server(folder):
    """A stock server over FSAL_VFS."""
    rundir = folder("nfsload")
    instance = Instance(rundir, Stack("stock"), BACKENDS["VFS"](rundir))
    yield instance
    instance.stop()


class Load:
    """An nfsload in the server's namespace."""

    def __init__(self, server):
        self.process = server.ns.popen(
            TOOLS / "nfsload", "--connections", "2", stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)

    def __call__(self, op, **command):
        self.process.stdin.write(json.dumps({"op": op, **command}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def stop(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(10)


@pytest.fixture
def load(server):
    result = Load(server)
    for version, keep in ((3, "root"), (4, "root4")):
        report = result("mount", export=server.export.pseudo,
                        version=version, keep=keep)
        assert report == {"op": "mount", "kept": 1}
    yield result
    result.stop()


def test_names_and_handles(server, load):
    """Each request does what it says, and is counted by its status."""
    directory = server.backend.directory
    assert load("mkdir", of="root", names=["d"], keep="d")["kept"] == 1
    made = load("create", of="d", names=NAMES, depth=16, keep="made")
    assert made["statuses"] == {"NFS3_OK": 300} and made["kept"] == 300
    assert sorted(os.listdir(directory / "d")) == [
        f"f{number:03}" for number in range(1, 301)]
    again = load("create", of="d", names=NAMES, depth=4)
    assert again["statuses"] == {"NFS3ERR_EXIST": 300}

    read = load("readdirplus", of="d", keep="read", reply_bytes=4096)
    assert read["entries"] == 302 and read["kept"] == 300
    assert read["requests"] > 5 and read["items"] == 1
    assert load("readdir", of="d")["entries"] == 302

    hot = load("getattr", of="read", order="random", count=1000, depth=8)
    assert hot["statuses"] == {"NFS3_OK": 1000}
    assert 0 < hot["p50_us"] <= hot["p99_us"] <= hot["max_us"]
    some = load("lookup", of="d", names=["f001", "none", "f002"], count=6)
    assert some["statuses"] == {"NFS3_OK": 4, "NFS3ERR_NOENT": 2}

    load("link", of="d", names=["linked"], targets="read")
    load("symlink", of="d", names=["symbolic"], keep="links")
    load("rename", of="d", names=["linked"], new_names=["renamed"])
    assert os.stat(directory / "d/renamed").st_nlink == 2
    assert load("readlink", of="links")["statuses"] == {"NFS3_OK": 1}
    load("remove", of="d", names=["renamed", "symbolic"])
    load("churn", of="d", names={"prefix": "new", "count": 3}, count=20)
    written = load("write_churn", of="d", names=["w"], count=5)
    assert written["requests"] == 15
    assert written["statuses"] == {"NFS3_OK": 15}
    assert len(os.listdir(directory / "d")) == 300

    load("lookup", of="root4", names=["d"], keep="d4")
    assert load("readdir", of="d4")["entries"] == 300
    below = load("lookup", of="root4", names=["d/f001", "e/f001"])
    assert below["statuses"] == {"NFS4_OK": 1, "NFS4ERR_NOENT": 1}


def test_a_time_limit_and_a_pause(load):
    """A run ends after its time, and a pause makes it slow."""
    began = time.monotonic()
    report = load("getattr", of="root", seconds=0.5, pause_us=10000)
    assert 0.4 < time.monotonic() - began < 5
    assert 1 < report["items"] < 50


def test_a_rate(load):
    """Items begin when they are due, however many may be in flight."""
    report = load("getattr", of="root", seconds=1, rate=200, depth=8)
    assert 100 < report["items"] <= 201


@pytest.mark.parametrize("command, complaint", [
    ({"op": "getattr", "of": "nothing"}, "no set"),
    ({"op": "lookup", "of": "root"}, 'needs "names"'),
    ({"op": "churn", "of": "root4", "names": ["a"]}, "no such"),
    ({"op": "getattr", "of": "root", "depth": 0}, "range"),
    ({"op": "getattr", "of": "root", "speed": 1}, "speed"),
])
def test_bad_commands_are_refused(load, command, complaint):
    assert complaint in load(**command)["error"]
    assert load.process.wait(10) == 2


def test_the_relay_delays(server):
    """A round trip takes what two ways cost, and arrives whole."""
    echo = server.ns.listen("127.0.0.1")
    relay = server.ns.popen(TOOLS / "delay-relay", "2060", "127.0.0.1",
                            echo.getsockname()[1], "20000",
                            stdout=subprocess.PIPE)
    assert relay.stdout.readline() == b"ready\n"
    near = server.ns.connect("127.0.0.1", 2060)
    far, _ = echo.accept()

    def answer():
        # The test's end closes the socket.
        with contextlib.suppress(OSError):
            while block := far.recv(1 << 16):
                far.sendall(block)

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    sent = os.urandom(3 << 20)
    began = time.monotonic()
    near.sendall(sent[:1])
    assert near.recv(1) == sent[:1]
    assert 0.04 <= time.monotonic() - began < 2
    writer = threading.Thread(target=near.sendall, args=(sent,), daemon=True)
    writer.start()
    got = b""
    while len(got) < len(sent):
        got += near.recv(1 << 16)
    assert got == sent
    for connection in (near, far, echo):
        connection.close()
    relay.stdout.close()
