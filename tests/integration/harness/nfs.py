# SPDX-License-Identifier: LGPL-3.0-or-later
"""Clients of any version that cache nothing."""

from harness.nfs3 import Client3
from harness.nfs4 import Client4

VERSIONS = ("3", "4.0", "4.1")


def connect(instance, version, pseudo=None, **arguments):
    """A client of an Instance's export; `root` is its root's handle."""
    client = Client3(instance.ns, **arguments) if version == "3" \
        else Client4(instance.ns, version, **arguments)
    client.root = client.mount(pseudo or instance.export.pseudo)
    return client
