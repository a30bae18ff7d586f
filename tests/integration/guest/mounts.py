# SPDX-License-Identifier: LGPL-3.0-or-later
"""Mounting and unmounting in the guest."""

import itertools
import os
import subprocess


def mount(server, export, version, options, port, mount_port):
    """Mount server:export; the path.  AssertionError with mount's words."""
    settings = [f"vers={version}", "proto=tcp", f"port={port}"]
    if version == "3":
        settings += [f"mountport={mount_port}", "mountproto=tcp"]
        if "lock" not in options.split(","):
            settings.append("nolock")
    if options:
        settings.append(options)
    for number in itertools.count():
        path = f"/run/mnt/{number}"
        try:
            os.mkdir(path)
            break
        except FileExistsError:
            pass
    result = subprocess.run(
        ["mount", "-t", "nfs", "-o", ",".join(settings),
         f"{server}:{export}", path],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False)
    if result.returncode:
        raise AssertionError(
            f"mount of {export} by version {version}: {result.stdout}")
    return path


def unmount(path):
    """Unmount; AssertionError with umount's words."""
    result = subprocess.run(["umount", path], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode:
        raise AssertionError(f"umount {path}: {result.stdout}")


def kernel_log():
    """The guest kernel's messages."""
    return subprocess.run(["dmesg"], stdout=subprocess.PIPE, text=True,
                          errors="replace", check=True).stdout
