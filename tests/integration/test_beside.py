# SPDX-License-Identifier: LGPL-3.0-or-later
"""Changes made beside NFS, seen through each version at once.

After each of a scenario's steps versions 3, 4.0 and 4.1 see what is there, by
names, by listings and by handles, within the time that is promised; before it
all had been seen, and was remembered by whoever remembers.
"""

import contextlib

import pytest

from beside.filesystems import supported
from beside.scenarios import SCENARIOS
from beside.served import Place, serve
from coherence.served import stop

pytestmark = [pytest.mark.xdist_group("beside"), pytest.mark.scale_only]
KINDS = supported()
# A submount for the first: the last.  Its own kind if there is but one.
SUBMOUNTS = {KINDS[0]: KINDS[-1]}


@pytest.fixture(scope="module")
def instance(stack, folder, freshness):
    one = serve(folder("beside"), stack, freshness, KINDS, SUBMOUNTS)
    yield one
    stop(one)


@pytest.fixture
def place(instance, report, freshness, kind):
    report(instance)
    below = kind == "below"
    with contextlib.closing(Place(
            instance, KINDS[0] if below else kind, freshness.within,
            below)) as one:
        yield one


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("kind", [*KINDS, "below"])
def test_seen(place, scenario, record_property):
    record_property("slowest", place.follow(SCENARIOS[scenario]))
