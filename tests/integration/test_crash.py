# SPDX-License-Identifier: LGPL-3.0-or-later
"""The server is killed under load and started again.

Clients go on by themselves, and all that was acknowledged as stable is there.
"""

import os
import sys
import time

import pytest

from harness.ganesha import Settings

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "guest"))
from writers import RECORD, record      # noqa: E402

VERSIONS = ("3", "4.0", "4.1")
SECONDS = 25
KILLS = (4, 13)     # seconds after the start
# The longest that a client may wait: from the first kill to the last, the
# grace period, and what its own back-off (doubled up to 15 s) adds when it is
# told GRACE.
RECOVER = 40
SETTINGS = {"nfsv4": "Lease_Lifetime = 5; Grace_Period = 6;"}


@pytest.mark.parametrize("backend", ("VFS", "PROXY_V4"))
def test_kill_and_restart_under_load(own_instance, backend):
    instance = own_instance(backend, settings=Settings(**SETTINGS))
    server, client = instance.server, instance.client()
    directory = instance.backend.truth.root
    paths = {version: instance.mounted(version, options="hard,timeo=20")
             for version in VERSIONS}
    running = {}
    begin = time.monotonic()
    for version, path in paths.items():
        for how in ("fsync", "O_SYNC"):
            running[f"{how}-{version}"] = client.start(
                "writers:append_synced", deadline=SECONDS + 60,
                path=f"{path}/{how}-{version}", seconds=SECONDS, how=how)
        running[f"names-{version}"] = client.start(
            "writers:make_names", deadline=SECONDS + 60,
            path=f"{path}/names-{version}", seconds=SECONDS)
    for moment in KILLS:
        time.sleep(max(0, begin + moment - time.monotonic()))
        assert not any(future.done() for future in running.values())
        server.kill()
        time.sleep(0.5)
        server.start()
    for name, future in running.items():
        acknowledged, longest, *again = client.wait(future)
        assert acknowledged > 10, f"{name}: only {acknowledged} changes"
        assert 0.4 < longest < RECOVER, f"{name}: waited {longest:.1f} s"
        assert sum(again) <= len(KILLS), f"{name}: {again} renames failed"
        check = check_names if name.startswith("names") else check_records
        check(os.path.join(directory, os.fsencode(name)), acknowledged)
    assert server.running and not server.crashes()


def check_records(path, acknowledged):
    """A file has the records that were acknowledged, each once."""
    with open(path, "rb") as file:
        data = file.read()
    assert len(data) >= acknowledged * RECORD
    for number in range(acknowledged):
        got = data[number * RECORD:(number + 1) * RECORD]
        assert got == record(number), f"{path}: record {number} is wrong"


def check_names(path, acknowledged):
    """A directory has the files that were acknowledged."""
    for number in range(acknowledged):
        with open(os.path.join(path, b"%d" % number), "rb") as file:
            assert file.read() == record(number)
