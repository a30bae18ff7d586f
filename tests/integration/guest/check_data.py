# SPDX-License-Identifier: LGPL-3.0-or-later
"""Content: sparse, large, truncated, and many writers in one file."""

import os
import random

from context import read, write

GIB = 1 << 30


def check_truncate(ctx):
    path = write(ctx.path("f"), b"0123456789" * 1000)
    for size in (5_000, 0):
        os.truncate(path, size)
        assert ctx.same("f")["size"] == size
        assert len(read(path)) == size


def check_truncate_up_reads_zeros(ctx):
    path = write(ctx.path("f"), b"begin")
    os.truncate(path, 20_000)
    assert ctx.same("f")["size"] == 20_000
    assert read(path) == b"begin" + bytes(19_995)


def check_truncate_down_and_up_forgets(ctx):
    path = write(ctx.path("f"), b"x" * 20_000)
    os.truncate(path, 100)
    os.truncate(path, 20_000)
    data = read(path)
    assert data[:100] == b"x" * 100
    assert data[100:] == bytes(19_900), "what was cut off came back"
    ctx.same("f")


def check_open_with_truncate(ctx):
    path = write(ctx.path("f"), b"x" * 9_000)
    os.close(os.open(path, os.O_WRONLY | os.O_TRUNC))
    assert ctx.same("f")["size"] == 0


def check_sparse(ctx):
    with open(ctx.path("f"), "wb") as file:
        for offset in (200_000, 100_000, 0):
            file.seek(offset)
            file.write(b"island")
    data = read(ctx.path("f"))
    assert data[:6] == data[100_000:100_006] == data[200_000:] == b"island"
    assert data[6:100_000].count(0) == 99_994
    assert ctx.same("f")["size"] == 200_006


def check_beyond_four_gib_size(ctx):
    with open(ctx.path("f"), "wb") as file:
        file.seek(5 * GIB)
        file.write(b"far away")
    seen = ctx.same("f", content=False)
    assert seen["size"] == 5 * GIB + 8
    os.truncate(ctx.path("f"), 4 * GIB + 1)
    assert ctx.same("f", content=False)["size"] == 4 * GIB + 1


def check_beyond_four_gib_content(ctx):
    with open(ctx.path("f"), "w+b") as file:
        for offset in (4 * GIB - 3, 5 * GIB, 1000):
            file.seek(offset)
            file.write(b"at %d" % offset)
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        for offset in (1000, 5 * GIB, 4 * GIB - 3):
            file.seek(offset)
            wanted = b"at %d" % offset
            data = file.read(len(wanted))
            assert data == wanted, f"{data} instead of {wanted}"
        file.seek(2 * GIB)
        assert file.read(4096) == bytes(4096)


def check_random_writes(ctx):
    rng = random.Random(20)
    size = 60_000
    image = bytearray(size)
    path = write(ctx.path("f"), image)
    with open(path, "r+b", buffering=0) as file:
        for _ in range(200):
            offset = rng.randrange(size - 3000)
            block = rng.randbytes(rng.randrange(1, 3000))
            file.seek(offset)
            file.write(block)
            image[offset:offset + len(block)] = block
    assert read(path) == image
    ctx.same("f")


def check_direct_io(ctx):
    """Each read and write goes to the server as it is."""
    import mmap
    with mmap.mmap(-1, 8192) as memory:
        fd = os.open(ctx.path("f"), os.O_CREAT | os.O_RDWR | os.O_DIRECT)
        for number in range(6):
            memory[:] = bytes([number]) * 8192
            assert os.pwritev(fd, [memory], number * 8192) == 8192
        for number in (5, 0, 3):
            assert os.preadv(fd, [memory], number * 8192) == 8192
            assert memory[:] == bytes([number]) * 8192
        assert os.preadv(fd, [memory], 6 * 8192) == 0, "data after the end"
        os.close(fd)
    ctx.same("f")
