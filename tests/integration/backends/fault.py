# SPDX-License-Identifier: LGPL-3.0-or-later
"""FSAL FAULT, on another backend or with a tree that it computes.

It is not one of BACKENDS: what it does is up to the test that uses it, by
control(); see tests/fsal_fault/fault.h.
"""

import dataclasses
import os
import pathlib

from faultctl import FaultControl
from harness.ganesha import Export

HERE = pathlib.Path(__file__).parent


def module_path():
    """libfsalfault.so; it is built beside the module under test."""
    scale = pathlib.Path(os.environ.get(
        "SCALE_MODULE", HERE.parents[2] / "build/fsal_scale/libfsalscale.so"))
    return pathlib.Path(os.environ.get(
        "FAULT_MODULE",
        scale.parents[1] / "tests/fsal_fault/libfsalfault.so"))


def tree_block(**shape):
    """The FSAL block of a tree, as tree_block(directories=5, files=10)."""
    parameters = " ".join(
        f"{name.title()} = {str(value).lower()};"
        for name, value in ({"directories": 100} | shape).items())
    return f"FSAL {{ Name = FAULT; Tree {{ {parameters} }} }}"


def over(fsal):
    """The FSAL block of FAULT on a backend whose FSAL block is given."""
    return f"FSAL {{ Name = FAULT; {fsal} }}"


class Controlled:
    """What the FAULT backends have in common.

    initially: commands that are run before the first export is made.
    """

    name = "FAULT"
    truth = None
    root = ""

    def __init__(self, rundir, initially="clear"):
        self.socket = pathlib.Path(rundir) / "fault.sock"
        self.blocks = (f'FAULT {{ Control = "{self.socket}"; '
                       f'Initially = "{initially}"; }}',)
        self.modules = (module_path(),)

    def control(self):
        """A connection to FAULT in the running server."""
        return FaultControl(self.socket)

    def start(self, namespace):
        pass

    def tail(self):
        return ""

    def stop(self):
        pass


class FaultTree(Controlled):
    """A computed tree; its shape as tree_block() takes it."""

    def __init__(self, rundir, initially="clear", **shape):
        super().__init__(rundir, initially)
        self._shape = shape

    def export(self, export_id=1, pseudo="/fault"):
        return Export(export_id, pseudo, tree_block(**self._shape),
                      path=pseudo)


class FaultOver(Controlled):
    """FAULT on another backend, as FaultOver(rundir, Vfs(rundir))."""

    def __init__(self, rundir, below, initially="clear"):
        super().__init__(rundir, initially)
        self._below = below
        self.name = below.name
        self.truth = below.truth
        self.root = below.root
        self.blocks += below.blocks

    def export(self, export_id=1, pseudo="/fault"):
        export = self._below.export(export_id, pseudo)
        return dataclasses.replace(export, fsal=over(export.fsal))

    def start(self, namespace):
        self._below.start(namespace)

    def tail(self):
        return self._below.tail()

    def stop(self):
        self._below.stop()
