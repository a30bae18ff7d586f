# SPDX-License-Identifier: LGPL-3.0-or-later
"""SIGTERM with clients mounted and files open."""

import pytest

from backends import BACKENDS

VERSIONS = ("3", "4.0", "4.1")
SECONDS = 10


@pytest.mark.parametrize("backend", BACKENDS)
def test_clean_end(own_instance, backend):
    instance = own_instance(backend)
    client = instance.client()
    for version in VERSIONS:
        path = instance.mounted(version)
        client.call("steps:make_directory", path=f"{path}/d{version}")
        client.call("steps:write", path=f"{path}/d{version}/f", text="x")
        client.start("locks:hold", deadline=SECONDS + 20,
                     path=f"{path}/d{version}/f", name=version,
                     kind="write")
        client.call("locks:is_held", name=version)
    assert instance.server.stop(within=SECONDS) == 0
    assert not instance.server.crashes()
    assert "NFS EXIT: regular exit" in instance.server.log_text()
