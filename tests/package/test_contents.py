# SPDX-License-Identifier: LGPL-3.0-or-later
"""What is in the package, without installing it."""

import re
import subprocess

import pytest

from conftest import run


@pytest.fixture(scope="module")
def multiarch():
    return run("dpkg-architecture", "-q", "DEB_HOST_MULTIARCH").strip()


@pytest.fixture(scope="module")
def files(package):
    """Names in the package: their modes and owners."""
    listing = run("dpkg-deb", "--contents", package)
    return {fields[5].removeprefix("."): (fields[0], fields[1])
            for fields in (line.split(None, 5)
                           for line in listing.splitlines())}


def field(package, name):
    return run("dpkg-deb", "--field", package, name).strip()


def test_name_and_architecture(package):
    assert field(package, "Package") == "nfs-ganesha-scale"
    assert package.name == (
        f"nfs-ganesha-scale_{field(package, 'Version')}_"
        f"{run('dpkg', '--print-architecture').strip()}.deb")


def test_depends_on_exactly_the_installed_ganesha(package):
    version = run("dpkg-query", "-W", "-f", "${Version}", "nfs-ganesha")
    depends = [entry.strip()
               for entry in field(package, "Depends").split(",")]
    assert f"nfs-ganesha (= {version})" in depends
    assert any(entry.startswith("libc6 ") for entry in depends)
    assert "python3:any" in depends


@pytest.mark.parametrize("name", [
    "/usr/lib/{multiarch}/ganesha/libfsalscale.so",
    "/usr/sbin/scalectl",
    "/usr/share/doc/nfs-ganesha-scale/changelog.gz",
    "/usr/share/doc/nfs-ganesha-scale/copyright",
    "/usr/share/doc/nfs-ganesha-scale/examples/vfs.conf",
    "/usr/share/doc/nfs-ganesha-scale/examples/proxy_v4.conf",
    "/usr/share/doc/nfs-ganesha-scale/examples/mem.conf",
    "/usr/share/doc/nfs-ganesha-scale/examples/container.conf",
    "/usr/share/man/man8/scalectl.8.gz",
])
def test_holds(files, multiarch, name):
    assert name.format(multiarch=multiarch) in files


def test_nothing_outside_usr_and_all_of_root(files):
    assert [name for name in files if not name.startswith("/usr/")] == []
    assert {owner for _, owner in files.values()} == {"root/root"}
    # Nobody but root may write what root will run.
    assert [name for name, (mode, _) in files.items()
            if mode[5] == "w" or mode[8] == "w"] == []


def test_module_finds_the_library_as_ganeshas_own_do(package, multiarch,
                                                     tmp_path):
    run("dpkg-deb", "--extract", package, tmp_path)
    ours, theirs = (
        re.search(r"R(?:UN)?PATH.*\[(.*)\]",
                  run("readelf", "-d", f"{prefix}/usr/lib/{multiarch}"
                      f"/ganesha/{name}"))[1]
        for prefix, name in ((tmp_path, "libfsalscale.so"),
                             ("", "libfsalvfs.so")))
    assert ours == theirs


def test_lintian(package):
    """No error and no warning; overrides give their reasons."""
    result = subprocess.run(
        ["lintian", "--allow-root", "--fail-on", "error,warning",
         "--tag-display-limit", "0", str(package)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False, timeout=150)
    assert result.returncode == 0, result.stdout
