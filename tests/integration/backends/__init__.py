# SPDX-License-Identifier: LGPL-3.0-or-later
"""The file systems that a server exports in the tests.

Each module has a class with
    name            the FSAL's name
    start(ns)       start what the backend needs, for a server in Namespace ns
    export(number)  an Export of it
    blocks          configuration blocks of its own
    modules         FSAL modules of its own, if it has any
    truth           looks at the backend from outside, or None
    root            where the export's root is, seen from the truth
    tail()          logs of what was started, for a failure's report
    stop()
"""

from backends.ceph import Ceph
from backends.gluster import Gluster
from backends.mem import Mem
from backends.proxy_v4 import ProxyV4
from backends.vfs import Vfs

# The order in which the tests run.
BACKENDS = {backend.name: backend
            for backend in (ProxyV4, Ceph, Gluster, Mem, Vfs)}
