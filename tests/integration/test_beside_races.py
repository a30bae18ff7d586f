# SPDX-License-Identifier: LGPL-3.0-or-later
"""Clients of all versions ask all the time while things change beside NFS.

Each answer must have been true at some moment within the time that is
promised; in the end all must see what is there.
"""

import contextlib
import itertools
import math
import os
import threading
import time

import pytest

from beside.filesystems import supported
from beside.racing import Asker, Judge
from beside.served import BLIND, Place, serve
from beside.world import World
from coherence.served import stop
from coherence.variants import FIRST, MDCACHE
from harness.nfs import VERSIONS, connect

pytestmark = [pytest.mark.xdist_group("beside races"), pytest.mark.scale_only]
KINDS = supported()
SECONDS = 6
# So many wrong answers are judged, no more.
ENOUGH = 100
TINY = 'maxFilesToCache = 24; maxStatCache = 32; pagepool = "1M";'
ROOMY = 'maxFilesToCache = "20K"; maxStatCache = "50K"; pagepool = "64M";'


def race(instance, kind, within, seconds, seed):
    """(World, Place, Judge) after a race."""
    place = Place(instance, kind, within)
    world = World(place.here, place.outside, seed)
    end = threading.Event()
    askers = [Asker(connect(instance, version, f"/{kind}", timeout=3),
                    place.handles[version], end, f"{seed} {version} {number}")
              for version in VERSIONS for number in range(2)]
    for asker in askers:
        asker.start()
    try:
        world.run(seconds)
    finally:
        end.set()
        for asker in askers:
            asker.join()
    errors = [repr(asker.error) for asker in askers if asker.error]
    assert not errors, errors
    judge = Judge(world)
    for answer in itertools.chain(*(asker.answers for asker in askers)):
        judge.judge(answer, within)
        if len(judge.wrong) >= ENOUGH:
            break
    return world, place, judge


def percentile(ages, share):
    return sorted(ages)[math.ceil(len(ages) * share) - 1]


@pytest.mark.parametrize("kind, budget", zip(
    KINDS, itertools.cycle(("roomy", "tiny"))))
def test_each_answer_was_true(stack, folder, report, freshness, kind, budget,
                              record_property):
    instance = serve(folder("races"), stack, freshness, [kind],
                     budget=TINY if budget == "tiny" else ROOMY,
                     mdcache=MDCACHE[FIRST] if budget == "tiny" else "")
    report(instance)
    seed = os.environ.get("SCALE_SEED", str(time.time_ns()))
    print(f"SCALE_SEED={seed}")
    try:
        world, place, judge = race(instance, kind, freshness.within, SECONDS,
                                   seed)
        with contextlib.closing(place):
            place.agree()
        ages = judge.ages
        record_property("changes", world.history.changes)
        record_property("answers", len(ages))
        print(f"{world.history.changes} changes, {len(ages)} answers, "
              f"ages: p99 {percentile(ages, 0.99):.4f} s, "
              f"p99.9 {percentile(ages, 0.999):.4f} s, "
              f"longest {max(ages):.4f} s; {len(judge.wrong)} wrong")
        assert not judge.wrong, "\n".join(judge.wrong[:20])
        assert world.history.changes > 50 * SECONDS
    finally:
        stop(instance)


def test_the_judge_finds_what_is_late(stack, folder, report):
    """The control: a server that is told nothing is found out."""
    instance = serve(folder("races"), stack, BLIND, KINDS[:1], budget=ROOMY)
    report(instance)
    try:
        world, place, judge = race(instance, KINDS[0], BLIND.within, 4, "1")
        place.close()
        assert world.history.changes > 200
        assert len(judge.wrong) == ENOUGH
    finally:
        stop(instance)
