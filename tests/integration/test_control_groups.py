# SPDX-License-Identifier: LGPL-3.0-or-later
"""The control groups of the benchmarks limit what they say, in version 2 and
in version 1, whichever of them this machine has: tried in a guest's kernel."""

import pathlib
import shutil

import pytest

from harness.kclient import KernelClient
from harness.namespace import Namespace

MODULE = pathlib.Path(__file__).parents[1] / "bench/swbuild/cgroup.py"
READS = 200

pytestmark = pytest.mark.scale_only


@pytest.fixture(scope="module", params=[
    pytest.param(version, marks=pytest.mark.xdist_group(f"cgroup v{version}"))
    for version in (1, 2)], ids="v{}".format)
def guest(request, folder):
    """A guest with control groups; .version is theirs, .disk a device."""
    rundir = folder("control-groups")
    namespace = Namespace(rundir / "ns")
    try:
        client = KernelClient(namespace, rundir / "client")
        try:
            shutil.copy(MODULE, client.rundir)
            client.version = request.param
            client.call("control_groups:mount", version=client.version)
            client.disk = client.call("control_groups:make_disk")
            yield client
        finally:
            client.stop()
    finally:
        namespace.stop()


@pytest.fixture
def call(guest, report):
    """call(function, ...) of guest/control_groups.py."""
    report(guest)

    def run(function, **arguments):
        return guest.call("control_groups:" + function, **arguments)

    return run


def test_a_started_program_is_inside(guest, call):
    names = {2: [""], 1: ["memory", "blkio"]}[guest.version]
    belongs = call("belonging")
    assert {name: belongs[name] for name in names} == dict.fromkeys(
        names, "/belongs")


def test_files_are_cached_up_to_the_limit(guest, call):
    now, most, limit = call("cached", disk=guest.disk)
    assert limit / 2 < most <= limit
    assert now <= most


def test_more_than_the_limit_is_not_given(call):
    ends, most, limit = call("taken", mebibytes=[16, 48])
    assert ends == [0, -9]
    assert limit / 2 < most <= limit


def test_reads_are_limited_while_a_limit_is_set(guest, call):
    limited, free, again = call("rates", disk=guest.disk,
                                limits=[READS, None, READS])
    assert READS / 4 < limited < 2 * READS
    assert free > 2 * limited
    assert READS / 4 < again < 2 * READS


def test_a_refusal_has_a_remedy(guest, call):
    text, left = call("refusal", version=guest.version)
    assert left == []
    assert {
        1: "/sys/fs/cgroup/memory is missing: ",
        2: "/sys/fs/cgroup/cgroup.subtree_control does not take io and "
           "memory (Device or resource busy): ",
    }[guest.version] in text
