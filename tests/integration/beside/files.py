# SPDX-License-Identifier: LGPL-3.0-or-later
"""What happens to files beside NFS, as scenarios for Place.follow()."""

import ctypes
import mmap
import os
import stat
import subprocess

from beside.truth import AT_FDCWD

AT_SYMLINK_FOLLOW = 0x400


def a_log_grows(place):
    with open(place.here / "log", "ab", buffering=0) as log:
        yield
        for number in range(6):
            log.write(b"line %d\n" % number)
            yield


def a_file_grows_without_writes(place):
    """By preallocation, in the kernel, and by its size alone."""
    (place.here / "source").write_bytes(b"x" * 5000)
    descriptor = os.open(place.here / "file", os.O_RDWR | os.O_CREAT, 0o644)
    yield
    os.posix_fallocate(descriptor, 0, 3000)
    yield
    with open(place.here / "source", "rb") as source:
        os.copy_file_range(source.fileno(), descriptor, 4000)
        yield
        os.lseek(descriptor, 4000, os.SEEK_SET)
        source.seek(0)
        os.sendfile(descriptor, source.fileno(), 0, 5000)
        yield
    os.ftruncate(descriptor, 20000)
    yield
    os.close(descriptor)


def an_editor_saves(place):
    """By another file renamed over it, and with a backup beside it."""
    file = place.here / "file"
    file.write_text("one")
    yield [".file.swp", "file~"]
    for text in ("two and more", "3"):
        swap = place.here / ".file.swp"
        with open(swap, "w", encoding="ascii") as new:
            new.write(text)
            os.fsync(new.fileno())
        os.rename(swap, file)
        yield
    backup = place.here / "file~"
    os.rename(file, backup)
    file.write_text("written anew")
    yield
    os.unlink(backup)
    os.link(file, backup)
    file.write_text("written in place")
    yield


def logs_rotate(place):
    """Away by name, begun anew, while the old one is still written."""
    log = place.here / "log"
    writer = open(log, "ab", buffering=0)
    writer.write(b"begin\n")
    yield ["log.1", "log.2", "log.3"]
    for turn in range(3):
        for number in (2, 1):
            if (place.here / f"log.{number}").exists():
                os.rename(place.here / f"log.{number}",
                          place.here / f"log.{number + 1}")
        os.rename(log, place.here / "log.1")
        writer.write(b"late line of turn %d\n" % turn)
        yield
        new = open(log, "ab", buffering=0)
        new.write(b"turn %d\n" % turn)
        yield
        writer.write(b"the last line\n")
        writer.close()
        writer = new
    yield
    # And by copying away what was in it.
    (place.here / "log.copy").write_bytes(log.read_bytes())
    os.truncate(log, 0)
    yield
    writer.write(b"goes on\n")
    writer.close()
    yield


def attributes_change(place):
    file, directory = place.here / "file", place.here / "directory"
    file.write_text("x")
    directory.mkdir()
    os.symlink("nowhere", place.here / "link")
    yield
    for path in (file, directory):
        os.chmod(path, 0o4711)
        yield
        os.chown(path, 12345, 54321)
        yield
        os.utime(path, ns=(10**18, 10**18 + 123456789))
        yield
    os.chown(place.here / "link", 77, 88, follow_symlinks=False)
    os.utime(place.here / "link", ns=(5, 7), follow_symlinks=False)
    yield


def writing_takes_setuid_away(place):
    file = place.here / "file"
    file.write_text("x")
    os.chmod(file, 0o6777)
    yield
    subprocess.run(["setpriv", "--reuid=1234", "--clear-groups", "dd",
                    "of=file", "conv=notrunc", "status=none"],
                   cwd=place.here, input=b"yyy", check=True)
    assert not os.lstat(file).st_mode & stat.S_ISUID
    yield


def a_file_is_truncated(place):
    file = place.here / "file"
    file.write_bytes(b"x" * 5000)
    yield
    os.truncate(file, 100)
    yield
    os.truncate(file, 0)
    yield
    os.truncate(file, 3000)
    yield
    file.write_bytes(b"short")
    yield
    os.close(os.open(file, os.O_WRONLY | os.O_TRUNC))
    yield


def hard_links(place):
    """Inside, from outside of the export, and changes by the other name."""
    file, outside = place.here / "file", place.outside / "link"
    (place.here / "directory").mkdir()
    file.write_text("x")
    yield ["second", "directory/third"]
    os.link(file, place.here / "second")
    yield
    os.link(file, place.here / "directory" / "third")
    yield
    os.link(file, outside)
    yield
    outside.write_text("by the link outside")
    yield
    os.chmod(outside, 0o600)
    yield
    os.unlink(file)
    yield
    os.rename(place.here / "directory" / "third", file)
    yield
    os.unlink(place.here / "second")
    yield
    os.unlink(outside)
    yield
    (place.outside / "new").write_text("comes from outside")
    os.link(place.outside / "new", place.here / "second")
    yield


def files_held_open(place):
    """Written, changed and unlinked by who has them open."""
    files = [open(place.here / f"file-{number}", "wb+", buffering=0)
             for number in range(3)]
    files[2].write(b"to be removed")
    yield
    files[0].write(b"one")
    yield
    os.fchmod(files[1].fileno(), 0o640)
    os.ftruncate(files[1].fileno(), 77)
    yield
    os.unlink(place.here / "file-2")
    yield
    files[2].write(b"goes on after its end")
    yield
    for file in files:
        file.close()
    yield


def a_file_without_a_name_gets_one(place):
    """O_TMPFILE, then linked to where there was nothing."""
    yield ["file"]
    descriptor = os.open(place.here, os.O_TMPFILE | os.O_RDWR, 0o644)
    os.write(descriptor, b"whole at once")
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.linkat(AT_FDCWD, b"/proc/self/fd/%d" % descriptor, AT_FDCWD,
                       os.fsencode(place.here / "file"),
                       AT_SYMLINK_FOLLOW) == 0
    yield
    os.close(descriptor)
    yield


def a_mapped_file_is_written(place):
    """Seen when it is closed, at the latest."""
    file = place.here / "file"
    file.write_bytes(b"x" * 8192)
    yield
    for number in range(2):
        with open(file, "r+b") as opened, \
                mmap.mmap(opened.fileno(), 8192) as memory:
            memory[:5] = b"map %d" % number
            memory[5000:5005] = b"map %d" % number
            memory.flush()
        yield


def acl_and_extended_attributes(place):
    """The mode follows the ACL's mask; ctime tells of the others."""
    file, directory = place.here / "file", place.here / "directory"
    file.write_text("x")
    directory.mkdir()
    yield
    for path in (file, directory):
        subprocess.run(["setfacl", "-m", "u:1234:rwx,m::rwx", path],
                       check=True)
        yield
        subprocess.run(["setfacl", "-b", path], check=True)
        yield
        os.setxattr(path, "user.test", b"value")
        yield
        os.removexattr(path, "user.test")
        yield


def a_symlink_is_replaced(place):
    link = place.here / "current"
    for number in (1, 2, 3):
        (place.here / f"release-{number}").mkdir()
        (place.here / f"release-{number}" / "file").write_text(f"{number}")
    os.symlink("release-1", link)
    yield ["current.new"]
    os.symlink("release-2", place.here / "current.new")
    os.rename(place.here / "current.new", link)
    yield
    os.unlink(link)
    os.symlink("release-3", link)
    yield
    os.unlink(link)
    (place.here / "release-1").rename(link)
    yield


def numbers_are_used_again(place):
    """Another object with the inode number of the one before."""
    name = place.here / "file"
    for number in range(4):
        name.write_text("x" * number)
        yield
        os.unlink(name)
        name.mkdir()
        yield
        name.rmdir()
        os.symlink(f"target-{number}", name)
        yield
        os.unlink(name)
    yield
