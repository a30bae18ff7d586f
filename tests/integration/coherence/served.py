# SPDX-License-Identifier: LGPL-3.0-or-later
"""Servers for tests of single matters: SCALE over FAULT over VFS."""

import dataclasses

from backends.fault import FaultOver
from backends.vfs import Vfs
from coherence.variants import ASIDE, EXPIRY, MDCACHE, NFSV4
from harness.ganesha import Settings
from harness.instance import Instance

BUDGET = 'maxFilesToCache = 2000; maxStatCache = 2000; pagepool = "16M";'


def faulty(rundir, stack, options="", mdcache=ASIDE, pseudos=("/tree",),
           extra=None, **export):
    """An Instance; instance.root is the exported directory.

    options: of SCALE's FSAL block; pseudos: exports of that directory;
    extra: instead of what `mdcache` needs in the export's block.
    """
    backend = FaultOver(rundir, Vfs(rundir))
    stack = dataclasses.replace(stack, scale=BUDGET, options=options)
    exports = [dataclasses.replace(
        backend.export(number, pseudo),
        extra=EXPIRY[mdcache] if extra is None else extra, **export)
        for number, pseudo in enumerate(pseudos, 1)]
    settings = Settings(nfsv4=NFSV4, blocks=[
        f"MDCACHE {{ {MDCACHE[mdcache]} }}"])
    instance = Instance(rundir, stack, backend, settings, exports)
    instance.export = exports[0]
    instance.root = rundir / "exported"
    return instance


def stop(instance):
    """Stop the server and see that nothing was wrong with it."""
    running, crashes = instance.server.running, instance.server.crashes()
    instance.stop()
    assert running and not crashes, crashes or "the server ended"
