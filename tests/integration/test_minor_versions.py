# SPDX-License-Identifier: LGPL-3.0-or-later
"""NFSv4 { Minor_Versions } decides who is let in, and says so cleanly."""

import pytest

from harness.ganesha import Settings
from harness.kclient import GuestFailure

REFUSED = "Protocol not supported"


@pytest.mark.parametrize("setting, refused", (
    ("0", {"4.1", "4.2"}), ("1", {"4.0", "4.2"}), ("0,1", {"4.2"})))
def test_minor_versions(own_instance, setting, refused):
    instance = own_instance("VFS", settings=Settings(minor_versions=setting))
    client = instance.client()
    for version in ("3", "4.0", "4.1", "4.2"):
        if version in refused:
            with pytest.raises(GuestFailure, match=REFUSED):
                client.mount(version, instance.export.pseudo)
        else:
            path = client.mount(version, instance.export.pseudo)
            client.call("steps:write", path=f"{path}/{version}", text=version)
            assert client.call("steps:read",
                               path=f"{path}/{version}") == version
    written = {path.name for path in instance.backend.directory.iterdir()}
    assert written == {"3", "4.0", "4.1"} - refused
    assert instance.server.running and not instance.server.crashes()
