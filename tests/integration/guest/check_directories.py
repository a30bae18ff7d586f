# SPDX-License-Identifier: LGPL-3.0-or-later
"""Directories, and moving things about in them."""

import errno
import os

from context import fails, read, server_lstat, write


def check_mkdir_rmdir(ctx):
    os.mkdir(ctx.path("d"), 0o751)
    assert ctx.same("d")["mode"] == 0o751
    with fails(errno.EEXIST):
        os.mkdir(ctx.path("d"))
    write(ctx.path("d/f"), b"")
    with fails(errno.ENOTEMPTY, errno.EEXIST):
        os.rmdir(ctx.path("d"))
    with fails(errno.EISDIR, errno.EPERM):
        os.unlink(ctx.path("d"))
    with fails(errno.ENOTDIR):
        os.rmdir(ctx.path("d/f"))
    with fails(errno.ENOTDIR):
        os.mkdir(ctx.path("d/f/g"))
    os.unlink(ctx.path("d/f"))
    os.rmdir(ctx.path("d"))
    ctx.gone("d")


def check_link_count_of_directories(ctx):
    for name in ("a", "b", "c"):
        os.mkdir(ctx.path(name))
    assert ctx.same()["nlink"] == 5
    os.rmdir(ctx.path("b"))
    assert ctx.same()["nlink"] == 4


def check_deep_tree(ctx):
    path = "/".join(f"level{number}" for number in range(40))
    os.makedirs(ctx.path(path))
    write(ctx.path(path + "/leaf"), b"deep")
    ctx.same(path + "/leaf")
    os.chdir(ctx.path(path))
    os.chdir("../../..")
    assert os.listdir(b".") == [b"level37"]


def check_directory_times_change(ctx):
    before = ctx.same(content=False)["mtime_ns"]
    write(ctx.path("f"), b"")
    between = ctx.same(content=False)["mtime_ns"]
    assert between > before, "a create did not change its directory"
    os.unlink(ctx.path("f"))
    after = ctx.same(content=False)["mtime_ns"]
    assert after > between, "a remove did not change its directory"


def check_rename_file(ctx):
    write(ctx.path("a"), b"content")
    os.rename(ctx.path("a"), ctx.path("b"))
    ctx.gone("a")
    ctx.same("b")
    ctx.same()
    assert read(ctx.path("b")) == b"content"
    with fails(errno.ENOENT):
        os.rename(ctx.path("a"), ctx.path("c"))


def check_rename_over_file(ctx):
    write(ctx.path("new"), b"new content")
    write(ctx.path("old"), b"old")
    os.rename(ctx.path("new"), ctx.path("old"))
    assert read(ctx.path("old")) == b"new content"
    ctx.gone("new")
    ctx.same("old")
    ctx.same()


def check_rename_over_file_with_two_names(ctx):
    write(ctx.path("new"), b"new content")
    write(ctx.path("old"), b"old")
    os.link(ctx.path("old"), ctx.path("old's other name"))
    os.rename(ctx.path("new"), ctx.path("old"))
    ctx.gone("new")
    ctx.same("old")
    assert ctx.same("old's other name")["nlink"] == 1
    assert read(ctx.path("old's other name")) == b"old"


def check_rename_over_open_file(ctx):
    write(ctx.path("new"), b"new content")
    write(ctx.path("old"), b"old content")
    with open(ctx.path("old"), "rb", buffering=0) as file:
        os.rename(ctx.path("new"), ctx.path("old"))
        assert file.read() == b"old content"
    assert read(ctx.path("old")) == b"new content"
    ctx.same("old")
    assert os.listdir(ctx.dir) == [b"old"]


def check_rename_over_empty_directory(ctx):
    os.mkdir(ctx.path("a"))
    write(ctx.path("a/f"), b"inside")
    os.mkdir(ctx.path("b"))
    os.rename(ctx.path("a"), ctx.path("b"))
    ctx.gone("a")
    assert read(ctx.path("b/f")) == b"inside"
    ctx.same("b")
    os.mkdir(ctx.path("c"))
    with fails(errno.ENOTEMPTY, errno.EEXIST):
        os.rename(ctx.path("c"), ctx.path("b"))
    ctx.same()


def check_rename_of_unlike_types(ctx):
    os.mkdir(ctx.path("d"))
    write(ctx.path("f"), b"")
    with fails(errno.EISDIR, errno.EEXIST):
        os.rename(ctx.path("f"), ctx.path("d"))
    with fails(errno.ENOTDIR, errno.EEXIST):
        os.rename(ctx.path("d"), ctx.path("f"))
    ctx.same()


def check_rename_onto_own_link(ctx):
    """POSIX: two names of one file, so nothing happens."""
    write(ctx.path("a"), b"x")
    os.link(ctx.path("a"), ctx.path("b"))
    os.rename(ctx.path("a"), ctx.path("b"))
    ctx.same("b")
    ctx.same()


def check_rename_across_directories(ctx):
    os.makedirs(ctx.path("from/sub"))
    os.mkdir(ctx.path("to"))
    write(ctx.path("from/f"), b"file")
    write(ctx.path("from/sub/g"), b"in sub")
    os.rename(ctx.path("from/f"), ctx.path("to/f2"))
    os.rename(ctx.path("from/sub"), ctx.path("to/sub2"))
    for name in ("from", "to", "to/f2", "to/sub2", "to/sub2/g"):
        ctx.same(name)
    ctx.gone("from/f")
    ctx.gone("from/sub")


def check_dotdot_of_moved_directory(ctx):
    for name in ("one", "two", "one/moving"):
        os.mkdir(ctx.path(name))
    write(ctx.path("one/marker"), b"1")
    write(ctx.path("two/marker"), b"2")
    os.chdir(ctx.path("one/moving"))
    assert read("../marker") == b"1"
    os.rename(ctx.path("one/moving"), ctx.path("two/moved"))
    assert read("../marker") == b"2"
    assert server_lstat("..") == server_lstat(ctx.path("two"))
    os.chdir("..")
    assert sorted(os.listdir(b".")) == [b"marker", b"moved"]
    ctx.same("two")


def check_directory_into_itself(ctx):
    os.makedirs(ctx.path("a/b"))
    with fails(errno.EINVAL):
        os.rename(ctx.path("a"), ctx.path("a/b/c"))
    ctx.same("a")
    ctx.same("a/b")


def check_removed_directory_is_empty(ctx):
    os.mkdir(ctx.path("d"))
    os.chdir(ctx.path("d"))
    os.rmdir(ctx.path("d"))
    with fails(errno.ENOENT, errno.ESTALE):
        os.open("f", os.O_CREAT | os.O_WRONLY)
    ctx.gone("d")
