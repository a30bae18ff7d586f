# SPDX-License-Identifier: LGPL-3.0-or-later
"""FSAL FAULT itself: what tests and benchmarks rely on when they use it.

Most of it without SCALE above, so that each request reaches FAULT.
"""

import concurrent.futures
import contextlib
import json
import math
import socket
import struct
import subprocess
import threading
import time

import pytest

import faultctl
from backends.fault import FaultTree, over, tree_block
from faultctl import FaultError, mix, tree_content
from harness.ganesha import MOUNT_PORT, PORT, Export, Settings, Stack
from harness.instance import Instance
from harness.rawnfs import BADHANDLE, NOENT, OK, STALE, Nfs3, opaque
from harness.wait import wait_for
from test_wire import REFUSALS, ask, forged

pytestmark = [pytest.mark.scale_only, pytest.mark.xdist_group("FAULT")]

TREE, SCALE_TREE, MEM, SCALE_VFS = 1, 2, 3, 4
SHAPE = {"directories": 18000, "files": 1000, "links": 2, "file_size": 5001}
IO, EXIST, ROFS = 5, 17, 30
FIRST_FILE = 18002
EPOCH = 1600000000


@pytest.fixture(scope="module")
def instance(stack, folder):
    """One server: a tree, SCALE over a tree, over MEM, SCALE over VFS."""
    rundir = folder("FAULT")
    backend = FaultTree(rundir, "latency lookup fixed 9; clear", **SHAPE)
    backend.blocks += ("MEM { Inode_Size = 65536; }",)
    exported = rundir / "exported"
    exported.mkdir()
    exported.chmod(0o1777)
    exports = [
        Export(TREE, "/tree", tree_block(**SHAPE), path="/tree",
               stacked=False),
        Export(SCALE_TREE, "/scaletree", tree_block(**SHAPE),
               path="/scaletree"),
        Export(MEM, "/mem", over("FSAL { Name = MEM; }"), path="/mem",
               stacked=False),
        Export(SCALE_VFS, "/scalevfs", over("FSAL { Name = VFS; }"),
               path=str(exported))]
    one = Instance(rundir, stack, backend, exports=exports)
    one.exported = exported
    yield one
    server = one.server
    running = server.running
    status = server.stop() if running else None
    crashes = server.crashes()
    one.stop()
    assert running and status == 0 and not crashes


@pytest.fixture
def fault(instance, report):
    """The control of a FAULT that does nothing, with counts at zero."""
    report(instance)
    with instance.backend.control() as control:
        control.clear()
        control.reset()
        yield control
        control.clear()


@pytest.fixture
def nfs(instance):
    with contextlib.closing(Nfs3(instance.ns, timeout=20)) as connection:
        yield connection


def find(nfs, path):
    """The handle of a path such as "/tree/d00001/f0001"."""
    pseudo, *names = path.strip("/").split("/")
    handle = nfs.mount("/" + pseudo)
    for name in names:
        status, handle = nfs.lookup(handle, name.encode())
        assert status == OK, f"LOOKUP of {name} in {path}: {status}"
    return handle


def attributes(nfs, handle):
    """(type, mode, nlink, uid, gid, size, fileid, mtime) by GETATTR."""
    reply = nfs.call(1, opaque(handle))
    status, kind, mode, nlink, uid, gid, size, _, _, _, fileid = \
        struct.unpack_from(">IIIIIIQQQQQ", reply)
    assert status == OK
    seconds, = struct.unpack_from(">I", reply, 72)
    return kind, mode, nlink, uid, gid, size, fileid, seconds


def timed(function, *arguments):
    begin = time.monotonic()
    result = function(*arguments)
    return time.monotonic() - begin, result


def test_counts_by_operation_and_export(fault, nfs):
    root = nfs.mount("/tree")
    fault.reset()
    for _ in range(3):
        assert nfs.lookup(root, b"nosuch") == (NOENT, None)
    assert nfs.lookup(root, b"d00007")[0] == OK
    counts = fault.counts()["counts"]
    assert counts["lookup"] == 4
    assert counts["wire_to_host"] == counts["host_to_key"] == 4
    own = fault.counts(TREE)
    assert own["counts"]["lookup"] == own["calls"] == 4
    assert own["local"] >= 8
    assert fault.counts(MEM)["calls"] == 0
    fault.reset()
    assert fault.counts()["calls"] == 0


def test_names_of_a_directory_are_counted(instance, fault):
    instance.ns.run("nfs-ls", url("/tree/d00009", "3"))
    counts = fault.counts(TREE)["counts"]
    assert counts["readdir_entry"] == 1002
    assert counts["readdir"] < 20
    assert counts["lookup"] < 10


def test_latency_of_one_operation(fault, nfs):
    root = nfs.mount("/tree")
    fault.latency("getattrs,lookup", fixed=20000)
    for _ in range(3):
        assert timed(nfs.lookup, root, b"nosuch")[0] >= 0.02
    fault.latency("lookup")
    assert min(timed(nfs.lookup, root, b"nosuch")[0]
               for _ in range(10)) < 0.02
    assert fault.info()["set"] == {"getattrs": {"latency": {"fixed": 20000}}}


def test_distributions(fault, nfs):
    root = nfs.mount("/tree")
    fault.latency("lookup", uniform=(5000, 25000))
    times = [timed(nfs.lookup, root, b"nosuch")[0] for _ in range(30)]
    assert 0.005 <= min(times) < 0.014
    assert max(times) > 0.016
    fault.latency("lookup", exponential=10000)
    times = sorted(timed(nfs.lookup, root, b"nosuch")[0] for _ in range(100))
    # Its median is the mean times ln 2, and it has short and long ones.
    assert times[50] == pytest.approx(0.01 * math.log(2), abs=0.004)
    assert times[10] < 0.004 and times[90] > 0.015


@pytest.mark.parametrize("servers", (1, 3))
def test_capacity(instance, fault, servers):
    """At most so many a second; a call takes as long as its server.

    Each client has its own directory, for MDCACHE lets one lookup at a time
    into a directory.
    """
    def ask_until(number):
        with contextlib.closing(Nfs3(instance.ns, timeout=20)) as nfs:
            directory = find(nfs, f"/tree/d{number:05}")
            start.wait()
            end = time.monotonic() + 1
            times = []
            while time.monotonic() < end:
                times.append(timed(nfs.lookup, directory, b"nosuch")[0])
        return times

    start = threading.Barrier(6, lambda: fault.capacity(300, servers))
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        times = list(pool.map(ask_until, range(1, 7)))
    assert 120 < sum(map(len, times)) <= 320
    assert min(map(min, times)) >= servers / 300


def test_errors_before_and_after(fault, nfs):
    root = nfs.mount("/mem")
    fault.fail("open2", "IO", following=1)
    assert nfs.create(root, b"before")[0] == IO
    assert nfs.lookup(root, b"before")[0] == NOENT
    assert nfs.create(root, b"before")[0] == OK
    fault.fail("open2", "IO", following=1, after=True)
    assert nfs.create(root, b"after")[0] == IO
    assert nfs.lookup(root, b"after")[0] == OK
    # An open that was lost is closed: MDCACHE would count it below zero, and
    # answer DELAY to creates from then on.
    fault.invalidate(MEM, "/after", "close")
    assert nfs.create(root, b"other")[0] == OK
    fault.fail("unlink", "ACCESS", after=True)
    assert nfs.remove(root, b"other") == 13
    assert nfs.remove(root, b"after") == 13
    assert fault.counts(MEM)["failed"] == {"open2": 2, "unlink": 2}
    fault.fail("unlink", "none")
    assert nfs.remove(root, b"before") == OK


def test_errors_at_a_rate(fault, nfs):
    root = nfs.mount("/tree")
    fault.fail("lookup", "NOSPC", rate=0.3)
    answers = [nfs.lookup(root, b"nosuch")[0] for _ in range(400)]
    assert set(answers) == {NOENT, 28}
    assert 70 < answers.count(28) < 170
    assert fault.counts()["failed"]["lookup"] == answers.count(28)


def test_completion_on_another_thread(instance, fault, nfs):
    content = tree_content(FIRST_FILE, SHAPE["file_size"])
    for path in ("/tree/d00001/f0001", "/scaletree/d00001/f0001"):
        handle = find(nfs, path)
        fault.complete_later("read2", fixed=40000)
        took, reply = timed(read, nfs, handle)
        assert took >= 0.04 and reply == content
        fault.fail("read2", "IO", following=1)
        assert nfs.read(handle) == IO

        def one(_, handle=handle):
            with contextlib.closing(Nfs3(instance.ns)) as connection:
                return read(connection, handle)

        # No thread waits for another's answer: one after the other they
        # would take eight seconds.
        fault.complete_later("read2", fixed=1000000)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            took, replies = timed(lambda: list(pool.map(one, range(8))))
        assert took < 7
        assert replies == [content] * 8
        fault.clear()


def read(nfs, handle):
    """A whole small file."""
    reply = nfs.call(6, opaque(handle) + struct.pack(">QI", 0, 65536))
    assert struct.unpack_from(">II", reply)[0] == OK
    # status, attributes and their flag, count, eof, data
    offset = 8 + 84 + 8
    length, = struct.unpack_from(">I", reply, offset)
    return reply[offset + 4:offset + 4 + length]


@pytest.mark.parametrize("after", (False, True), ids=("before", "after"))
def test_hold(instance, fault, nfs, after):
    """A call waits; after: the backend's answer is the one from before."""
    root = find(nfs, "/tree/d00011")
    fault.hold("lookup", after=after)
    with contextlib.closing(Nfs3(instance.ns)) as other, \
            concurrent.futures.ThreadPoolExecutor(1) as pool:
        future = pool.submit(other.lookup, root, b"f0500")
        try:
            fault.wait_held()
            fault.hide(TREE, "/d00011/f0500")
            time.sleep(0.05)
            assert not future.done()
        finally:
            fault.go()
        assert future.result(5)[0] == (OK if after else NOENT)
    assert fault.info()["held"] == 0
    fault.show(TREE, "/d00011/f0500")


def url(path, version):
    return (f"nfs://127.0.0.1{path}?version={version}&nfsport={PORT}"
            f"&mountport={MOUNT_PORT}")


@pytest.mark.parametrize("version", ("3", "4"))
@pytest.mark.parametrize("pseudo", ("/tree", "/scaletree"))
def test_tree_by_libnfs(instance, fault, pseudo, version):
    listing = instance.ns.run("nfs-ls", url(pseudo, version)).stdout
    assert sorted(line.split()[-1] for line in listing.splitlines()) == \
        [f"d{number:05}" for number in range(1, 18001)]
    listing = instance.ns.run("nfs-ls", url(pseudo + "/d18000",
                                            version)).stdout
    names = sorted(line.split()[-1] for line in listing.splitlines())
    assert names == [f"f{number:04}" for number in range(1, 1001)] + \
        ["l0001", "l0002"]
    fileid = FIRST_FILE + 2 * 1002 + 6
    command = 'nfs-cat "$1" | base64 -w0'
    result = instance.ns.run("bash", "-c", command, "-",
                             url(pseudo + "/d00003/f0007", version))
    assert result.stdout == base64_of(tree_content(fileid, 5001))


def base64_of(data):
    import base64
    return base64.b64encode(data).decode()


def test_tree_attributes(fault, nfs):
    fileid = FIRST_FILE + 17999 * 1002 + 999
    assert fileid == 18001 + 18000 * 1002 - 2
    assert attributes(nfs, find(nfs, "/tree/d18000/f1000")) == (
        1, 0o644, 1, 1000 + fileid % 16, 100 + fileid % 4, 5001, fileid,
        EPOCH + fileid)
    assert attributes(nfs, find(nfs, "/tree/d18000"))[:3] == (2, 0o755, 2)
    assert attributes(nfs, nfs.mount("/tree"))[2] == 18002
    assert attributes(nfs, find(nfs, "/tree/d00002/l0002"))[:2] == (5, 0o777)
    directory = find(nfs, "/tree/d00001")
    for name in (b"f1001", b"f0000", b"f1", b"f00001", b"l0003", b"g0001",
                 b"f-001", b"f", b"f0001 ", b"f" * 200):
        assert nfs.lookup(directory, name)[0] == NOENT, name


@pytest.mark.parametrize("version", ("3", "4.1"))
def test_stacks_by_the_kernel(instance, fault, version):
    """Tree and VFS below SCALE, as the kernel's client sees them."""
    client = instance.client()
    tree = instance.mounted(version, pseudo="/scaletree")
    vfs = instance.mounted(version, pseudo="/scalevfs")
    assert len(client.call("steps:names", path=f"{tree}/d00123")) == 1002
    link, file = client.call("steps:command", argv=[
        "sha256sum", f"{tree}/d00123/l0002",
        f"{tree}/d00123/f0002"]).splitlines()
    assert link.split()[0] == file.split()[0]
    for step, path, arguments in (
            ("write", "new", {"text": "x"}),
            ("write", "d00123/f0001", {"text": "x"}),
            ("remove", "d00123/f0001", {})):
        assert client.call("steps:error_of", step=step, path=f"{tree}/{path}",
                           **arguments) == "EROFS", (step, path)

    client.call("steps:write_tree", path=f"{vfs}/{version}",
                files={"a": "content of a", "b": "content of b"})
    client.call("steps:rename", old=f"{vfs}/{version}/a",
                new=f"{vfs}/{version}/c")
    assert client.call("steps:read", path=f"{vfs}/{version}/c") == \
        "content of a"
    assert (instance.exported / version / "c").read_text() == "content of a"
    counts = fault.counts(SCALE_VFS)["counts"]
    assert counts["mkdir"] == counts["rename"] == 1
    assert counts["write2"] == 2
    assert fault.counts(TREE)["calls"] == 0


@pytest.mark.parametrize("pseudo", ("/tree", "/scaletree"))
def test_forged_handles(instance, fault, nfs, pseudo):
    cold = find(nfs, f"{pseudo}/d00777/f0777")
    for handle in forged(cold):
        with contextlib.closing(Nfs3(instance.ns)) as connection:
            status = ask(connection, handle)
        assert status in REFUSALS or handle == cold or \
            flags_only(handle, cold), handle.hex()
    tree, number = struct.unpack_from("<QQ", cold, 5)
    last = 18001 + 18000 * 1002
    assert number <= last
    for wrong in (0, last + 1, 1 << 63, (1 << 64) - 1):
        check = mix(tree ^ mix(wrong))
        handle = cold[:5] + struct.pack("<QQQ", tree, wrong, check) + cold[29:]
        assert nfs.getattr(handle) in (STALE, BADHANDLE)
    handle = cold[:5] + struct.pack("<QQQ", tree, last,
                                    mix(tree ^ mix(last))) + cold[29:]
    assert nfs.getattr(handle) == OK


def flags_only(handle, cold):
    """Only the flags or what pads the handle are other than they were."""
    return handle[2:29] == cold[2:29] and handle[0] == cold[0]


def test_change_and_up_call(fault, nfs):
    """What is changed behind is seen after an up-call, and not before."""
    for pseudo, export_id in (("/tree", TREE), ("/mem", MEM)):
        root = nfs.mount(pseudo)
        assert nfs.getattr(root) == OK
        fault.reset()
        fault.invalidate(export_id, "/", "attrs")
        assert nfs.getattr(root) == OK
        assert fault.counts(export_id)["counts"]["getattrs"] == 1
    handle = find(nfs, "/tree/d00100/f0100")
    assert attributes(nfs, handle)[5] == 5001
    for version, target in ((1, "/d00100/f0100"), (2, handle)):
        fault.bump(TREE, target)
        assert attributes(nfs, handle)[5] == 5000 + version
        fault.invalidate(TREE, target)
        after = attributes(nfs, handle)
        assert after[5] == 5001 + version
        assert after[7] == EPOCH + after[6] + version
        assert read(nfs, handle) == tree_content(after[6], after[5], version)
    fault.hide(TREE, "/d00100/f0100")
    fault.invalidate(TREE, "/d00100/f0100")
    fault.invalidate(TREE, "/d00100")
    assert nfs.getattr(handle) == STALE
    assert nfs.lookup(find(nfs, "/tree/d00100"), b"f0100")[0] == NOENT
    fault.show(TREE, "/d00100/f0100")
    assert nfs.lookup(find(nfs, "/tree/d00100"), b"f0100")[0] == OK


@pytest.mark.parametrize("command, words", (
    ("nonsense", "no command nonsense"),
    ("", "no command"),
    ("latency", "needs 2 words"),
    ("latency lokup fixed 5", "no operation lokup"),
    ("latency lookup fixed", "a delay is none, fixed US"),
    ("latency lookup fixed -1", "not a number from 0"),
    ("latency lookup uniform 9 5", "not a number from 9"),
    ("async lookup fixed 5", "only read2 and write2"),
    ("capacity 0", "not a number from 0.01"),
    ("capacity 5 1000", "not a number from 1 to 256"),
    ("fail lookup OOPS", "no error OOPS"),
    ("fail lookup IO sometimes", "sometimes is none of them"),
    ("hold lookup before", "before is not after"),
    ("counts 77", "no FAULT export 77"),
    ("invalidate 1 attr /", "no flag attr"),
    ("invalidate 1 attrs zz", "neither a path"),
    ("invalidate 9 attrs /", "no FAULT export 9"),
    ("bump 1 /d99999", "no such object"),
    ("bump 1 /d00001/f0001/f0001", "no such object"),
    ("bump 3 /", "has no Tree"),
    ("invalidate 3 attrs /nosuch", "/nosuch: No such file"),
))
def test_refused_commands(fault, command, words):
    with pytest.raises(FaultError, match=words):
        fault.ask(command)


def test_hostile_control_input(instance, fault):
    for garbage in (b"\xff\xfe\n", b"\0\n", b"a" * 100000, b"latency " * 9,
                    b"fail all IO rate 1 after after after after\n" * 50):
        with socket.socket(socket.AF_UNIX) as hostile:
            hostile.connect(str(instance.backend.socket))
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                hostile.sendall(garbage)
    many = [instance.backend.socket] * 40
    clients = [socket.socket(socket.AF_UNIX) for _ in many]
    for client in clients:
        client.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            client.connect(str(instance.backend.socket))
    for client in clients:
        client.close()
    assert wait_for(lambda: fault.info()["set"] == {}, 5, "info")


def test_command_line(instance, fault):
    del fault

    def run(*arguments):
        return subprocess.run(
            ["/usr/bin/python3", "-B", faultctl.__file__, *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=20, check=False)

    path = str(instance.backend.socket)
    assert run(path, "latency", "readlink", "fixed", "7").returncode == 0
    shown = json.loads(run("--json", path, "info").stdout)
    assert shown["set"] == {"readlink": {"latency": {"fixed": 7.0}}}
    assert "operation" in run(path, "counts").stdout
    refused = run(path, "latency", "readlink", "often")
    assert refused.returncode == 1 and "a delay is none" in refused.stdout
    absent = run(path + "-absent", "counts")
    assert absent.returncode == 1 and "is the server up" in absent.stdout


@pytest.mark.parametrize("fsal", (
    "FSAL { Name = FAULT; }",
    "FSAL { Name = FAULT; Tree { } }",
    "FSAL { Name = FAULT; FSAL { Name = VFS; } Tree { Files = 5; } }",
    "FSAL { Name = FAULT; FSAL { Name = NOSUCH; } }"))
def test_wrong_blocks(instance, fault, fsal):
    del fault
    server = instance.server
    try:
        server.add_export(Export(50, "/wrong", fsal, path="/wrong",
                                 stacked=False))
    except Exception as error:  # noqa: B902 - dbus-send's text is looked at
        assert "Error" in str(error)
    else:
        pytest.fail("the export was accepted")
    server.exports = server.exports[:4]
    assert "FSAL FAULT needs one backend" in server.log_text()
    assert server.running


def test_added_and_removed(instance, fault, nfs):
    """An export that is removed leaves its calls in the sum."""
    instance.server.add_export(Export(60, "/added", tree_block(files=3),
                                      path="/added", stacked=False))
    handle = find(nfs, "/added/d00001/f0003")
    assert nfs.getattr(handle) == OK
    lookups = fault.counts(60)["counts"]["lookup"]
    assert lookups >= 2
    instance.server.remove_export(60)
    assert nfs.getattr(handle) in (STALE, BADHANDLE)
    with pytest.raises(FaultError):
        fault.invalidate(60, "/")
    assert fault.counts()["counts"]["lookup"] == lookups


def test_a_wrong_initial_command_is_named(folder):
    rundir = folder("FAULT-wrong")
    backend = FaultTree(rundir, "latency lookup fast 5", files=5)
    one = Instance(rundir, Stack("stock"), backend, Settings(nlm=False))
    try:
        assert "a delay is none, fixed US" in one.server.log_text()
        assert one.server.running
    finally:
        one.stop()
