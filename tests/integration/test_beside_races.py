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
from beside.hands import Remote
from beside.racing import Asker, Judge
from beside.served import BLIND, Place, serve
from beside.world import World
from coherence import variants
from coherence.served import stop
from harness.nfs import VERSIONS, connect

pytestmark = [pytest.mark.xdist_group("beside races"), pytest.mark.scale_only]
KINDS = supported()
SECONDS = 5
# So many wrong answers are judged, no more.
ENOUGH = 100
BUDGETS = ("large", "tiny")


def race(instance, kind, within, seconds, seed, hands=False):
    """(World, Place, Judge) after a race; hands: do clients change, too?"""
    place = Place(instance, kind, within)
    place.change = not hands
    remote = [Remote(connect(instance, version, f"/{kind}", timeout=3),
                     place.handles[version])
              for version in VERSIONS if hands]
    world = World(place.here, place.outside, seed, remote)
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


@pytest.mark.parametrize("kind, who, budget", (
    (kind, who, BUDGETS[(number + turn) % 2])
    for turn, who in enumerate(("others", "all"))
    for number, kind in enumerate(KINDS)))
def test_each_answer_was_true(stack, folder, report, freshness, kind, who,
                              budget, record_property):
    instance = serve(folder("races"), stack, freshness, [kind],
                     budget=variants.BUDGETS[budget],
                     mdcache=variants.MDCACHE[variants.FIRST]
                     if budget == "tiny" else "")
    report(instance)
    seed = os.environ.get("SCALE_SEED", str(time.time_ns()))
    print(f"SCALE_SEED={seed}")
    try:
        world, place, judge = race(instance, kind, freshness.within, SECONDS,
                                   seed, who == "all")
        with contextlib.closing(place):
            place.agree()
        ages = judge.ages
        record_property("changes", world.history.changes)
        record_property("answers", len(ages))
        print(f"{world.history.changes} changes, "
              f"{world.history.refused} refused, {len(ages)} answers, "
              f"ages: p99 {percentile(ages, 0.99):.4f} s, "
              f"p99.9 {percentile(ages, 0.999):.4f} s, "
              f"longest {max(ages):.4f} s; {len(judge.wrong)} wrong")
        assert not judge.wrong, "\n".join(judge.wrong[:20])
        assert world.history.changes > 20 * SECONDS
    finally:
        stop(instance)


def test_the_judge_finds_what_is_late(stack, folder, report):
    """The control: a server that is told nothing is found out."""
    instance = serve(folder("races"), stack, BLIND, KINDS[:1])
    report(instance)
    try:
        world, place, judge = race(instance, KINDS[0], BLIND.within, 4, "1")
        place.close()
        assert world.history.changes > 200
        assert len(judge.wrong) >= ENOUGH
    finally:
        stop(instance)
