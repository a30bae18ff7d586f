# SPDX-License-Identifier: LGPL-3.0-or-later
"""The control socket of a real server, scalectl stats, and ganesha_stats."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

import pytest

from harness.ganesha import (MOUNT_PORT, PORT, Export, Ganesha, Settings,
                             Stack)
from harness.namespace import Namespace, child_of
from harness.wait import wait_for

pytestmark = [pytest.mark.scale_only, pytest.mark.xdist_group("control")]

PROJECT = pathlib.Path(__file__).parents[2]
SOCKET = "/run/ganesha-scale/control"
VFS = "FSAL { Name = VFS; }"
SCALE = 'maxFilesToCache = 5000; maxStatCache = 7000; pagepool = "16M";'


class Served:
    """A server with two exports, and scalectl beside it."""

    def __init__(self, folder, stack):
        self.rundir = folder("control")
        self._uses = 0
        self.namespace = Namespace(self.rundir / "ns")
        self.config = self.rundir / "config"
        # Where nobody may read it, whatever folder this is run in.
        shutil.copytree(PROJECT / "config", self.config,
                        ignore=shutil.ignore_patterns("__pycache__"))
        # The version.
        shutil.copy(PROJECT / "CMakeLists.txt", self.rundir)
        exports = []
        for number, name in enumerate(("first", "second"), 1):
            (self.rundir / name).mkdir()
            exports.append(Export(number, f"/{name}", VFS,
                                  path=str(self.rundir / name)))
        self.server = Ganesha(self.namespace, self.rundir / "server",
                              Stack("scale", stack.module, SCALE), exports,
                              Settings())

    def stop(self):
        self.server.kill()
        self.namespace.stop()

    def command(self, *arguments):
        return [self.config / "scalectl/scalectl", *map(str, arguments)]

    def scalectl(self, *arguments, before=(), code=0):
        """Run scalectl to its end; its output, JSON where that was asked."""
        result = self.namespace.run(*before, *self.command(*arguments),
                                    check=False)
        assert result.returncode == code, result.stdout
        if "--json" in arguments:
            return json.loads(result.stdout)
        return result.stdout

    def use(self, pseudo, version=3):
        """Make a file by NFS, and see it in its place."""
        self._uses += 1
        name = f"file {self._uses}"
        ports = f"version={version}&nfsport={PORT}"
        if version == 3:
            ports += f"&mountport={MOUNT_PORT}"
        self.namespace.run("nfs-cp", self.rundir / "CMakeLists.txt",
                           f"nfs://127.0.0.1{pseudo}/{name}?{ports}")
        assert self.rundir.joinpath(pseudo[1:], name).stat().st_size > 0

    @contextlib.contextmanager
    def connection(self):
        """A connection to the control socket, from outside the namespace."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(15)
            connection.connect(f"/proc/{self.namespace.pid}/root{SOCKET}")
            yield connection

    def path(self, name):
        """A path of the namespace, seen from here."""
        return pathlib.Path(f"/proc/{self.namespace.pid}/root{name}")


@pytest.fixture(scope="module")
def shared(folder, stack):
    """One server for the tests that do not stop it."""
    served = Served(folder, stack)
    try:
        served.server.start()
        yield served
    finally:
        served.stop()


@pytest.fixture
def served(shared, report):
    report(shared.server)
    yield shared
    assert shared.server.running
    assert not shared.server.crashes()


@pytest.fixture
def own(folder, stack, report):
    """A server for one test, not yet started."""
    served = Served(folder, stack)
    report(served.server)
    yield served
    served.stop()


# The pagepool, and what entries of the stat tier and names take besides.
BYTES = (16 << 20) + 7000 * (136 + 48) + 5000 * 48


def requests(counted):
    """The sum of all requests that are counted in an answer's part."""
    return sum(sum(outcomes.values())
               for outcomes in counted["requests"].values())


def test_what_is_counted(served):
    before = served.scalectl("stats", "--json")
    assert before["ok"] and not before["warnings"]
    assert before["server"]["pid"] == int(
        served.path("/run/ganesha/ganesha.pid").read_text())
    assert 0 < time.time() - before["server"]["started"] < 3600
    assert before["cache"]["limits"] == {
        "maxFilesToCache": 5000, "maxStatCache": 7000, "bytes": BYTES}
    assert [(one["id"], one["path"], one["backend"])
            for one in before["exports"]] == [
        (number, str(served.rundir / name), "VFS")
        for number, name in enumerate(("first", "second"), 1)]

    for version in (3, 4):
        served.use("/first", version)
    after = served.scalectl("stats", "--json")
    gained = [requests(new) - requests(old) for new, old
              in zip(after["exports"], before["exports"])]
    assert gained[0] > 0 and gained[1] == 0
    assert requests(after["total"]) - requests(before["total"]) == gained[0]
    calls = after["total"]["calls"]
    assert calls and all(
        0 < call["p50_us"] <= call["p99_us"] <= call["max_us"]
        and call["mean_us"] * call["count"] == pytest.approx(call["sum_us"])
        and call["errors"] <= call["count"] for call in calls.values())
    assert set(after["cache"]["counters"]) \
        == set(after["meanings"]["counters"])


def test_tables(served):
    served.use("/second")
    text = served.scalectl("stats")
    for words in ("5,000", "7,000", "17.5M", "promotions", "demotions",
                  "evictions", "from memory", "negative", "expired",
                  "calls to the backend", "invalidations by", "p99",
                  "all exports", "export 1", "export 2", "(VFS)"):
        assert words in text
    one = served.scalectl("stats", "--export", 2)
    assert "export 2" in one and "export 1" not in one
    wrong = served.scalectl("stats", "--export", 3, code=2)
    assert "no export 3" in wrong and "1, 2" in wrong


def test_watching(served):
    with subprocess.Popen(
            served.namespace.command(*served.command(
                "stats", "--watch", "0.2")),
            stdout=subprocess.PIPE, text=True) as watch:
        pid = child_of(watch.pid)
        seen = []
        wait_for(lambda: seen.append(watch.stdout.readline())
                 or "by the second" in seen[-1], 20, "rates")
        served.use("/first")
        os.kill(pid, signal.SIGINT)
        seen.append(watch.stdout.read())
        assert watch.wait(10) == 0
    assert "all/s" in seen[-1]


def test_who_is_not_root_is_told(served):
    said = served.scalectl(
        "stats", before=("setpriv", "--reuid", "65534", "--regid", "65534",
                         "--clear-groups"), code=5)
    assert "run scalectl as root" in said


def test_modes_and_umask(served):
    directory = served.path("/run/ganesha-scale")
    assert directory.stat().st_mode & 0o7777 == 0o700
    assert served.path(SOCKET).stat().st_mode & 0o7777 == 0o600
    status = pathlib.Path(f"/proc/{served.server.pid}/status").read_text()
    # What Ganesha has set it to; files get the mode that clients ask for.
    assert "Umask:\t0000" in status
    names = [path.read_text().strip() for path in pathlib.Path(
        f"/proc/{served.server.pid}/task").glob("*/comm")]
    assert names.count("scale-control") == 1


def test_hostile_clients(served):
    for garbage in (b"\0" * 4096 + b"\n", b"x" * (1 << 20), b"[" * 4000
                    + b"\n", b'{"scale": 1, "command": "stop"}\n', b"{"):
        with served.connection() as connection:
            # The server hangs up on the long ones.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.sendall(garbage)
    with contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(served.connection())
                 for _ in range(100)]
        # Those who got in keep silent; clients of NFS do not notice.
        served.use("/first")
        refused = [json.loads(connection.makefile().readline())
                   for connection in crowd[-50:]]
        assert all(not answer["ok"] and "too many" in answer["error"]
                   for answer in refused)
        said = served.scalectl("stats", code=5)
        assert "too many" in said
    assert wait_for(lambda: served.namespace.run(
        *served.command("stats", "--json"), check=False).returncode == 0,
        10, "the server to notice that its clients are gone")


def test_end_and_crash(own):
    said = own.scalectl("stats", code=5)
    assert "no server answers" in said and "start the server" in said
    own.server.start()
    own.scalectl("stats")
    # A crash leaves the socket; the next server takes its place.
    own.server.kill()
    assert own.path(SOCKET).is_socket()
    assert "no server answers" in own.scalectl("stats", code=5)
    own.server.start()
    own.scalectl("stats")
    assert own.server.stop() == 0
    assert not own.path(SOCKET).exists()
    assert own.scalectl("stats", "--json", code=5)["error"]["remedy"]


def test_removed_export_stays_in_the_total(own):
    own.server.start()
    own.use("/second")
    before = own.scalectl("stats", "--json")["total"]
    own.server.remove_export(2)
    after = own.scalectl("stats", "--json")
    assert [one["id"] for one in after["exports"]] == [1]
    assert requests(after["total"]) >= requests(before) > 0
    assert own.server.stop() == 0


@pytest.mark.parametrize("mistake", ("mode", "owner", "link"))
def test_unsafe_directory(own, mistake):
    """No socket there, a message that says why, and exports served."""
    directory = own.path("/run/ganesha-scale")
    directory.mkdir(mode=0o700)
    if mistake == "mode":
        directory.chmod(0o755)
        words = "make it 0700"
    elif mistake == "owner":
        os.chown(directory, 65534, 65534)
        words = "belongs to user 65534"
    else:
        directory.rename(directory.with_name("elsewhere"))
        directory.symlink_to("elsewhere")
        words = "symbolic link"
    own.server.start()
    own.server.wait_log(f"WARN.*no control socket.*{words}")
    assert "no server answers" in own.scalectl("stats", code=5)
    own.use("/first")
    assert own.server.stop() == 0


@pytest.fixture(scope="module")
def ganesha_stats(folder):
    """The command of Debian's package, which needs a desktop's libraries
    besides, so that it is unpacked and not installed."""
    place = folder("ganesha-stats")
    for command in (["apt-get", "-q", "download", "python3-nfs-ganesha"],
                    ["sh", "-c", "dpkg-deb -x *.deb ."]):
        done = subprocess.run(command, cwd=place, check=False, timeout=120,
                              stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT)
        assert done.returncode == 0, done.stdout
    return ["env", f"PYTHONPATH={place}/usr/lib/python3/dist-packages",
            "/usr/bin/python3", place / "usr/bin/ganesha_stats"]


def test_ganesha_stats(own, ganesha_stats):
    def run(*arguments):
        return own.namespace.run(*ganesha_stats, *arguments).stdout

    def rows(text):
        """{name: (count, mean, shortest, longest)}"""
        return {found[1]: tuple(map(float, found[2].split())) for found
                in re.finditer(r"^(\w+) +(\d+(?: +\d+\.\d+){3})$", text, re.M)}

    own.server.start()
    assert "disabled" in run("fsal", "SCALE")
    assert "Successfully" in run("enable", "fsal")
    # Another FSAL has none, as before.
    assert "do not support" in run("fsal", "VFS")
    own.use("/first")
    first = rows(run("fsal", "SCALE"))
    assert sum(first[name][0] for name in first
               if name.startswith("request_")) > 0
    calls = {name: row for name, row in first.items()
             if name.startswith("call_")}
    assert calls
    for count, mean, shortest, longest in calls.values():
        assert count > 0 and 0 < mean <= longest and shortest <= longest
    assert first["cache_bytes"][0] > 0

    run("reset")
    second = rows(run("fsal", "SCALE"))
    assert second["request_miss"][0] < first["request_miss"][0]
    total = own.scalectl("stats", "--json")["total"]
    assert requests(total) >= sum(
        first[name][0] for name in first if name.startswith("request_"))
    assert own.server.stop() == 0
