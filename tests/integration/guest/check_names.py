# SPDX-License-Identifier: LGPL-3.0-or-later
"""Names are bytes: long ones, odd ones, and many."""

import errno
import os

from context import fails, read, write

MANY = 5000
ODD = (b" ", b" leading", b"trailing ", b"new\nline", b"tab\there", b"quo'te",
       b'dou"ble', b"back\\slash", b"star*", b"$(touch pwned)", b"-rf",
       b"...", b"..x", b"\x01\x7f", "größe".encode(), "日本語".encode(),
       "e\u0301".encode(), "\u00e9".encode(), b"%s%n", b";", b"CON", b"con")
INVALID = (b"\xff\xfe", b"\xc3\x28", b"\x80", b"latin-\xe9", b"\xed\xa0\x80")


def _each_name(ctx, names):
    for name in names:
        write(ctx.path(name), name)
    assert sorted(os.listdir(ctx.dir)) == sorted(names)
    for name in names:
        assert read(ctx.path(name)) == name
        ctx.same(name)
    ctx.same()
    for name in names:
        os.rename(ctx.path(name), ctx.path(name + b"2"))
    ctx.same()
    for name in names:
        os.unlink(ctx.path(name + b"2"))
    ctx.same()


def check_odd_names(ctx):
    _each_name(ctx, ODD)


def check_invalid_utf8_names(ctx):
    _each_name(ctx, INVALID)


def check_names_of_255_bytes(ctx):
    names = [b"n" * 255, b"m" * 254 + b"1", "ü".encode() * 127 + b"x"]
    for name in names:
        write(ctx.path(name), name)
        ctx.same(name)
    ctx.same()
    os.mkdir(ctx.path(b"d" * 255))
    os.symlink(names[0], ctx.path(b"s" * 255))
    ctx.same(b"s" * 255)
    os.rename(ctx.path(names[0]), ctx.path(b"r" * 255))
    ctx.gone(names[0])
    ctx.same()


def check_too_long_names(ctx):
    write(ctx.path("f"), b"")
    name = ctx.path(b"x" * 256)
    with fails(errno.ENAMETOOLONG):
        os.open(name, os.O_CREAT | os.O_WRONLY)
    with fails(errno.ENAMETOOLONG):
        os.mkdir(name)
    with fails(errno.ENAMETOOLONG):
        os.symlink("f", name)
    with fails(errno.ENAMETOOLONG):
        os.link(ctx.path("f"), name)
    with fails(errno.ENAMETOOLONG):
        os.rename(ctx.path("f"), name)
    with fails(errno.ENAMETOOLONG):
        os.stat(name)
    ctx.same()


def check_case_matters(ctx):
    write(ctx.path("name"), b"lower")
    write(ctx.path("NAME"), b"upper")
    assert read(ctx.path("name")) == b"lower"
    ctx.same()


def check_many_names(ctx):
    names = [f"file-{number:05d}.o".encode() for number in range(MANY)]
    for name in names:
        os.close(os.open(ctx.path(name), os.O_CREAT | os.O_WRONLY))
    listed = os.listdir(ctx.dir)
    assert len(listed) == len(set(listed)), "a name was listed twice"
    assert sorted(listed) == names
    ctx.same()
    with os.scandir(ctx.dir) as entries:
        assert sum(entry.is_file() for entry in entries) == MANY
    for name in names[::50]:
        os.unlink(ctx.path(name))
    ctx.same()


def check_remove_while_reading(ctx):
    names = {b"n%04d" % number for number in range(1500)}
    for name in names:
        os.close(os.open(ctx.path(name), os.O_CREAT | os.O_WRONLY))
    seen = []
    with os.scandir(ctx.dir) as entries:
        for entry in entries:
            seen.append(entry.name)
            os.unlink(entry.path)
    assert len(seen) == len(set(seen)), "a name came twice"
    assert set(seen) <= names
    # What a reader may miss while names go away, a second pass must find.
    for name in os.listdir(ctx.dir):
        os.unlink(ctx.path(name))
    assert os.listdir(ctx.dir) == []
    ctx.same()
