# SPDX-License-Identifier: LGPL-3.0-or-later
"""libnfs, a client that shares no code with the kernel's: v3 and 4.0."""

import hashlib
import os

import pytest

from backends import BACKENDS
from harness.ganesha import MOUNT_PORT, PORT

CASES = [pytest.param(backend, version, id=f"{backend}-{version}",
                      marks=pytest.mark.xdist_group(backend))
         for backend in BACKENDS for version in ("3", "4")]


@pytest.fixture
def url(instances, report, backend, version):
    """url(path): the libnfs URL of a path below the export."""
    instance = instances(backend)
    report(instance)

    def make(path):
        return (f"nfs://127.0.0.1{instance.export.pseudo}/{path}"
                f"?version={version}&nfsport={PORT}&mountport={MOUNT_PORT}")

    make.instance = instance
    return make


@pytest.mark.parametrize("backend, version", CASES)
def test_copy_list_and_read(url, version, tmp_path):
    """libnfs 4.0 cannot itself write more than 4 KiB at once by version 4."""
    instance = url.instance
    data = os.urandom(300_001 if version == "3" else 3_001)
    (tmp_path / "local").write_bytes(data)
    name = f"libnfs-{version}"
    instance.ns.run("nfs-cp", tmp_path / "local", url(name))
    listing = instance.ns.run("nfs-ls", url("")).stdout
    line, = [line for line in listing.splitlines() if line.endswith(name)]
    assert f" {len(data)} " in line
    check_content(url, name, data, tmp_path)
    truth = instance.backend.truth
    if truth:
        inside = os.path.join(os.fsencode(instance.backend.root),
                              name.encode())
        assert truth.answer("digest", inside) == digest(data)


@pytest.mark.parametrize("backend, version", CASES)
def test_reading_what_the_kernel_wrote(url, tmp_path):
    instance = url.instance
    path = instance.mounted("4.1") + "/for-libnfs"
    instance.client().call("steps:command", argv=[
        "bash", "-c", f"seq 50000 >{path}"])
    data = "".join(f"{number}\n" for number in range(1, 50001)).encode()
    check_content(url, "for-libnfs", data, tmp_path)


def digest(data):
    return hashlib.sha256(data).hexdigest()


def check_content(url, name, data, tmp_path):
    """nfs-cp and nfs-cat give a file's content."""
    url.instance.ns.run("nfs-cp", url(name), tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == data
    result = url.instance.ns.run("bash", "-c", 'nfs-cat "$1" | sha256sum',
                                 "-", url(name))
    assert result.stdout.split()[0] == digest(data)


@pytest.mark.parametrize("backend, version", CASES)
def test_what_is_not_there(url):
    result = url.instance.ns.run("nfs-cat", url("nosuch"), check=False)
    assert result.returncode != 0
    assert "NOENT" in result.stdout, result.stdout
