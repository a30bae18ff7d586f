# SPDX-License-Identifier: LGPL-3.0-or-later
"""ci/serve says plainly why it does not serve, and what to do."""

import pytest

from conftest import TOP


def test_port_taken_says_by_whom(machine):
    first = machine.serve(machine.directory())
    first.mounts(["3"])
    status, output = machine.refused(machine.directory())
    assert status == 1
    assert "port 2049" in output and "ganesha.nfsd (process " in output
    assert "--port" in output


def test_mount_port_taken(machine):
    listener = machine.ns.listen("0.0.0.0", 3050)
    with listener:
        status, output = machine.refused("--port", "3049")
    assert status == 1
    assert "port 3050, wanted for the MOUNT service" in output


def test_missing_directory(machine):
    path = machine.folder / "missing"
    status, output = machine.refused(path)
    assert status == 1
    assert f"there is no directory {path}" in output and "mkdir" in output


def test_not_a_directory(machine):
    path = machine.folder / "file"
    path.write_text("x")
    status, output = machine.refused(path)
    assert status == 1
    assert f"{path} is not a directory" in output


def test_file_system_without_handles(machine):
    """An overlay, as the root of a container is."""
    machine.ns.run("bash", "-c",
                   "mkdir /run/layers && mount -t tmpfs layers /run/layers &&"
                   " cd /run/layers && mkdir lower upper work &&"
                   " mount -t overlay overlay -o "
                   "lowerdir=lower,upperdir=upper,workdir=work /mnt")
    status, output = machine.refused("/mnt")
    assert status == 1
    assert "/mnt is on a file system (overlayfs) that gives no file handles" \
        in output
    assert "volume" in output


def test_directory_that_the_server_does_not_see(machine):
    machine.ns.run("mkdir", "/run/exported")
    status, output = machine.refused("/run/exported")
    assert status == 1
    assert "/run/exported is not visible to the server" in output


def test_not_root(machine):
    result = machine.ns.run("setpriv", "--reuid=65534", "--regid=65534",
                            "--clear-groups", TOP / "ci/serve", "--port",
                            "3049", check=False)
    assert result.returncode == 1
    assert "only root" in result.stdout
    assert "sudo ci/serve --port 3049" in result.stdout


def test_server_behind_does_not_answer(machine):
    status, output = machine.refused("--backend", "PROXY_V4", "--server",
                                     "127.0.0.1:3049")
    assert status == 1
    assert "no NFSv4 server answers at 127.0.0.1:3049" in output


@pytest.mark.parametrize("arguments, part", [
    (["--port", "0"], '"0" is not a port'),
    (["--port", "65535"], '"65535" is not a port'),
    (["--port", "http"], '"http" is not a port'),
    (["--minor-versions", "2"], '"2" is not a list of NFSv4 minor versions'),
    (["--minor-versions", "0,0"], "minor versions"),
    (["--backend", "NTFS"], "NTFS"),
    (["--backend", "PROXY_V4"], "--server"),
    (["--server", "localhost"], "PROXY_V4 only"),
    (["--backend", "MEM", "/srv"], "no directory"),
    (["--frobnicate"], "--frobnicate"),
    (["/srv", "/home"], "/home"),
])
def test_wrong_usage(machine, arguments, part):
    status, output = machine.refused(*arguments)
    assert status == 64
    assert part in output and "ci/serve --help" in output


def test_help(machine):
    status, output = machine.refused("--help")
    assert status == 0
    for option in ("--port", "--minor-versions", "--backend", "--server"):
        assert option in output
