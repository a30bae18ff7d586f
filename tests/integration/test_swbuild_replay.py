# SPDX-License-Identifier: LGPL-3.0-or-later
"""swbuild --replay: the trace that comes with it, over each version.

What is left at the end is compared with a model of the trace of its own.
"""

import gzip
import json
import os
import pathlib
import subprocess

import pytest

from backends import BACKENDS
from harness.ganesha import Stack
from harness.instance import Instance

TOP = pathlib.Path(__file__).parents[2]
SWBUILD = pathlib.Path(os.environ.get(
    "SCALE_MODULE", TOP / "build/fsal_scale/libfsalscale.so")
).parents[1] / "tests/swbuild/swbuild"
TRACE = TOP / "tests/swbuild/traces/lua.tsv.gz"
VERSIONS = ("3", "4.0", "4.1")
LETTERS = {"S": "stat", "l": "lstat", "F": "fstat", "L": "readlink",
           "O": "read", "W": "write", "C": "create", "D": "readdir",
           "M": "mkdir", "U": "unlink", "V": "rmdir", "R": "rename",
           "K": "link", "T": "setattr", "H": "chdir", "X": "execute"}

pytestmark = [pytest.mark.scale_only, pytest.mark.xdist_group("VFS")]


@pytest.fixture(scope="module")
def server(folder):
    """A stock server over FSAL_VFS."""
    rundir = folder("replay")
    instance = Instance(rundir, Stack("stock"), BACKENDS["VFS"](rundir))
    yield instance
    instance.stop()


def lines(file):
    """op, path, outcome, bytes, path2 of each line."""
    spelled = []

    def path(field):
        if field.startswith("="):
            return spelled[int(field[1:])]
        spelled.append(field)
        return field

    with gzip.open(file, "rt") as text:
        for line in text:
            fields = line.rstrip("\n").split("\t") + [""] * 4
            first = path(fields[1])
            second = path(fields[5]) if fields[5] else ""
            yield fields[0], first, fields[2], int(fields[3] or 0), second


def final_tree(file):
    """What a trace leaves: paths to sizes, None for what is no file."""
    trace = list(lines(file))
    made, read, tree = set(), {}, {}
    for op, path, outcome, count, other in trace:
        if op == "O" and path not in made:
            read[path] = max(read.get(path, 0), count)
        if outcome == "+" and op in "CMKR":
            made.add(other or path)
        elif outcome in "+nx":
            present(tree, made, path)
    for path in tree:
        if any(p.startswith(path + "/") for p in tree) or \
                any(op in "DH" and p == path for op, p, *_ in trace):
            tree[path] = None
        else:
            tree[path] = read.get(path, 0)
    for op, path, outcome, count, other in trace:
        if outcome == "+":
            apply(tree, op, path, count, other)
    return tree


def present(tree, made, path):
    """The path and what is above it are there beforehand."""
    while path and path != ".":
        if path not in made:
            tree.setdefault(path)
        path = path.rpartition("/")[0]


def apply(tree, op, path, count, other):
    if op in "CW":
        tree[path] = max(tree.get(path) or 0, count)
    elif op == "M" or op == "K" and not other:
        tree[path] = None
    elif op == "K":
        tree[other] = tree[path]
    elif op in "UV":
        del tree[path]
    elif op == "R":
        for old in [p for p in tree if (p + "/").startswith(path + "/")]:
            tree[other + old[len(path):]] = tree.pop(old)


def on_disk(root):
    """The same of a directory."""
    found = {}
    for path in root.rglob("*"):
        plain = path.is_file() and not path.is_symlink()
        found[str(path.relative_to(root))] = \
            path.stat().st_size if plain else None
    return found


def swbuild(server, *arguments, status=0):
    """Run it in the server's namespace; returns the process."""
    program = server.ns.popen(
        SWBUILD, "--server", "127.0.0.1", "--export",
        server.export.pseudo, *arguments, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)
    out, err = program.communicate(timeout=60)
    assert program.returncode == status, out + err
    return out, err


def replay(server, folder, trace, *arguments, status=0):
    """Replays; the report."""
    file = folder("json") / "replay.json"
    swbuild(server, "--replay", trace, "--json", file, *arguments,
            status=status)
    return json.loads(file.read_text())


@pytest.mark.parametrize("cache", ("on", "off"))
@pytest.mark.parametrize("version", VERSIONS)
def test_a_build(server, folder, version, cache):
    """Each outcome is the trace's, and what is left is what should be."""
    directory = f"build-{version}-{cache}"
    report = replay(server, folder, TRACE, "--nfs", version, "--name-cache",
                    cache, "--directory", directory)
    assert report["mismatches"] == 0 and report["first_mismatches"] == []
    assert report["ok"] and report["hidden_steps"] == 0
    assert on_disk(server.backend.directory / directory) == final_tree(TRACE)

    counted, in_trace = {}, {}
    for name, kinds in report["operations"].items():
        for outcome, kind in kinds.items():
            counted[name, outcome == "succeeded"] = kind["ops"]
            assert 0 < kind["service_ms"]["p50"] <= kind["service_ms"]["max"]
    for op, _, outcome, *_ in lines(TRACE):
        key = LETTERS[op], outcome == "+"
        in_trace[key] = in_trace.get(key, 0) + 1
    assert counted == in_trace
    assert report["ops"] == sum(in_trace.values())

    procedures = {name: value["rpcs"]
                  for name, value in report["procedures"].items()}
    assert sum(procedures.values()) == report["requests"]
    assert procedures["MKDIR"] <= in_trace["mkdir", True] + \
        in_trace["mkdir", False]
    assert procedures["REMOVE"] == in_trace["unlink", True]
    assert procedures["RMDIR"] == in_trace["rmdir", True]
    assert procedures["RENAME"] == in_trace["rename", True]
    assert ("CLOSE" in procedures) == (version != "3")
    read = sum(count for op, *_, count, _ in lines(TRACE) if op == "O")
    assert 0.9 * read <= report["bytes_read"] <= read
    assert report["bytes_written"] == sum(
        count for op, *_, count, _ in lines(TRACE) if op in "CW")
    if cache == "on":
        assert procedures["LOOKUP"] < 0.2 * report["ops"]
        assert report["ops_without_request"] > 0
    else:
        assert procedures["LOOKUP"] > 0.8 * report["ops"]
        # The root is there, that needs no request.
        assert report["ops_without_request"] == sum(
            op == "M" and path == "." for op, path, *_ in lines(TRACE))


def write_trace(folder, *ops):
    """A trace of these lines."""
    file = folder("trace") / "own.tsv"
    file.write_text("".join("\t".join(op.split(" ")) + "\n" for op in ops))
    return file


@pytest.mark.parametrize("version", VERSIONS)
def test_a_mismatch_is_told(server, folder, version):
    """Files that the trace does not know of make it fail, line by line."""
    trace = write_trace(folder, "S dir/here +", "S dir/none -", "O dir/no -",
                        "M dir/sub +", "U dir/here +", "O dir/here -")
    directory = f"mismatch-{version}"
    swbuild(server, "--replay", trace, "--nfs", version, "--directory",
            directory, "--tree", "prepare")
    tree = server.backend.directory / directory
    assert on_disk(tree) == {"dir": None, "dir/here": 0}
    (tree / "dir/none").touch()
    (tree / "dir/sub").mkdir()
    (tree / "dir/no").write_text("content")
    report = replay(server, folder, trace, "--nfs", version, "--directory",
                    directory, "--tree", "prepared", status=1)
    assert report["mismatches"] == 3 and not report["ok"]
    assert [(m["line"], m["path"], m["outcome"], m["trace"])
            for m in sorted(report["first_mismatches"],
                            key=lambda m: m["line"])] == [
        (2, "dir/none", "found", "missing"),
        (3, "dir/no", "found", "missing"),
        (4, "dir/sub", "exists", "found")]
    assert report["operations"]["mkdir"]["succeeded"]["mismatches"] == 1
    assert report["operations"]["read"]["failed"]["mismatches"] == 1


@pytest.mark.parametrize("version", VERSIONS)
def test_each_operation(server, folder, version):
    """Links, errors, other processes' files, processes that depend."""
    trace = write_trace(
        folder, "S d/f +  1", "L d/link +  2", "S d/link +  2", "L d/f n",
        "O d/f/below d", "O d/f + 100000 3", "O d +", "W d r  4", "A d/f +",
        "H d +", "X d/f +", "Q d +", "E d/f +", "C d/new + 70000 5",
        "O d/new + 70000 6", "F d/new +", "Y d/new +",
        "K d/new +  7 d/hard", "K d/soft +  8", "L d/soft +", "M d/sub +",
        "M d/sub x", "C d/sub/a + 5", "R d/sub +   d/moved",
        "O d/moved/a + 5 9", "O d/sub/a -", "D d/moved + 1", "C d/new x",
        "T d/f +", "R d/new +   d/hard2", "U d/moved/a +", "V d/moved +",
        "F d/moved/a +", "S d/moved -", "S d/late -", "S d/late +  1",
        "U d/f +", "O d/f -  2", "D d + 9")
    directory = f"each-{version}"
    report = replay(server, folder, trace, "--nfs", version, "--directory",
                    directory)
    assert report["first_mismatches"] == []
    assert report["hidden_steps"] == 1 and report["not_replayed"] == 1
    assert report["contradictions"] == 0
    assert on_disk(server.backend.directory / directory) == {
        "d": None, "d/link": None, "d/soft": None, "d/hard": 70000,
        "d/hard2": 70000, "d/late": 0}
    assert os.stat(server.backend.directory / directory
                   / "d/hard").st_nlink == 2


def test_pace(server, folder):
    """--rate holds it back."""
    trace = write_trace(folder, *["S a +"] * 60)
    report = replay(server, folder, trace, "--directory", "paced", "--rate",
                    "100")
    assert 0.55 < report["seconds"] < 5


@pytest.mark.parametrize("arguments, status, complaint", [
    (["--replay", "/no/such/trace"], 2, "/no/such/trace"),
    (["--replay", __file__], 2, "strace-to-trace"),
    (["--replay", TRACE, "--directory", "there"], 2, "remove it"),
    (["--replay", TRACE, "--directory", "gone", "--tree", "prepared"], 2,
     "--tree prepare"),
    (["--replay", TRACE, "--name-cache", "perhaps"], 64, "on or off"),
    (["--replay", TRACE, "--tree", "none"], 64, "prepared"),
    (["--replay", TRACE, "--in-flight", "0"], 64, "from 1"),
    (["--replay", TRACE, "--csv", "x"], 64, "--json"),
])
def test_refused(server, arguments, status, complaint):
    """With a reason, and what to do."""
    (server.backend.directory / "there").mkdir(exist_ok=True)
    assert complaint in swbuild(server, *arguments, status=status)[1]
