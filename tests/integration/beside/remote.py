# SPDX-License-Identifier: LGPL-3.0-or-later
"""Servers of a cluster that has a client of its own beside NFS."""

import dataclasses

from backends.ceph import Ceph
from backends.gluster import OPTIONS, Gluster
from coherence.served import BUDGET, stop
from coherence.variants import ASIDE, EXPIRY, MDCACHE, NFSV4
from harness.ganesha import Settings
from harness.instance import Instance

# Seconds until a change is seen: an up-call takes a few milliseconds, and
# what is asked for each time is right at once.
GLUSTER_LATE, AT_ONCE = 2.0, 0
# Gluster's own, where nobody sets anything.
STOCK_OPTIONS = ("nfs.disable", "on", "network.ping-timeout", "3")


@dataclasses.dataclass(frozen=True)
class Case:
    """How an export is kept fresh, and how soon what is seen is right.

    mdcache, expiry: MDCACHE's part; volume: the options of Gluster's volume.
    """
    backend: type
    options: str
    within: float
    mdcache: str = MDCACHE[ASIDE]
    expiry: str = EXPIRY[ASIDE]
    volume: tuple = OPTIONS


CASES = {
    "GLUSTER": Case(Gluster, "Freshness = upcall;", GLUSTER_LATE),
    "CEPH": Case(Ceph, "Freshness = ask;", AT_ONCE),
}
# As an administrator has it who says nothing of freshness.
AUTO = {
    "GLUSTER": Case(Gluster, "", GLUSTER_LATE, mdcache="", expiry=""),
    "CEPH": Case(Ceph, "", AT_ONCE, mdcache=""),
}


def serve(rundir, stack, case):
    """An Instance of a Case."""
    if case.backend is Gluster:
        backend = Gluster(rundir, case.volume)
    else:
        backend = case.backend(rundir)
    stack = dataclasses.replace(stack, scale=BUDGET, options=case.options)
    settings = Settings(nfsv4=NFSV4)
    if case.mdcache:
        settings.blocks = [f"MDCACHE {{ {case.mdcache} }}"]
    return Instance(rundir, stack, backend, settings, [
        dataclasses.replace(backend.export(), extra=case.expiry)])


def one_at_a_time(stack, folder, prefix, cases):
    """For a fixture: yields get(name) -> (the server, the second client)."""
    running = {}

    def end():
        for instance, second in running.values():
            second.stop()
            stop(instance)
        running.clear()

    def get(name):
        if name not in running:
            end()
            instance = serve(folder(prefix + name), stack, cases[name])
            running[name] = instance, instance.backend.second_client()
        return running[name]

    yield get
    end()
