# SPDX-License-Identifier: LGPL-3.0-or-later
"""Random operations of many clients, each answer compared with the truth.

The seed of a failure is in its report, with the last steps and the file that
has all of them.  To repeat it:

    SCALE_SEED=SEED ... -m pytest tests/integration -k VARIANT
    tests/bench/coherence/run --variant VARIANT --replay FILE
"""

import os
import time

import pytest

from coherence.variants import VARIANTS, Rig


def cases():
    for variant in VARIANTS:
        marks = [pytest.mark.scale_only] if variant.scale_only else []
        yield pytest.param(variant, id=variant.name, marks=marks)


@pytest.mark.parametrize("variant", cases())
def test_coherence(variant, stack, folder, report):
    seed = os.environ.get("SCALE_SEED", str(time.time_ns()))
    print(f"SCALE_SEED={seed}")
    rundir = folder(variant.name)
    rig = Rig(variant, rundir, stack, seed)
    try:
        report(rig.instance)
        rig.run.steps_until(variant.share, rundir / "steps.json")
        rig.quiet()
        rig.run.audit()
        rig.run.clear()
        assert not rig.leftovers()
        server = rig.instance.server
        assert server.running and not server.crashes()
    finally:
        rig.stop()
