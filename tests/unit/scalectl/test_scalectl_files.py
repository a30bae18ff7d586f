# SPDX-License-Identifier: LGPL-3.0-or-later
"""Files are replaced whole, keep what is theirs, and are locked meanwhile."""

import errno
import fcntl
import os
import signal
import struct
import subprocess
import sys

import pytest

from scalectl_places import COMMAND, PROJECT
from scalectl import files, parameters
from scalectl.config_command import change
from scalectl.errors import ScalectlError

MINOR = parameters.find("MINOR_VERSIONS")
OLD = "NFSv4 { Minor_Versions = 1; }\n"
NEW = "NFSv4 { Minor_Versions = 0; }\n"


@pytest.fixture(params=["nameless", "named"])
def temporary_file(request, monkeypatch):
    """Both ways to make the new file: most, but not all file systems can
    make one without a name."""
    real = os.open

    def refuse(path, flags, *arguments, **keywords):
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, "not here")
        return real(path, flags, *arguments, **keywords)
    if request.param == "named":
        monkeypatch.setattr(os, "open", refuse)


def acl(*entries):
    """A POSIX ACL, as its extended attribute holds it."""
    return struct.pack("<I", 2) + b"".join(
        struct.pack("<HHI", tag, permissions, who)
        for tag, permissions, who in entries)


NOBODY = 0xffffffff
ACL = acl((1, 6, NOBODY), (2, 4, 99), (4, 4, NOBODY), (16, 6, NOBODY),
          (32, 0, NOBODY))


@pytest.mark.usefixtures("temporary_file")
@pytest.mark.parametrize("mode", [0o644, 0o600, 0o4755, 0o400])
def test_the_mode_stays_whatever_the_folder_hands_down(conf, tmp_path, mode):
    path = conf(OLD)
    os.chmod(path, mode)
    os.setxattr(tmp_path, "system.posix_acl_default", ACL)
    change(path, [(MINOR, "0")])
    assert path.read_text() == NEW
    assert path.stat().st_mode & 0o7777 == mode
    assert "system.posix_acl_access" not in os.listxattr(path)


@pytest.mark.usefixtures("temporary_file")
def test_mode_owner_acl_and_attributes_stay(conf):
    path = conf(OLD)
    os.chown(path, 1234, 4321)
    os.chmod(path, 0o640)
    os.setxattr(path, "system.posix_acl_access", ACL)
    os.setxattr(path, "user.note", b"mine")
    before = path.stat()
    assert not change(path, [(MINOR, "0")])["warnings"]
    after = path.stat()
    assert path.read_text() == NEW
    assert (after.st_uid, after.st_gid, after.st_mode) \
        == (1234, 4321, before.st_mode)
    assert after.st_ino != before.st_ino
    assert os.getxattr(path, "system.posix_acl_access") == ACL
    assert os.getxattr(path, "user.note") == b"mine"
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.usefixtures("temporary_file")
def test_symbolic_links_stay_links(conf, tmp_path):
    target = conf(OLD, "real/target.conf")
    (tmp_path / "middle").symlink_to("real/target.conf")
    link = tmp_path / "ganesha.conf"
    link.symlink_to(tmp_path / "middle")
    change(link, [(MINOR, "0")])
    assert link.is_symlink() and (tmp_path / "middle").is_symlink()
    assert target.read_text() == NEW and not target.is_symlink()


@pytest.mark.usefixtures("temporary_file")
@pytest.mark.parametrize("call", ["rename", "fsync", "fchown"])
@pytest.mark.parametrize("reason", [
    OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_what_fails_leaves_the_old_file_alone(conf, monkeypatch, call,
                                              reason):
    path = conf(OLD)
    os.chown(path, 1234, 4321)

    def fail(*_, **__):
        raise reason
    monkeypatch.setattr(os, call, fail)
    with pytest.raises((ScalectlError, KeyboardInterrupt)) as caught:
        change(path, [(MINOR, "0")])
    assert path.read_text() == OLD
    assert os.listdir(path.parent) == [path.name]
    if isinstance(reason, OSError):
        assert str(path) in str(caught.value)
        assert "make room" in str(caught.value)


def killed_before_rename(path):
    """Run a change that is killed when the new file is complete."""
    program = ("import os, signal, sys\n"
               f"sys.path.insert(0, {str(PROJECT / 'config')!r})\n"
               "sys.dont_write_bytecode = True\n"
               "from scalectl.cli import main\n"
               "os.rename = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
               f"main(['config', 'change', '--file', {str(path)!r}, "
               "'MINOR_VERSIONS=0'])\n")
    return subprocess.run([sys.executable, "-c", program], check=False)


def test_a_kill_leaves_the_old_file_and_no_trouble(conf):
    path = conf(OLD)
    assert killed_before_rename(path).returncode == -signal.SIGKILL
    assert path.read_text() == OLD
    change(path, [(MINOR, "0")])
    assert path.read_text() == NEW
    assert os.listdir(path.parent) == [path.name]


def test_hard_links_are_mentioned(conf, tmp_path):
    path = conf(OLD)
    os.link(path, tmp_path / "second")
    result = change(path, [(MINOR, "0")])
    assert "2 hard links" in result["warnings"][0]
    assert (tmp_path / "second").read_text() == OLD


def test_another_programs_change_is_not_overwritten(conf):
    path = conf(OLD)
    read = path.stat()
    path.write_text("# edited\n" + OLD)
    with pytest.raises(ScalectlError, match="changed by another program"):
        files.replace(str(path), b"", read)
    assert path.read_text() == "# edited\n" + OLD


def test_a_lock_that_stays_is_reported(conf, monkeypatch, tmp_path):
    monkeypatch.setattr(files, "LOCK_WAIT_SECONDS", 0.1)
    path = conf(OLD)
    fd = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    try:
        with pytest.raises(ScalectlError, match="another scalectl"):
            change(path, [(MINOR, "0")])
    finally:
        os.close(fd)
    assert change(path, [(MINOR, "0")])["changed"]


def test_a_file_system_without_locks_is_no_obstacle(conf, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EBADF, "Bad file descriptor")
    monkeypatch.setattr(fcntl, "flock", refuse)
    path = conf(OLD)
    change(path, [(MINOR, "0")])
    assert path.read_text() == NEW


def test_concurrent_changes_are_not_lost(conf):
    conf("# empty\n", "sub/in.conf")
    path = conf("%include sub/in.conf\n")
    wanted = ["MINOR_VERSIONS=1", "maxFilesToCache=7", "maxStatCache=8",
              "pagepool=9M"]
    running = [subprocess.Popen(
        [COMMAND, "config", "change", "--file", path, word])
        for word in wanted * 3]
    assert [process.wait(60) for process in running] == [0] * 12
    text = path.read_text()
    for word in ("NFSv4 {", "SCALE {", "Minor_Versions = 1;",
                 "maxFilesToCache = 7;", "maxStatCache = 8;",
                 'pagepool = "9M";'):
        assert text.count(word) == 1


def in_mount_namespace(script, *arguments):
    """Run a shell script with mounts of its own."""
    return subprocess.run(["unshare", "-m", "sh", "-euc", script, "sh",
                           *map(str, arguments)], capture_output=True,
                          text=True, check=False, timeout=60)


def test_a_read_only_file_system_is_named(conf):
    path = conf(OLD)
    done = in_mount_namespace(
        'mount --bind "$1" "$1"; mount -o remount,ro,bind "$1"\n'
        'exec "$2" config change --file "$3" MINOR_VERSIONS=0',
        path.parent, COMMAND, path)
    assert done.returncode == 1
    assert "read-only" in done.stderr and str(path.parent) in done.stderr
    assert path.read_text() == OLD


def test_a_mounted_file_is_named(conf, tmp_path):
    """As with a container's configuration, mounted as a single file."""
    path = conf(OLD)
    place = tmp_path / "etc"
    place.mkdir()
    done = in_mount_namespace(
        'touch "$2/g.conf"; mount --bind "$1" "$2/g.conf"\n'
        'exec "$3" config change --file "$2/g.conf" MINOR_VERSIONS=0',
        path, place, COMMAND)
    assert done.returncode == 1
    assert "mount point" in done.stderr and f"{place}/g.conf" in done.stderr
    assert path.read_text() == OLD
    assert os.listdir(place) == ["g.conf"]
