# SPDX-License-Identifier: LGPL-3.0-or-later
"""Regular files: creating, reading, writing, removing."""

import errno
import mmap
import os
import time

from context import fails, read, write


def check_create_and_read(ctx):
    for size in (0, 1, 4095, 4096, 100_001):
        data = os.urandom(size)
        path = write(ctx.path(f"f{size}"), data)
        assert read(path) == data
        assert ctx.same(f"f{size}")["size"] == size
    ctx.same()


def check_overwrite_in_the_middle(ctx):
    path = write(ctx.path("f"), b"a" * 50_000)
    with open(path, "r+b") as file:
        file.seek(20_000)
        file.write(b"B" * 9_000)
    ctx.same("f")
    assert read(path) == b"a" * 20_000 + b"B" * 9_000 + b"a" * 21_000


def check_rewrite_truncates(ctx):
    write(ctx.path("f"), b"long" * 1000)
    write(ctx.path("f"), b"short")
    assert ctx.same("f")["size"] == 5


def check_exclusive_create(ctx):
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
    fd = os.open(ctx.path("f"), flags, 0o640)
    os.write(fd, b"mine")
    os.close(fd)
    assert ctx.same("f")["mode"] == 0o640
    with fails(errno.EEXIST):
        os.open(ctx.path("f"), flags, 0o600)
    assert ctx.same("f")["size"] == 4


def check_append(ctx):
    path = write(ctx.path("f"), b"begin\n")
    first = os.open(path, os.O_WRONLY | os.O_APPEND)
    second = os.open(path, os.O_WRONLY | os.O_APPEND)
    for number in range(20):
        os.write(first if number % 2 else second, b"line %d\n" % number)
    os.close(first)
    os.close(second)
    ctx.same("f")
    assert read(path) == b"begin\n" + b"".join(
        b"line %d\n" % number for number in range(20))


def check_mmap(ctx):
    write(ctx.path("f"), b"." * 40_000)
    with open(ctx.path("f"), "r+b") as file, \
            mmap.mmap(file.fileno(), 0) as memory:
        memory[100:105] = b"first"
        memory[39_995:40_000] = b"final"
        memory.flush()
    data = read(ctx.path("f"))
    assert data[100:105] == b"first" and data[-5:] == b"final"
    ctx.same("f")


def check_open_unlinked_file_stays_usable(ctx):
    path = write(ctx.path("f"), b"still here")
    with open(path, "r+b") as file:
        os.unlink(path)
        assert not os.path.exists(path)
        file.seek(0)
        assert file.read() == b"still here"
        file.write(b", and growing")
        file.flush()
        os.fsync(file.fileno())
        file.seek(0)
        assert file.read() == b"still here, and growing"
        assert os.fstat(file.fileno()).st_size == 23
    # The client removes it after the close, and does not wait for the answer:
    # the names may be right before the directory's attributes are.
    end = time.monotonic() + 5
    while left := what_is_left(ctx):
        assert time.monotonic() < end, f"after 5 s: {left}"
        time.sleep(0.1)


def what_is_left(ctx):
    """What client and backend still know in the directory, or None."""
    try:
        if names := os.listdir(ctx.dir):
            return names
        ctx.same()
        return None
    except OSError as error:
        # FSAL_GLUSTER fails a READDIR that meets a name just removed, with
        # whichever error was the last.
        if ctx.backend != "GLUSTER" or error.errno not in (errno.ESTALE,
                                                           errno.EINVAL):
            raise
        return error
    except AssertionError as error:
        return error


def check_remove(ctx):
    write(ctx.path("f"), b"x")
    ctx.same("f")
    os.unlink(ctx.path("f"))
    ctx.gone("f")
    with fails(errno.ENOENT):
        os.unlink(ctx.path("f"))
    with fails(errno.ENOENT):
        os.open(ctx.path("f"), os.O_RDONLY)


def check_recreate_is_a_new_file(ctx):
    for number in range(10):
        write(ctx.path("f"), b"%d" % number)
        assert read(ctx.path("f")) == b"%d" % number
        ctx.same("f")
        os.unlink(ctx.path("f"))
        ctx.gone("f")


def check_sync_write(ctx):
    fd = os.open(ctx.path("f"), os.O_CREAT | os.O_WRONLY | os.O_SYNC)
    for number in range(8):
        os.write(fd, b"%04d" % number)
    ctx.same("f")
    os.close(fd)


def check_write_needs_permission(ctx):
    os.chmod(ctx.dir, 0o755)
    write(ctx.path("f"), b"root's")
    os.chmod(ctx.path("f"), 0o644)
    os.setegid(1234)
    os.seteuid(1234)
    assert read(ctx.path("f")) == b"root's"
    with fails(errno.EACCES):
        os.open(ctx.path("f"), os.O_WRONLY)
    with fails(errno.EPERM):
        os.chmod(ctx.path("f"), 0o777)


def check_create_and_remove_need_permission(ctx):
    os.chmod(ctx.dir, 0o755)
    write(ctx.path("root's"), b"")
    os.setegid(1234)
    os.seteuid(1234)
    with fails(errno.EACCES):
        os.mkdir(ctx.path("d"))
    with fails(errno.EACCES):
        os.open(ctx.path("f"), os.O_CREAT | os.O_WRONLY)
    with fails(errno.EACCES):
        os.unlink(ctx.path("root's"))


def check_statfs(ctx):
    figures = os.statvfs(ctx.dir)
    assert figures.f_blocks >= figures.f_bfree >= figures.f_bavail
    assert figures.f_namemax >= 255
