# SPDX-License-Identifier: LGPL-3.0-or-later
"""Where a backend does not do what a check wants, with SCALE or without.

A listed check must fail with the symptom; one that succeeds is a failure, for
then the table is wrong.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    backend: str
    versions: str   # regular expression
    check: str
    symptom: str    # regular expression, found in the failure's text
    reason: str


ANY = ".*"

DIFFERENCES = (
    Difference("MEM", ANY, "times_now", r"mtime is \d{1,10} ns",
               "FSAL_MEM ignores 'set to the server's time'"),
    Difference("PROXY_V4", ANY, "times_now", r"mtime is \d{1,10} ns",
               "FSAL_PROXY_V4 does not pass on 'set to the server's time'"),
    Difference("CEPH", ANY, "rename_across_directories",
               r"'from': .*'nlink': \(3, 2\)",
               "the server's libcephfs keeps the old attributes of the "
               "directory that another was moved out of"),
    Difference("GLUSTER", ANY, "times", r"AssertionError: f 1000000001",
               "FSAL_GLUSTER tells clients whole seconds"),
    Difference("MEM", ANY, "truncate_down_and_up_forgets",
               r"what was cut off came back",
               "FSAL_MEM keeps a file's old bytes when it is truncated"),
    Difference("MEM", ANY, "beyond_four_gib_content",
               r"b'a+' instead of b'at ",
               "FSAL_MEM keeps no data past Inode_Size"),
    Difference("MEM", ANY, "directory_times_change",
               r"a create did not change its directory",
               "FSAL_MEM leaves a directory's mtime alone on create"),
    Difference("MEM", ANY, "create_and_remove_need_permission",
               r"success instead of EACCES",
               "FSAL_MEM does not ask whether the directory may be changed"),
    Difference("MEM", ANY, "size_of_symlink", r"the link's size is 0",
               "FSAL_MEM does not count a symbolic link's target"),
    Difference("MEM", "3", "rename_over_file", r"Input/output error",
               "FSAL_MEM's rename over a file that v3 has not opened fails"),
    Difference("MEM", "3", "rename_over_file_with_two_names",
               r"Input/output error", "as rename_over_file"),
)


def difference(backend, version, check):
    """The entry for a check, or None."""
    for entry in DIFFERENCES:
        if (entry.backend == backend and entry.check == check
                and re.fullmatch(entry.versions, version)):
            return entry
    return None
