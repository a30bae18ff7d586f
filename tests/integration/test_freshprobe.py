# SPDX-License-Identifier: LGPL-3.0-or-later
"""freshprobe, the measuring instrument of ci/bench freshness: it tells right
answers from wrong ones.  The server is the distribution's, over FSAL_VFS, with
attributes that live for a second."""

import json
import os
import pathlib
import subprocess

import pytest

from backends import BACKENDS
from harness.ganesha import Stack
from harness.instance import Instance

PROGRAM = pathlib.Path(os.environ.get(
    "SCALE_MODULE", pathlib.Path(__file__).parents[2]
    / "build/fsal_scale/libfsalscale.so")).parents[1] \
    / "tests/bench/freshness/freshprobe"

pytestmark = [pytest.mark.scale_only, pytest.mark.xdist_group("VFS")]


class ShortLived(BACKENDS["VFS"]):
    """Attributes expire when they are 1 s old, counted in whole seconds."""

    def export(self, export_id=1, pseudo="/vfs"):
        export = super().export(export_id, pseudo)
        export.extra = "Attr_Expiration_Time = 1;"
        return export


@pytest.fixture(scope="module")
def server(folder):
    rundir = folder("freshprobe")
    instance = Instance(rundir, Stack("stock"), ShortLived(rundir))
    yield instance
    instance.stop()


@pytest.fixture
def probe(server):
    """freshprobe's report."""
    def run(what, *arguments):
        command = server.ns.command(
            PROGRAM, what, "--directory", server.backend.directory,
            "--export", server.export.pseudo, *arguments)
        return json.loads(subprocess.run(
            command, stdout=subprocess.PIPE, timeout=60, check=True).stdout)

    yield run
    assert not list(server.backend.directory.iterdir())


@pytest.mark.parametrize("how", (
    ["--patience-ms", "0"], ["--spacing-us", "1000"]))
def test_changes(probe, how):
    """Each is seen when the attributes expire, not before, but for names that
    stock Ganesha asks for each time, and ".." for which it never asks."""
    kinds = probe("changes", "--count", 2, "--limit", 5, "--settle-ms", 100,
                  *how)["kinds"]
    assert len(kinds) == 12
    for name, kind in kinds.items():
        assert not kind["unready"] and not kind["wrong_later"]
        delays = [ns / 1e9 for ns in kind["delays_ns"]]
        if name == "move-parent":
            assert kind["unseen"] == 2 and not delays
            continue
        assert not kind["unseen"] and len(delays) == 2, name
        if name == "create":
            assert max(delays) < 0.5
        else:
            # What came before the change takes some of the second.
            assert 0.001 < min(delays) and max(delays) < 4, name


def test_chosen_kinds(probe):
    kinds = probe("changes", "--count", 1, "--kinds", "create,chmod")["kinds"]
    assert set(kinds) == {"create", "chmod"}


def test_a_storm_is_judged(probe):
    """All is wrong before the attributes expire, and right afterwards."""
    small = ["--directories", 2, "--seconds", 0.5, "--rate", 20000]
    early = probe("storm", *small, "--grace-ms", 0)
    late = probe("storm", *small, "--grace-ms", 2500)
    assert early["changes"] > 1000 and early["checked"] == 902
    assert early["wrong_attributes"] + early["wrong_names"] > 100
    assert late["checked"] == 902
    assert not late["wrong_attributes"]
    assert not late["wrong_names"] and not late["wrong_listings"]


def test_local_rates(probe):
    rates = probe("local", "--seconds", 0.1)
    assert set(rates) == {"create", "write", "chmod", "unlink"}
    for measured in rates.values():
        assert measured["rate"] > 100 and 0 < measured["cpu_us"] < 10000


def test_wrong_usage():
    for arguments in ([], ["other"], ["changes"],
                      ["storm", "--directory", ".", "--threads", "3"]):
        assert subprocess.run([PROGRAM, *arguments], check=False,
                              stderr=subprocess.DEVNULL).returncode == 64
