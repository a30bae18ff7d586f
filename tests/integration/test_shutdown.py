# SPDX-License-Identifier: LGPL-3.0-or-later
"""SIGTERM with clients mounted and files open."""

import subprocess

import pytest

from backends import BACKENDS

VERSIONS = ("3", "4.0", "4.1")
SECONDS = 20
# Ganesha 4.3 often never ends with these, with SCALE or without: gfapi's
# threads are waited for, which wait themselves.
MAY_HANG = {"GLUSTER"}


@pytest.mark.parametrize("backend", [
    pytest.param(backend, marks=pytest.mark.xdist_group(backend))
    for backend in BACKENDS])
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
    try:
        assert instance.server.stop(within=SECONDS) == 0
    except subprocess.TimeoutExpired:
        if backend not in MAY_HANG:
            raise
        assert "Removing all exports" in instance.server.log_text()
        instance.server.kill()
        return
    finally:
        assert not instance.server.crashes()
    assert "NFS EXIT: regular exit" in instance.server.log_text()
