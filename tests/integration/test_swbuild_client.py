# SPDX-License-Identifier: LGPL-3.0-or-later
"""swbuild's client against a real server, each protocol version.

swbuild-probe does single operations; what it wrote is looked at on the
backend, and what it read is compared with it.
"""

import json
import os
import pathlib
import subprocess
import time

import pytest

from harness.ganesha import Settings

PROBE = pathlib.Path(os.environ.get(
    "SCALE_MODULE", pathlib.Path(__file__).parents[2]
    / "build/fsal_scale/libfsalscale.so")).parents[1] \
    / "tests/swbuild/client/swbuild-probe"
VERSIONS = ("3", "4.0", "4.1")
READ, WRITE, CREATE, EXCL, TRUNCATE = 1, 2, 4, 8, 16
SET_MODE, SET_SIZE, SET_ATIME, SET_MTIME = 1, 2, 4, 8

pytestmark = [pytest.mark.scale_only, pytest.mark.xdist_group("VFS")]


class Probe:
    """A swbuild-probe in the server's namespace; called with a command."""

    def __init__(self, instance, version, *settings, export=None):
        export = export or instance.export.pseudo
        self.process = instance.ns.popen(
            PROBE, "127.0.0.1", export, version, *settings,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.mount = json.loads(self.process.stdout.readline())

    def __call__(self, *words):
        self.process.stdin.write("\t".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert answer.get("ordered", True)
        return answer

    def ok(self, *words):
        """The answer to a command that must succeed."""
        answer = self(*words)
        assert answer["status"] == "OK", (words, answer)
        return answer

    def end(self):
        """Unmount; the counters of before."""
        counters = self("counters")
        assert self("unmount")["status"] == "OK"
        self.process.stdin.close()
        assert self.process.wait(10) == 0
        self.process.stdout.close()
        return counters


@pytest.fixture(scope="module")
def server(instances):
    """The shared server over VFS."""
    return instances("VFS")


@pytest.fixture(params=VERSIONS)
def version(request):
    """Each protocol version."""
    return request.param


@pytest.fixture
def probe(server, version):
    """A mounted probe, and a directory of its own: (probe, path, on disk)."""
    name = f"client-{version}-{time.monotonic_ns()}"
    result = Probe(server, version, "connections=2")
    assert result.mount == {"mounted": True}
    result.ok("mkdir", name, 0o755)
    yield result, name, server.backend.directory / name
    if result.process.poll() is None:
        result.process.stdin.close()
        result.process.wait(10)
    result.process.stdout.close()


def test_names_and_attributes(probe):
    """Each operation on names does on the disk what it says."""
    ask, at, disk = probe
    made = ask.ok("mkdir", f"{at}/d", 0o700)["attrs"]
    here = os.stat(disk / "d")
    assert (made["type"], made["mode"], made["fileid"]) == (
        2, 0o700, here.st_ino)

    (disk / "f").write_text("text")
    os.utime(disk / "f", ns=(1_500_000_000_000_000_001, 1_600_000_000 * 10**9))
    here = os.stat(disk / "f")
    for command in ("lookup", "getattr"):
        attrs = ask.ok(command, f"{at}/f")["attrs"]
        assert attrs == {
            "type": 1, "mode": 0o644, "nlink": 1, "size": 4,
            "fileid": here.st_ino, "atime": here.st_atime_ns,
            "mtime": here.st_mtime_ns, "ctime": here.st_ctime_ns}

    ask.ok("setattr", f"{at}/f", SET_MODE, 0o640)
    assert os.stat(disk / "f").st_mode & 0o7777 == 0o640
    assert ask.ok("setattr", f"{at}/f", SET_SIZE, 3)["attrs"]["size"] == 3
    assert (disk / "f").read_text() == "tex"
    ask.ok("setattr", f"{at}/f", SET_ATIME | SET_MTIME, 1234567890)
    here = os.stat(disk / "f")
    assert (here.st_atime, here.st_mtime) == (1234567890, 1234567890)

    ask.ok("symlink", f"{at}/l", "some/where")
    assert os.readlink(disk / "l") == "some/where"
    assert ask.ok("readlink", f"{at}/l")["data"] == "some/where"
    ask.ok("link", f"{at}/f", f"{at}/d/h")
    assert os.stat(disk / "d/h").st_nlink == 2
    ask.ok("rename", f"{at}/d/h", f"{at}/g")
    assert sorted(os.listdir(disk)) == ["d", "f", "g", "l"]
    ask.ok("remove", f"{at}/g")
    ask.ok("rmdir", f"{at}/d")
    assert sorted(os.listdir(disk)) == ["f", "l"]
    assert ask("lookup", f"{at}/g")["status"].endswith("ERR_NOENT")
    assert ask("rmdir", f"{at}/f")["status"] in (
        "NFS3ERR_NOTDIR", "NFS4ERR_NOTDIR", "OK")
    assert ask.ok("access", f"{at}", 0x3f)["access"] & 0x1f == 0x1f


def test_listing(probe):
    """All pages of a directory, with and without attributes."""
    ask, at, disk = probe
    names = {f"file-{number:04}" for number in range(500)}
    for name in names:
        (disk / name).touch()
    for plus in (0, 1):
        answer = ask.ok("readdir", at, plus, 8192)
        assert set(answer["entries"]) == names and answer["pages"] > 1
        for name, entry in answer["entries"].items():
            here = os.stat(disk / name)
            assert entry["fileid"] == here.st_ino
            if plus:
                assert entry["attrs"]["mtime"] == here.st_mtime_ns
    listed = ask.ok("readdir", at, 1, 0)["entries"]
    assert all(entry["handle"] for entry in listed.values())


@pytest.mark.parametrize("size", (0, 3, 16384, 2_500_001))
def test_whole_files(probe, tmp_path, size):
    """What is written is on the disk, and what is read was there."""
    ask, at, disk = probe
    content, back = os.urandom(size), tmp_path / "back"
    (tmp_path / "content").write_bytes(content)
    wrote = ask.ok("write", f"{at}/new", "name", CREATE | EXCL, 0o604,
                   tmp_path / "content")
    assert wrote["count"] == size
    assert (disk / "new").read_bytes() == content
    assert os.stat(disk / "new").st_mode & 0o7777 == 0o604
    again = ask("write", f"{at}/new", "name", CREATE | EXCL, 0o604,
                tmp_path / "content")
    assert again["status"].endswith("ERR_EXIST")

    (disk / "old").write_bytes(content[::-1] + b"more")
    for way, hint in (("both", 0), ("both", size + 4), ("name", 0)):
        read = ask.ok("read", f"{at}/old", way, hint, back)
        assert read["count"] == size + 4
        assert back.read_bytes() == content[::-1] + b"more"
    for flags in (TRUNCATE, CREATE | TRUNCATE):
        (disk / "old").write_bytes(content + b"more")
        ask.ok("write", f"{at}/old", "both", flags, 0o644,
               tmp_path / "content")
        assert (disk / "old").read_bytes() == content
    counters = ask.end()
    assert counters["bad_seqids"] == counters["bad_slots"] == 0
    assert counters["reconnects"] == counters["pending"] == 0


def test_open_files(probe, version):
    """Opens, reads, writes and closes; the state ends with them."""
    ask, at, disk = probe
    (disk / "f").write_text("0123456789")
    opened = ask.ok("open", 1, f"{at}/f", "name", READ | WRITE, 0)
    assert opened["rpcs"] >= 1
    answer = ask.ok("pread", 1, 3, 4)
    assert (answer["data"], answer["eof"]) == ("3456", False)
    answer = ask.ok("pread", 1, 8, 100)
    assert (answer["data"], answer["eof"]) == ("89", True)
    assert ask.ok("pwrite", 1, 2, "XYZ", 0)["count"] == 3
    ask.ok("commit", 1)
    assert (disk / "f").read_text() == "01XYZ56789"
    ask.ok("open", 2, f"{at}/made", "name", WRITE | CREATE, 0o600)
    ask.ok("pwrite", 2, 0, "new", 1)
    assert (disk / "made").read_text() == "new"
    assert ask.ok("close", 1)["rpcs"] == (0 if version == "3" else 1)
    ask.ok("close", 2)
    assert ask("open", 3, f"{at}/none", "name", READ,
               0)["status"].endswith("ERR_NOENT")
    counters = ask.end()
    assert counters["confirms"] == (2 if version == "4.0" else 0)


def test_many_at_once(probe, server, version):
    """Many requests in flight on two connections: all are answered."""
    ask, at, disk = probe
    (disk / "f").write_text("content")
    for what, count in (("getattr", 3000), ("read", 300)):
        answer = ask.ok("many", what, f"{at}/f", count, 100)
        assert (answer["ended"], answer["failed"]) == (count, 0)
    counters = ask.end()
    assert counters["resent"] == 0
    if version == "4.1":  # of 100, no more than the server's slots
        assert counters["depth"] <= 64 < 100 and counters["waits"] > 0
    assert server.server.running and not server.server.crashes()


def test_credentials(server, version):
    """The server sees the uid and gid that the settings give."""
    directory = server.backend.directory / f"theirs-{version}"
    directory.mkdir()
    os.chown(directory, 4711, 4712)
    directory.chmod(0o700)
    mine = Probe(server, version, "uid=4711", "gid=4712")
    mine.ok("mkdir", f"{directory.name}/d", 0o755)
    here = os.stat(directory / "d")
    assert (here.st_uid, here.st_gid) == (4711, 4712)
    mine.end()
    other = Probe(server, version, "uid=4713", "gid=4713")
    refused = other("mkdir", f"{directory.name}/e", 0o755)
    assert refused["status"].endswith(("ERR_ACCES", "ERR_ACCESS"))
    other.end()


def refusal(instance, version, *settings, export=None):
    """What the client says of a mount that fails."""
    refused = Probe(instance, version, *settings, export=export)
    assert refused.mount["mounted"] is False
    assert refused.process.wait(10) == 1
    refused.process.stdin.close()
    refused.process.stdout.close()
    return refused.mount["error"]


def test_refused_exports(server, version):
    """An export that is not there, a port where nobody is."""
    error = refusal(server, version, export="/none")
    assert "127.0.0.1" in error and "/none" in error
    assert ("MNT3ERR_" if version == "3" else "NFS4ERR_NOENT") in error
    error = refusal(server, version, "port=2047", "mount_port=2047")
    assert "cannot connect to 127.0.0.1 port 2047" in error
    assert "Connection refused" in error and "--port" in error


@pytest.mark.parametrize("settings, refused, why", (
    ({"minor_versions": "0"}, ("4.1",), "NFS4ERR_MINOR_VERS_MISMATCH"),
    ({"minor_versions": "1"}, ("4.0",), "NFS4ERR_MINOR_VERS_MISMATCH"),
    ({"protocols": "3"}, ("4.0", "4.1"), "versions 3 to 3"),
))
def test_refused_versions(own_instance, settings, refused, why):
    """A version that the server does not serve is named, and the remedy."""
    instance = own_instance("VFS", settings=Settings(**settings))
    for version in refused:
        error = refusal(instance, version)
        assert f"NFSv{version}" in error and why in error
        assert "127.0.0.1 port 2049" in error and "--version" in error
    served = Probe(instance, "3")
    assert served.mount == {"mounted": True}
    served.end()


@pytest.mark.parametrize("version", VERSIONS)
def test_server_restart(own_instance, version):
    """A server that is killed and started again: the client goes on."""
    instance = own_instance("VFS", settings=Settings(
        nfsv4="Lease_Lifetime = 5; Grace_Period = 6;"))
    disk = instance.backend.directory
    (disk / "f").write_text("0123456789")
    ask = Probe(instance, version)
    ask.ok("open", 1, "f", "name", READ | WRITE, 0)
    instance.server.kill()
    instance.server.start()
    ask.ok("pwrite", 1, 0, "after", 1)
    assert (disk / "f").read_text() == "after56789"
    ask.ok("close", 1)
    ask.ok("mkdir", "d", 0o755)
    counters = ask.end()
    assert counters["reconnects"] >= 1
    if version != "3":
        assert counters["clientids"] >= 1 and counters["reopened"] == 1
