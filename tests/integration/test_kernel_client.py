# SPDX-License-Identifier: LGPL-3.0-or-later
"""The Linux kernel client on each backend by each protocol version."""

import ast
import pathlib

import pytest

from backends import BACKENDS
from differences import difference
from harness.kclient import GuestFailure

GUEST = pathlib.Path(__file__).parent / "guest"
VERSIONS = ("3", "4.0", "4.1")
# Left out on the distributed backends, which have a shorter list: what takes
# many seconds there, and what is the server's own doing.
LONG = {"many_names", "remove_while_reading", "odd_names", "access",
        "umask_and_setgid", "chown_of_link", "recreate_is_a_new_file",
        "random_writes", "deep_tree", "sync_write", "times_now",
        "directory_times_change"}
DISTRIBUTED = {"CEPH", "GLUSTER"}


def guest_checks():
    """All "module:check_name", in the order they are written."""
    found = []
    for path in sorted(GUEST.glob("check_*.py")):
        for node in ast.parse(path.read_text()).body:
            if (isinstance(node, ast.FunctionDef)
                    and node.name.startswith("check_")):
                found.append(f"{path.stem}:{node.name}")
    return found


def cases():
    """Grouped so that a server is started once and one worker has it."""
    for backend in BACKENDS:
        for version in VERSIONS:
            for check in guest_checks():
                name = check.partition(":check_")[2]
                if backend in DISTRIBUTED and name in LONG:
                    continue
                yield pytest.param(
                    backend, version, check, id=f"{backend}-{version}-{name}",
                    marks=pytest.mark.xdist_group(backend))


@pytest.mark.parametrize("backend, version, check", cases())
def test_check(instances, report, backend, version, check):
    instance = instances(backend)
    report(instance)
    expected = difference(backend, version, check.partition(":check_")[2])
    if expected is None:
        instance.check(check, version)
    else:
        with pytest.raises(GuestFailure, match=expected.symptom):
            instance.check(check, version)
    assert instance.server.running, "the server ended"
    assert not instance.server.crashes()
