# SPDX-License-Identifier: LGPL-3.0-or-later
"""The printed mount lines are true, and the end is clean."""

import pathlib
import signal

import pytest

from conftest import TOP
from harness.kclient import KernelClient
from harness.wait import wait_for

VERSIONS = ("3", "4.0", "4.1")


def nfs_url(options, source, path=""):
    """The libnfs URL for a mount line."""
    host, _, export = source.partition(":")
    url = (f"nfs://{host}{export}{path}?version={options['vers'][0]}"
           f"&nfsport={options['port']}")
    if options["vers"] == "3":
        url += f"&mountport={options['mountport']}"
    return url


def nfs_list(machine, options, source):
    """The names in the export's root, as libnfs sees them."""
    listing = machine.ns.run("nfs-ls", nfs_url(options, source)).stdout
    return {line.split()[-1] for line in listing.splitlines()}


def nfs_copy(machine, local, options, source, name):
    """Write a file through NFS."""
    machine.ns.run("nfs-cp", local, nfs_url(options, source, f"/{name}"))


@pytest.mark.parametrize("version", ["3", "4.0"])
def test_library_client_reads_and_writes(machine, version):
    directory = machine.directory()
    (directory / "there").write_text("hello\n")
    mounts = machine.serve(directory).mounts(VERSIONS)
    assert tuple(mounts) == VERSIONS
    options, source = mounts[version]
    assert nfs_list(machine, options, source) == {"there"}
    local = machine.folder / "local"
    # nfs-cp fails by NFSv4 on larger files, on Ganesha without SCALE too.
    local.write_bytes(b"data" * 25)
    nfs_copy(machine, local, options, source, "written")
    assert (directory / "written").read_bytes() == local.read_bytes()


def test_kernel_client_mounts_each_line(machine):
    directory = machine.directory()
    client = KernelClient(machine.ns, machine.folder / "client")
    try:
        mounts = machine.serve(directory).mounts(VERSIONS)
        for version in VERSIONS:
            options, source = mounts[version]
            assert options["vers"] == version
            (directory / f"for-{version}").write_text(f"{version}\n")
            path = client.call(
                "mounts:mount", server=client.gateway,
                export=source.partition(":")[2], version=version, options="",
                port=int(options["port"]),
                mount_port=int(options.get("mountport", 0)))
            content = client.call("linecache:getline", lineno=1,
                                  filename=f"{path}/for-{version}")
            assert content == f"{version}\n"
            client.unmount(path)
    finally:
        client.stop()


def test_memory_backend(machine):
    mounts = machine.serve("--backend", "MEM").mounts(VERSIONS)
    local = machine.folder / "local"
    local.write_bytes(b"memory" * 1000)
    options, source = mounts["3"]
    nfs_copy(machine, local, options, source, "kept")
    options, source = mounts["4.0"]
    back = machine.folder / "back"
    machine.ns.run("nfs-cp", nfs_url(options, source, "/kept"), back)
    assert back.read_bytes() == local.read_bytes()


def test_proxy_backend(machine):
    # Ganesha resolves no address on a machine that has but loopback.
    machine.ns.run("ip", "addr", "add", "10.79.0.1/32", "dev", "lo")
    directory = machine.directory()
    (directory / "behind").write_text("x")
    behind = machine.serve(directory, "--port", "3049")
    behind.mounts(VERSIONS)
    front = machine.serve("/scale", "--backend", "PROXY_V4", "--server",
                          "127.0.0.1:3049")
    options, source = front.mounts(VERSIONS)["4.0"]
    assert nfs_list(machine, options, source) == {"behind"}


def test_default_directory_is_made(machine):
    made = TOP / "build/export"
    options, source = machine.serve().mounts(VERSIONS)["3"]
    assert "README" in nfs_list(machine, options, source)
    assert "ci/serve" in (made / "README").read_text()


@pytest.mark.parametrize("minors", ["0", "1", "0,1"])
def test_only_served_versions_are_printed(machine, minors):
    served = ["3", *(f"4.{minor}" for minor in minors.split(","))]
    run = machine.serve(machine.directory(), "--minor-versions", minors)
    assert list(run.mounts(served)) == served
    run.end(signal.SIGTERM)
    assert list(run.mounts([])) == served


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stop_leaves_nothing(machine, number):
    before = machine.state()
    run = machine.serve(machine.directory())
    options, source = run.mounts(VERSIONS)["3"]
    nfs_list(machine, options, source)
    assert run.end(number) == 0, run.output
    assert run.output.endswith("ci/serve: stopped")
    assert machine.state() == before


def test_machine_is_left_alone_while_serving(machine):
    before = machine.state()
    machine.serve(machine.directory()).mounts(VERSIONS)
    during = machine.state()
    for what in ("registrations", "mounts", "run", "recovery"):
        assert during[what] == before[what]
    new = set(during["listeners"]) - set(before["listeners"])
    assert {address.rpartition(":")[2] for address in new} == {
        "2049", "2050"}


def test_can_run_again_at_once(machine):
    directory = machine.directory()
    (directory / "there").write_text("hello\n")
    for _ in range(3):
        run = machine.serve(directory)
        options, source = run.mounts(VERSIONS)["3"]
        assert nfs_list(machine, options, source) == {"there"}
        assert run.end(signal.SIGTERM) == 0, run.output


def test_two_at_a_time(machine):
    directories = [machine.directory() for _ in range(2)]
    for number, directory in enumerate(directories):
        (directory / f"file{number}").write_text("x")
    runs = [machine.serve(directories[0]),
            machine.serve(directories[1], "--port", "4049")]
    for number, run in enumerate(runs):
        options, source = run.mounts(VERSIONS)["4.0"]
        assert nfs_list(machine, options, source) == {f"file{number}"}


def test_killed_command_takes_the_server_with_it(machine):
    before = machine.state()
    run = machine.serve(machine.directory())
    run.mounts(VERSIONS)
    run.end(signal.SIGKILL)
    # The kernel ends them, one after another.
    wait_for(lambda: machine.state()["programs"] == before["programs"], 10,
             "the server's programs to be gone")
    after = machine.state()
    for folder in set(after.pop("build")) - set(before.pop("build")):
        # A killed program cannot remove its folder.
        for path in sorted(pathlib.Path(TOP / "build" / folder).rglob("*"),
                           reverse=True):
            path.rmdir() if path.is_dir() and not path.is_symlink() \
                else path.unlink()
        (TOP / "build" / folder).rmdir()
    assert after == before
