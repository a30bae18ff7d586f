# SPDX-License-Identifier: LGPL-3.0-or-later
"""Direct reads of a disk, 4 KiB at random: read_at_random.py DISK SECONDS.

For each line of input it reads for so long and prints the reads a second.
"""

import mmap
import os
import random
import sys
import time


def rate(fd, seconds):
    """Reads a second, one after another."""
    pages = os.lseek(fd, 0, os.SEEK_END) // mmap.PAGESIZE
    page = mmap.mmap(-1, mmap.PAGESIZE)
    begin = time.monotonic()
    count = took = 0
    while took < seconds:
        os.preadv(fd, [page], random.randrange(pages) * mmap.PAGESIZE)
        count += 1
        took = time.monotonic() - begin
    return count / took


if __name__ == "__main__":
    disk = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
    for _ in sys.stdin:
        print(rate(disk, float(sys.argv[2])), flush=True)
