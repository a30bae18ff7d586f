# SPDX-License-Identifier: LGPL-3.0-or-later
"""Changes made beside NFS: in the exported directory, on the server itself.

    filesystems  fresh file systems of the kernel's own
    served       a server that exports them, and where to make changes
    truth        what is there, by the kernel's own handles
    looker       compares all that a client can see with it
    files        changes of files, one scenario after another
    directories  changes of directories
    scenarios    all of these
    world        a tree that is changed at random
    hands        who changes it: system calls, or requests
    history      what was there when, and whether an answer was right then
    racing       clients that ask all the time while things change
"""
