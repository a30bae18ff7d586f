# SPDX-License-Identifier: LGPL-3.0-or-later
"""Programs at work on the mount: a compiler, dbench, and fio that verifies."""

import fcntl
import hashlib
import subprocess

import pytest

from backends import BACKENDS
from harness import debsource

VERSIONS = ("3", "4.0", "4.1")
# One version has to do where everything takes long.
SLOW = {"CEPH", "GLUSTER"}
LUA_PROGRAM = """
local primes, sieve = 0, {}
for n = 2, 20000 do
  if not sieve[n] then
    primes = primes + 1
    for m = n * n, 20000, n do sieve[m] = true end
  end
end
print(primes, ("scale"):rep(3, "-"), 2^53 // 1 | 0)
"""
LUA_ANSWER = "2262\tscale-scale-scale\t9007199254740992\n"
MAKE = ("make", "-s", "-C", "src", "CC=tcc", "SYSCFLAGS=-DLUA_USE_POSIX",
        "SYSLIBS=", "CFLAGS=-DLUA_COMPAT_5_3 -DLUA_USE_POSIX", "lua")


def cases(without=(), slow=SLOW):
    for backend in BACKENDS:
        if backend in without:
            continue
        for version in VERSIONS[-1:] if backend in slow else VERSIONS:
            yield pytest.param(backend, version, id=f"{backend}-{version}",
                               marks=pytest.mark.xdist_group(backend))


@pytest.fixture
def mounted(instances, report, backend, version, request):
    """(the client, a new directory on the mount)."""
    instance = instances(backend)
    report(instance)
    name = request.node.originalname
    path = f"{instance.mounted(version)}/{name}-{version}"
    client = instance.client()
    client.call("steps:make_directory", path=path)
    yield client, path
    assert instance.server.running and not instance.server.crashes()


@pytest.fixture(scope="session")
def lua(tmp_path_factory, pytestconfig):
    """Debian's Lua: a tarball of its source, and what tcc makes of it here.

    (path of the tarball, {name: SHA-256 of each object and the program})
    """
    shared = tmp_path_factory.getbasetemp()
    if hasattr(pytestconfig, "workerinput"):
        shared = shared.parent      # the same for all workers
    with open(shared / "lua.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder, tarball = shared / "lua", shared / "lua.tar"
        if not tarball.exists():
            folder.mkdir()
            source = debsource.fetch("lua5.4", folder)
            subprocess.run(["tar", "-cf", tarball, "-C", source, "."],
                           check=True, timeout=60)
            subprocess.run(MAKE, cwd=source, check=True, timeout=200)
    made = folder / "source" / "src"
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
               for path in [*made.glob("*.o"), made / "lua"]}
    return tarball, digests


@pytest.mark.parametrize("backend, version", cases(slow=SLOW | {"MEM"}))
def test_build(mounted, lua):
    """The program built on the mount is the one built on a local disk."""
    client, path = mounted
    tarball, digests = lua
    (client.rundir / "lua.tar").write_bytes(tarball.read_bytes())
    client.call("steps:command", 60, cwd=path,
                argv=["tar", "-xf", "/run/client/lua.tar"])
    client.call("steps:command", 240, cwd=path, argv=MAKE)
    output = client.call("steps:command", 60, cwd=path, argv=[
        "bash", "-c", "cd src && sha256sum *.o lua"])
    made = dict(reversed(line.split()) for line in output.splitlines())
    assert made == digests
    client.call("steps:write", path=f"{path}/program.lua", text=LUA_PROGRAM)
    assert client.call("steps:command", 60, cwd=path, argv=[
        "src/lua", "program.lua"]) == LUA_ANSWER


@pytest.mark.parametrize("backend, version", cases())
def test_dbench(mounted):
    client, path = mounted
    output = client.call("steps:command", 120, argv=[
        "dbench", "-c", "/usr/share/dbench/client.txt", "-D", path,
        "-t", "6", "2"])
    assert "Throughput" in output and " 0 MB/sec" not in output, output


# FSAL_MEM keeps too little of a file for this one.
@pytest.mark.parametrize("backend, version", cases(without={"MEM"}))
def test_fio_reads_what_it_wrote(mounted):
    client, path = mounted
    output = client.call("steps:command", 120, argv=[
        "fio", "--name=verify", f"--directory={path}", "--size=3m",
        "--rw=randwrite", "--bsrange=1k-64k", "--ioengine=psync",
        "--verify=crc32c", "--verify_fatal=1", "--fsync=16", "--numjobs=2",
        "--thread", "--minimal", "--invalidate=1"])
    assert "verify" in output
