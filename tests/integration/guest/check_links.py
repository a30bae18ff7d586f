# SPDX-License-Identifier: LGPL-3.0-or-later
"""Hard links, symbolic links and special files."""

import errno
import os
import socket
import stat

from context import fails, read, write


def check_hard_links(ctx):
    write(ctx.path("a"), b"one file")
    os.mkdir(ctx.path("d"))
    os.link(ctx.path("a"), ctx.path("b"))
    os.link(ctx.path("a"), ctx.path("d/c"))
    for name in ("a", "b", "d/c"):
        assert ctx.same(name)["nlink"] == 3
    assert os.path.samefile(ctx.path("a"), ctx.path("d/c"))
    write(ctx.path("b"), b"changed by another name")
    assert read(ctx.path("d/c")) == b"changed by another name"
    os.unlink(ctx.path("a"))
    ctx.gone("a")
    assert ctx.same("b")["nlink"] == 2
    assert ctx.same("d/c")["nlink"] == 2
    with fails(errno.EEXIST):
        os.link(ctx.path("b"), ctx.path("d/c"))
    with fails(errno.EPERM):
        os.link(ctx.path("d"), ctx.path("e"))


def check_symlinks(ctx):
    write(ctx.path("target"), b"by link")
    targets = {"good": b"target", "dangling": b"no/such/name",
               "absolute": b"/etc/hostname", "odd": b"a\xff \n'\"b",
               "long": b"x" * 1000, "spaces": b" "}
    for name, target in targets.items():
        os.symlink(target, ctx.path(name))
        assert os.readlink(ctx.path(name)) == target
        assert ctx.same(name)["type"] == stat.S_IFLNK
    assert read(ctx.path("good")) == b"by link"
    with fails(errno.EEXIST):
        os.symlink("other", ctx.path("good"))
    os.rename(ctx.path("good"), ctx.path("moved"))
    ctx.same("moved")
    os.unlink(ctx.path("moved"))
    ctx.gone("moved")
    ctx.same("target")
    os.symlink("loop", ctx.path("loop"))
    with fails(errno.ELOOP):
        os.stat(ctx.path("loop"))


def check_size_of_symlink(ctx):
    os.symlink("seventeen letters", ctx.path("l"))
    size = ctx.same("l")["size"]
    assert size == 17, f"the link's size is {size}"


def check_fifo(ctx):
    os.mkfifo(ctx.path("p"), 0o640)
    seen = ctx.same("p")
    assert seen["type"] == stat.S_IFIFO and seen["mode"] == 0o640
    reader = os.open(ctx.path("p"), os.O_RDONLY | os.O_NONBLOCK)
    writer = os.open(ctx.path("p"), os.O_WRONLY | os.O_NONBLOCK)
    os.write(writer, b"through")
    assert os.read(reader, 100) == b"through"
    os.unlink(ctx.path("p"))
    ctx.gone("p")


def check_socket(ctx):
    os.chdir(ctx.dir)
    with socket.socket(socket.AF_UNIX) as server, \
            socket.socket(socket.AF_UNIX) as client:
        server.bind("s")
        assert ctx.same("s")["type"] == stat.S_IFSOCK
        server.listen(1)
        client.connect("s")
    os.unlink("s")
    ctx.gone("s")


def check_devices(ctx):
    for name, kind, major, minor in (
            ("null", stat.S_IFCHR, 1, 3), ("block", stat.S_IFBLK, 7, 5),
            ("large", stat.S_IFCHR, 300, 70_000)):
        os.mknod(ctx.path(name), kind | 0o620, os.makedev(major, minor))
        seen = ctx.same(name)
        assert seen["type"] == kind and seen["rdev"] == [major, minor]
    os.chmod(ctx.path("null"), 0o666)
    with open(ctx.path("null"), "wb", buffering=0) as null:
        assert null.write(b"swallowed") == 9
    ctx.same()
