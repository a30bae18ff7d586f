# SPDX-License-Identifier: LGPL-3.0-or-later
"""The load client swbuild: its load arrives, and its figures fit together.

The server is the distribution's, with FSAL FAULT over FSAL_VFS, so that it can
be made slow and faulty.  Loads are small and short; nothing depends on speed.
"""

import csv
import json
import os
import pathlib
import signal
import subprocess
from xml.etree import ElementTree

import pytest

from backends.fault import FaultOver
from backends.vfs import Vfs
from harness.ganesha import MOUNT_PORT, PORT, Settings, Stack
from harness.instance import Instance
from harness.namespace import child_of
from harness.nfs import VERSIONS, connect
from harness.wait import wait_for

SWBUILD = pathlib.Path(os.environ.get(
    "SCALE_MODULE", pathlib.Path(__file__).parents[2]
    / "build/fsal_scale/libfsalscale.so")).parents[1] / "tests/swbuild/swbuild"
# A process has so many files at this scale, all in one directory.
SCALE, FILES = 0.004, 20

pytestmark = [pytest.mark.scale_only, pytest.mark.xdist_group("FAULT")]


@pytest.fixture(scope="module")
def server(folder):
    """A stock server over FAULT and FSAL_VFS; NFSv4.2 is not served."""
    rundir = folder("swbuild")
    backend = FaultOver(rundir, Vfs(rundir))
    instance = Instance(rundir, Stack("stock"), backend,
                        Settings(minor_versions="1,0"))
    instance.exported = rundir / "exported"
    yield instance
    instance.stop()


@pytest.fixture
def fault(server, report):
    """FAULT's control; it does nothing before and after."""
    report(server)
    with server.backend.control() as control:
        control.clear()
        yield control
        control.clear()


@pytest.fixture
def swbuild(server, fault, tmp_path):
    """swbuild(option, ...): (exit status, output, the JSON or None)."""
    def run(*options, export=None, port=PORT):
        result = tmp_path / "run.json"
        done = server.ns.run(
            SWBUILD, "--server", "127.0.0.1", "--export",
            export or server.export.pseudo, "--port", port, "--mount-port",
            MOUNT_PORT, "--scale", SCALE, "--warmup", 0.2, "--time", 1,
            "--json", result, *options, check=False)
        report = json.loads(result.read_text()) if result.exists() else None
        return done.returncode, done.stdout, report

    return run


def files_of(directory, processes):
    """Sizes of the set's files, by path; fails if anything else is there."""
    assert sorted(os.listdir(directory)) == [
        *(f"p{number:05}" for number in range(processes)), "swbuild.json"]
    sizes = {}
    for number in range(processes):
        home = directory / f"p{number:05}"
        assert os.listdir(home) == ["d00"]
        names = os.listdir(home / "d00")
        assert sorted(names) == [f"f{file:03}" for file in range(FILES)]
        sizes |= {path: path.stat().st_size
                  for path in (home / "d00").iterdir()}
    return sizes


def handle(client, *names):
    """The handle of a path below the export's root."""
    found = client.root
    for name in names:
        found = client.lookup(found, name.encode()).handle
    return found


def check_summary(summary):
    assert 0 < summary["p50"] <= summary["p99"] <= summary["max"]
    assert 0 < summary["mean"] <= summary["max"]


def check_point(point):
    """What must fit together, whatever the speed was."""
    operations = point["operations"].values()
    assert sum(op["ops"] for op in operations) == point["ops"] > 0
    assert sum(op["errors"] for op in operations) == point["errors"]
    assert sum(point["statuses"].values()) == point["errors"]
    assert point["achieved_rate"] == pytest.approx(
        point["ops"] / point["seconds"])
    assert point["requests"] >= point["ops"]
    assert point["valid"] == (not point["reasons"])
    assert point["client_cpu_us_per_op"] > 0
    for part in (point, *operations):
        if part["ops"]:
            check_summary(part["response_ms"])
            check_summary(part["service_ms"])
            assert (part["service_ms"]["mean"]
                    <= part["response_ms"]["mean"] * 1.001)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_run(server, swbuild, tmp_path, version):
    """Two points by two threads; the set is what the report says."""
    pid = server.ns.run("cat", "/run/ganesha/ganesha.pid").stdout.strip()
    status, output, report = swbuild(
        "--nfs", version, "--builds", "0.4-0.8:0.4", "--threads", 2,
        "--connections", 2, "--server-pid", pid, "--csv", tmp_path / "run.csv",
        "--plot", tmp_path / "run.png", "--limit", 10000, "--least-rate", 1)
    assert status == 0 and report["ok"], output
    assert report["server"]["nfs"] == version
    assert [point["builds"] for point in report["points"]] == [0.4, 0.8]
    assert [point["asked_rate"] for point in report["points"]] == [200, 400]
    for point in report["points"]:
        check_point(point)
        assert point["server_cpu_us_per_op"] > 0
        assert 0 <= point["client_late_ms"]["mean"]
    assert report["last_valid"]["point"] == 1

    stated = report["set"]
    assert stated["scale"] == SCALE and not stated["full"]
    assert stated["processes"] == 4 and stated["files"] == 4 * FILES
    sizes = files_of(server.exported / "swbuild", 4)
    assert 8192 < sum(sizes.values()) / len(sizes) < 24576
    assert len(set(sizes.values())) > len(sizes) / 2

    assert (tmp_path / "run.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    with open(tmp_path / "run.csv", encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["ops"]) for row in rows if row["operation"] == "all"] == [
        point["ops"] for point in report["points"]]
    assert "scale 0.004" in output and "Last valid point: 0.8" in output


def test_the_mix_make(swbuild):
    """Half of it is for names that do not exist; that is no error."""
    status, output, report = swbuild(
        "--mix", "make", "--builds", "0.4", "--version", "4.1", "--limit",
        10000, "--least-rate", 1)
    assert status == 0, output
    assert report["server"]["nfs"] == "4.1"
    point, = report["points"]
    check_point(point)
    assert point["operations"]["open_negative"]["ops"] > point["ops"] / 4


def test_a_set_is_used_again(server, swbuild):
    """Once more, with more processes; what is missing is made again."""
    everything = ("--builds", "0.4", "--limit", 10000, "--least-rate", 1)
    assert swbuild(*everything)[0] == 0
    directory = server.exported / "swbuild"
    before = files_of(directory, 2)
    # By the server, which would not see it at once if it were done beside it.
    client = connect(server, "3")
    home = handle(client, "swbuild", "p00001", "d00")
    assert client.remove(home, b"f003").status == 0
    assert client.setattr(handle(client, "swbuild", "p00000", "d00", "f004"),
                          size=0).status == 0
    assert client.mkdir(home, b"m7").status == 0
    client.close()
    status, output, report = swbuild("--reuse", "--builds", "0.6",
                                     *everything[2:])
    assert status == 0 and report["set"]["reused"], output
    after = files_of(directory, 3)
    assert {path: after[path] for path in before} == before

    # One that is trusted is not looked at.
    client = connect(server, "3")
    client.remove(handle(client, "swbuild", "p00001", "d00"), b"f003")
    client.close()
    report = swbuild("--trust", *everything)[2]
    assert report["set"]["reused"]
    assert len(os.listdir(directory / "p00001/d00")) == FILES - 1

    # Another seed is another set.
    report = swbuild("--reuse", "--seed", 2, "--remove", *everything)[2]
    assert not report["set"]["reused"]
    assert not directory.exists()


def test_an_interruption(server, fault, tmp_path):
    """The set is whole after it."""
    with open(tmp_path / "output", "w+b") as output:
        process = server.ns.popen(
            SWBUILD, "--server", "127.0.0.1", "--export",
            server.export.pseudo, "--port", PORT, "--mount-port", MOUNT_PORT,
            "--scale", SCALE, "--builds", "0.4", "--time", 60, "--directory",
            "broken", "--progress", "--json", tmp_path / "run.json",
            stdout=output, stderr=output)
        wait_for(lambda: b"to go" in (tmp_path / "output").read_bytes(), 20,
                 "the load")
        os.kill(child_of(process.pid), signal.SIGINT)
        assert process.wait(20) == 130
    assert "interrupted" in (tmp_path / "output").read_text()
    assert not (tmp_path / "run.json").exists()
    assert min(files_of(server.exported / "broken", 2).values()) > 0


def test_a_foreign_directory_is_not_touched(server, swbuild):
    (server.exported / "mine").mkdir()
    (server.exported / "mine/file").write_text("mine")
    status, output, report = swbuild("--directory", "mine", "--builds", "0.2")
    assert (status, report) == (2, None)
    assert "--directory" in output
    assert os.listdir(server.exported / "mine") == ["file"]


def test_errors_make_a_point_invalid(swbuild, fault):
    """They are counted by their status; the exit status tells."""
    assert swbuild("--builds", "0.4")[0] in (0, 1)
    fault.fail("setattr2", "IO")
    status, output, report = swbuild("--reuse", "--builds", "0.4", "--past",
                                     1, "--limit", 10000, "--least-rate", 1)
    assert status == 1 and not report["ok"], output
    point, = report["points"]
    check_point(point)
    assert point["reasons"] == ["errors"] and "last_valid" not in report
    assert list(point["statuses"]) == ["NFS3ERR_IO"]
    assert point["operations"]["chmod"]["ops"] == 0
    assert "NFS3ERR_IO" in output and "No point was valid" in output


def test_overload_bends_the_curve(swbuild, fault, tmp_path):
    """A server that can do so much: the climb ends past it."""
    assert swbuild("--builds", "0.8")[0] in (0, 1)
    # At 0.4 BUILDs the mix has 54 changes and reads a second.
    fault.capacity(40)
    status, output, report = swbuild(
        "--reuse", "--builds", "0.4-0.8:0.1", "--past", 2, "--plot",
        tmp_path / "run.svg")
    assert status == 1, output
    assert [point["builds"] for point in report["points"]] == [0.4, 0.5]
    for point in report["points"]:
        check_point(point)
        assert "response time" in point["reasons"]
    assert b"<svg" in (tmp_path / "run.svg").read_bytes()[:500]


def test_several_runs_in_one_picture(swbuild, tmp_path):
    files = []
    for label in ("one", "it's <two>"):
        report = swbuild("--reuse", "--builds", "0.2", "--label", label)[2]
        files.append(tmp_path / f"{len(files)}.json")
        files[-1].write_text(json.dumps(report))
    subprocess.run([SWBUILD, "plot", *files, "-o", tmp_path / "both.svg"],
                   check=True)
    texts = [text.strip() for text in
             ElementTree.parse(tmp_path / "both.svg").getroot().itertext()]
    assert "one" in texts and "it's <two>" in texts
    assert any("scale 0.004" in text for text in texts)

    (tmp_path / "other.json").write_text("{}")
    done = subprocess.run(
        [SWBUILD, "plot", tmp_path / "other.json", "-o", tmp_path / "a.png"],
        stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2 and "other.json" in done.stderr


@pytest.mark.parametrize("version", VERSIONS)
def test_refusals(swbuild, version):
    """What the server refuses is named, and nothing is measured."""
    status, output, report = swbuild("--nfs", version, export="/nowhere")
    assert (status, report) == (2, None)
    assert "/nowhere" in output
    status, output, report = swbuild("--nfs", version, port=4)
    assert (status, report) == (2, None)
    assert "127.0.0.1" in output


def test_a_user_who_may_not(server, swbuild):
    server.exported.chmod(0o755)
    status, output, report = swbuild("--uid", 1000, "--gid", 1000,
                                     "--directory", "other")
    server.exported.chmod(0o1777)
    assert (status, report) == (2, None)
    assert "NFS3ERR_ACCES" in output and "--uid" in output


@pytest.mark.parametrize("options, complaint", [
    (["--export", "/a"], "--server"),
    (["--server", "a"], "--export"),
    (["--server", "a", "--export", "/a", "--nfs", "5"], "4.1"),
    (["--server", "a", "--export", "/a", "--version=2"], "4.1"),
    (["--server", "a", "--export", "/a", "--builds", "4-1"], "--builds"),
    (["--server", "a", "--export", "/a", "--mix", "/none"], "swbuild and"),
    (["--server", "a", "--export", "/a", "--plot", "a.jpg"], ".png"),
    (["--server", "a", "--export", "/a", "--scale", "0"], "--scale"),
    (["--server", "a", "--export", "/a", "more"], "more"),
    (["--speed"], "--speed"),
    (["plot", "-o", "a.png"], "which runs"),
])
def test_wrong_usage(options, complaint):
    done = subprocess.run([SWBUILD, *options], stderr=subprocess.PIPE,
                          text=True, check=False)
    assert done.returncode == 64 and complaint in done.stderr


def test_version_and_help():
    def ask(option):
        return subprocess.run([SWBUILD, option], stdout=subprocess.PIPE,
                              text=True, check=True).stdout

    assert ask("--version").startswith("swbuild 0.")
    assert "--builds" in ask("--help")
