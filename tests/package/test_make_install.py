# SPDX-License-Identifier: LGPL-3.0-or-later
"""'make install' puts what the package holds, 'make uninstall' removes it."""

import os

from conftest import BUILD, TOP, run


def make(target, destination):
    return run("make", "-C", BUILD, target,
               env={**os.environ, "DESTDIR": str(destination)})


def files_below(folder):
    return sorted(str(path.relative_to(folder))
                  for path in folder.rglob("*") if not path.is_dir())


def test_installs_the_files_of_the_package(package, tmp_path):
    make("install", tmp_path / "made")
    run("dpkg-deb", "--extract", package, tmp_path / "package")
    assert files_below(tmp_path / "made") == files_below(tmp_path / "package")


def test_uninstall_leaves_nothing(tmp_path):
    make("install", tmp_path)
    foreign = tmp_path / "usr/sbin/foreign"
    foreign.write_text("not ours")
    make("uninstall", tmp_path)
    assert files_below(tmp_path) == ["usr/sbin/foreign"]
    assert list(tmp_path.rglob("nfs-ganesha-scale")) == []


def test_uninstall_keeps_what_others_put_beside(tmp_path):
    make("install", tmp_path)
    notes = tmp_path / "usr/share/doc/nfs-ganesha-scale/examples/notes"
    notes.write_text("not ours")
    make("uninstall", tmp_path)
    assert files_below(tmp_path) == [str(notes.relative_to(tmp_path))]


def test_uninstall_without_install_says_so(tmp_path):
    make("install", tmp_path)
    make("uninstall", tmp_path)
    output = run("make", "-C", BUILD, "uninstall", check=False)
    assert "Nothing was installed from this build folder" in output


def test_uninstall_script_names_what_it_removes(tmp_path):
    manifest = tmp_path / "manifest"
    victim = tmp_path / "victim"
    victim.write_text("x")
    manifest.write_text(f"{victim}\n{tmp_path}/gone already\n")
    output = run("cmake", "-D", f"MANIFEST={manifest}", "-P",
                 TOP / "config/packaging/uninstall.cmake")
    assert str(victim) in output
    assert not victim.exists() and not manifest.exists()
