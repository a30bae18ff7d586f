# SPDX-License-Identifier: LGPL-3.0-or-later
"""Headers that do not fit the installed Ganesha stop the build.

The SDK that the build folder already has is copied and changed, as if it were
another release's, and the project is configured with it.
"""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[3]
SDK = TOP / "fsal_scale/sdk"
TREE = pathlib.Path(os.environ.get("SCALE_BUILD", TOP / "build"),
                    "fsal_scale/sdk/tree")
REMEDY = "apt-get install --reinstall nfs-ganesha libntirpc-dev"


@pytest.fixture
def configure(tmp_path):
    """configure(path, pattern, new): the result of CMake with one change."""
    def run(path=None, pattern=None, new=None):
        tree = tmp_path / "fsal_scale/sdk/tree"
        shutil.copytree(TREE, tree, symlinks=True)
        if path is not None:
            file = tree / "ganesha/src" / path
            text, count = re.subn(pattern, new,
                                  file.read_text(errors="surrogateescape"))
            assert count == 1, f"{count} matches of {pattern} in {path}"
            file.write_text(text, errors="surrogateescape")
        result = subprocess.run(
            ["cmake", "-S", TOP, "-B", tmp_path, "-DSCALE_TESTS=OFF"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            check=False, timeout=120)
        # CMake folds its messages to the width of a terminal.
        return result.returncode, " ".join(result.stdout.split())
    return run


def test_fitting_sdk_is_accepted(configure):
    status, output = configure()
    assert status == 0, output
    assert re.search(r"FSAL SDK: nfs-ganesha \S+, FSAL version \d+\.\d+",
                     output)


@pytest.mark.parametrize("path, pattern, new, reason", [
    pytest.param(
        "include/gsh_config.h", r"(typedef struct nfs_param \{)",
        r"\1 long added;",
        r"nfs_param is \d+ bytes in the library, \d+ in the headers",
        id="parameters"),
    pytest.param(
        "FSAL/Stackable_FSALs/FSAL_MDCACHE/mdcache_ext.h",
        r"(struct mdcache_parameter \{)", r"\1 long added;",
        r"mdcache_param is \d+ bytes in the library, \d+ in the headers",
        id="mdcache"),
    pytest.param(
        "include/fsal_api.h", r"(#define FSAL_MAJOR_VERSION) \d+", r"\1 99",
        r"the library refuses FSAL version 99\.\d+", id="fsal-version"),
    pytest.param(
        "CMakeLists.txt", r"(set\(GANESHA_MAJOR_VERSION) \d+\)", r"\1 9)",
        r"the library is libganesha_nfsd\.so\.4\.3, the headers are of "
        r"libganesha_nfsd\.so\.9\.3", id="library-version"),
])
def test_mismatch_stops_the_build(configure, path, pattern, new, reason):
    status, output = configure(path, pattern, new)
    assert status != 0
    assert "does not fit the installed nfs-ganesha" in output
    assert re.search(reason, output), output
    assert REMEDY in output


def test_headers_that_do_not_compile_stop_the_build(configure):
    status, output = configure("include/fsal_api.h",
                               r"(#define FSAL_MAJOR_VERSION)",
                               r"#error broken\n\1")
    assert status != 0
    assert "Ganesha's headers do not compile here" in output


@pytest.fixture
def make_sdk(tmp_path):
    """make_sdk(program=script): make-sdk with other programs on the path."""
    def run(**programs):
        for name, script in programs.items():
            program = tmp_path / name.replace("_", "-")
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)
        return subprocess.run(
            [SDK / "make-sdk", tmp_path / "tree"], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
            timeout=60)
    return run


def test_without_ganesha(make_sdk):
    result = make_sdk(dpkg_query="exit 1")
    assert result.returncode == 1
    assert "run 'apt-get install nfs-ganesha'" in result.stdout


def test_version_that_the_sources_do_not_have(make_sdk):
    result = make_sdk(
        dpkg_query="echo 9.9-1",
        apt_get='case "$*" in *update*) exit 0 ;; esac; exit 100')
    assert result.returncode == 1
    assert "no source package nfs-ganesha 9.9-1" in result.stdout
    assert "apt-get update && apt-get install nfs-ganesha" in result.stdout


def test_unreadable_sources(make_sdk):
    result = make_sdk(dpkg_query="echo 9.9-1", apt_get="exit 100")
    assert result.returncode == 1
    assert "APT cannot read the source lists" in result.stdout


def test_fitting_sdk_is_left_as_it_is(make_sdk, tmp_path):
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "version").write_text("9.9-1\n")
    (tree / "kept").write_text("x")
    result = make_sdk(dpkg_query="echo 9.9-1", apt_get="exit 100")
    assert result.returncode == 0, result.stdout
    assert (tree / "kept").exists()


def test_wrong_call():
    result = subprocess.run([SDK / "make-sdk"], text=True, check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert result.returncode == 64
    assert "make-sdk DIR" in result.stdout
