# SPDX-License-Identifier: LGPL-3.0-or-later
"""The command as its users see it: output, errors, exit codes."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from scalectl_places import COMMAND, PROJECT

TEXT = "NFSv4 {\n\tMinor_Versions = 1;\n}\nSCALE { pagepool = \"1G\"; }\n"


@pytest.mark.parametrize("arguments, words", [
    (["--help"], ["config", "stats", "exit status", "--version"]),
    (["stats", "--help"], ["--watch", "--socket", "--export", "--json",
                           "control socket", "exit status"]),
    (["config", "--help"], ["get", "change"]),
    (["config", "get", "--help"], ["MINOR_VERSIONS", "--json", "--file"]),
    (["config", "change", "--help"], ["NAME=VALUE", "--restart", "--dry-run",
                                      "--json", "exit status"]),
])
def test_help(scalectl, arguments, words):
    done = scalectl(*arguments)
    assert done.returncode == 0
    for word in words:
        assert word in done.stdout


def test_version_is_the_projects(scalectl):
    done = scalectl("--version")
    word = done.stdout.split()
    assert word[0] == "scalectl" and word[1].endswith("-source")
    assert f"VERSION {word[1].removesuffix('-source')}" \
        in (PROJECT / "CMakeLists.txt").read_text()


def test_get(scalectl, conf):
    path = conf(TEXT)
    done = scalectl("config", "get", "--file", path)
    assert done.returncode == 0 and not done.stderr
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["MINOR_VERSIONS", "1", f"{path}:2"],
        ["maxFilesToCache", "100000", "default"],
        ["maxStatCache", "1000000", "default"],
        ["pagepool", "1G", f"{path}:4"]]
    done = scalectl("config", "get", "minor_version", "--file", path)
    assert done.stdout.split() == ["MINOR_VERSIONS", "1", f"{path}:2"]


def test_get_json(scalectl, conf):
    path = conf(TEXT)
    done = scalectl("config", "get", "PAGEPOOL", "--json", "--file", path)
    assert json.loads(done.stdout) == {
        "ok": True, "file": str(path), "warnings": [], "parameters": [{
            "name": "pagepool", "value": "1G", "source": "file",
            "file": str(path), "line": 4, "block": "SCALE",
            "parameter": "pagepool"}]}


def test_change_says_what_it_did_and_what_remains(scalectl, conf):
    path = conf(TEXT)
    arguments = ("config", "change", "--file", path, "MINOR_VERSION=1,0")
    done = scalectl(*arguments)
    assert done.returncode == 0
    assert f"MINOR_VERSIONS changed from 1 to 0,1 ({path}:2)" in done.stdout
    assert "systemctl restart nfs-ganesha" in done.stdout
    done = scalectl(*arguments, "--restart")
    assert done.returncode == 0
    assert "already 0,1" in done.stdout
    assert "is not restarted" in done.stdout


def test_dry_run(scalectl, conf):
    path = conf(TEXT)
    done = scalectl("config", "change", "pagepool=2g", "--dry-run",
                    "--restart", "--file", path)
    assert done.returncode == 0
    assert "would change from 1G to 2G" in done.stdout
    assert '+SCALE { pagepool = "2G"; }' in done.stdout
    assert path.read_text() == TEXT


@pytest.mark.parametrize("arguments, code, words", [
    ([], 2, ["required"]),
    (["config", "put"], 2, ["invalid choice"]),
    (["config", "get", "nothing"], 2, ["no parameter nothing",
                                       "maxStatCache"]),
    (["config", "change", "MINOR_VERSIONS=0,2"], 2, ["NFSv4.2",
                                                     "give 0, 1 or 0,1"]),
    (["config", "change", "pagepool"], 2, ["NAME=VALUE"]),
    (["config", "change", "pagepool=1G", "pagepool=2G"], 2, ["two values"]),
    (["config", "get", "--file", "/nonexistent/g.conf"], 3,
     ["/nonexistent/g.conf", "--file"]),
])
def test_errors(scalectl, arguments, code, words):
    done = scalectl(*arguments)
    assert (done.returncode, done.stdout) == (code, "")
    for word in words:
        assert word in done.stderr


def test_errors_as_json(scalectl, conf):
    path = conf("A {}\nNFSv4 {\n")
    done = scalectl("config", "change", "MINOR_VERSIONS=0", "--json",
                    "--file", path)
    assert done.returncode == 3 and not done.stderr
    assert json.loads(done.stdout) == {"ok": False, "error": {
        "message": "the block NFSv4 is never closed",
        "remedy": "add the closing }", "file": str(path), "line": 2}}


def test_who_is_not_root_reads_but_does_not_write(scalectl, as_nobody):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        path = Path(folder) / "ganesha.conf"
        path.write_text(TEXT)
        command = Path(folder) / "config"
        shutil.copytree(COMMAND.parent, command / "scalectl")
        run = [command / "scalectl" / "scalectl", "config"]
        options = {"capture_output": True, "text": True, "check": False,
                   **as_nobody}
        done = subprocess.run([*run, "get", "--file", path], **options)
        assert done.returncode == 0 and "1G" in done.stdout
        done = subprocess.run([*run, "change", "--dry-run", "--file", path,
                               "pagepool=2G"], **options)
        assert done.returncode == 0
        if as_nobody:
            done = subprocess.run([*run, "change", "--file", path,
                                   "pagepool=2G"], **options)
            assert done.returncode == 1
            assert "run scalectl as root" in done.stderr
            assert folder in done.stderr
            path.chmod(0o600)
            done = subprocess.run([*run, "get", "--file", path], **options)
            assert done.returncode == 3
            assert "run scalectl as root" in done.stderr
        assert path.read_text() == TEXT


def test_it_runs_from_an_installed_prefix(tmp_path, conf):
    """/usr/sbin/scalectl with /usr/share/nfs-ganesha-scale/scalectl."""
    modules = tmp_path / "usr/share/nfs-ganesha-scale/scalectl"
    modules.mkdir(parents=True)
    for module in COMMAND.parent.glob("*.py"):
        shutil.copy(module, modules)
    (modules / "build_version.py").write_text('VERSION = "7.8.9"\n')
    command = tmp_path / "usr/sbin/scalectl"
    command.parent.mkdir()
    shutil.copy(COMMAND, command)
    done = subprocess.run([command, "--version"], capture_output=True,
                          text=True, check=True)
    assert done.stdout == "scalectl 7.8.9\n"
    assert not list(tmp_path.rglob("__pycache__"))
    shutil.rmtree(modules)
    done = subprocess.run([command, "--version"], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 1 and "install the package" in done.stderr


def test_completion_offers_commands_and_parameters():
    script = (f". {COMMAND.parent}/bash-completion\n"
              "_init_completion() { cur=$cur_word; "
              "prev=${line[-2]}; words=(\"${line[@]}\"); }\n"
              "try() { line=(\"$@\"); cur_word=${line[-1]}; COMPREPLY=(); "
              "_scalectl; echo ${COMPREPLY[@]}; }\n"
              "compopt() { :; }\n"
              "try scalectl c; try scalectl config g; "
              "try scalectl config get max; try scalectl config change --r; "
              "try scalectl config change MIN; try scalectl s; "
              "try scalectl stats; try scalectl stats --w\n")
    done = subprocess.run(["bash", "-c", script], capture_output=True,
                          text=True, check=True)
    assert done.stdout.splitlines() == [
        "config", "get", "maxFilesToCache maxStatCache", "--restart",
        "MINOR_VERSIONS=", "stats", "stats", "--watch"]
