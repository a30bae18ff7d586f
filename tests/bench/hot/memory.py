# SPDX-License-Identifier: LGPL-3.0-or-later
"""Memory of the whole server for each file that it has cached."""

from backends.fault import FaultTree
from nfsbench.load import names
from nfsbench.servers import FOR_EVER, SMALL_MDCACHE, Bed, scale, stock

TARGET = 200     # bytes, with the name
FILES_EACH = 1000
# Heaps and tables reach their size with the first files.
FIRST = 20
# Stock's own cache is made large enough for all.
LARGE_MDCACHE = "MDCACHE { Entries_HWMark = 4000000; }"


def growth(bed, directories, stack, mdcache):
    """Bytes of resident memory per file read by READDIRPLUS."""
    with bed.running(stack, blocks=[mdcache]) as server:
        server.mount(server.pseudo)
        load = server.load
        load("lookup", of="root", keep="first",
             names=names("d", FIRST, first=1, digits=5))
        load("readdirplus", of="first")
        before = server.rss()
        load("lookup", of="root", keep="rest",
             names=names("d", directories, first=FIRST + 1, digits=5))
        entries = load("readdirplus", of="rest", depth=2)["entries"]
        after = server.rss()
        files = entries - 2 * directories    # "." and ".."
        if files != directories * FILES_EACH:
            raise RuntimeError(f"READDIRPLUS gave {files} files")
        return (after - before) / files


def measure_memory(arguments, report, folder):
    """Growth with SCALE, against its target; stock's misses it."""
    directories = 100 if arguments.quick else 1000
    rounds = 1 if arguments.quick else 3
    size = f"{directories * FILES_EACH / 1e6:g}M files"
    own = folder / "memory"
    with Bed(own, FaultTree(own, directories=directories + FIRST,
                            files=FILES_EACH)) as bed:
        report.add(
            f"memory per cached file, {size}, SCALE",
            [growth(bed, directories,
                    scale(FOR_EVER, files="20K", stats="4M", pagepool="1G"),
                    SMALL_MDCACHE) for _ in range(rounds)],
            "bytes", better="lower", target=TARGET)
        report.add(
            f"memory per cached file, {size}, stock",
            [growth(bed, directories, stock(), LARGE_MDCACHE)
             for _ in range(rounds)],
            "bytes", better="lower", target=TARGET, control=True)
