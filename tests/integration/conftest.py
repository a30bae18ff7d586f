# SPDX-License-Identifier: LGPL-3.0-or-later
"""Integration tests: real servers, real clients.

All of them, two at a time (needs root; packages are in packages.txt):

    SCALE_MODULE=build/fsal_scale/libfsalscale.so \\
        /usr/bin/python3 -m pytest -n 2 tests/integration

One test, one backend, one version:

    ... -m pytest tests/integration -k 'VFS and 4.1 and rename_over_file'

--stack=stock runs the same tests on Ganesha without SCALE, --stack=null with
FSAL_NULL in its place: what fails there too is the protocol's, the backend's
or the test's doing.  --keep=DIR leaves each server's and client's folder
(configuration, logs, console) in DIR.  On a failure the ends of the server's
log and of the client's kernel log are part of the report.

A kernel-client check is a function check_NAME(ctx) in guest/check_*.py; it is
found by itself and runs for each backend and version (see guest/context.py).
Where a backend differs, guest behaviour is stated in differences.py: with the
symptom, which is asserted, and the reason.
"""

import os
import pathlib
import shutil
import tempfile

import pytest

from backends import BACKENDS
from beside import filesystems
from beside.served import FRESHNESS
from harness.ganesha import Stack
from harness.instance import Instance

HERE = pathlib.Path(__file__).parent


def pytest_addoption(parser):
    group = parser.getgroup("scale")
    group.addoption("--stack", choices=("scale", "stock", "null"),
                    default="scale", help="what is put over the backend")
    group.addoption("--freshness", choices=FRESHNESS, default="notify",
                    help="how it is known that something was changed beside "
                         "the server, in the tests of that")
    group.addoption("--keep", metavar="DIR",
                    help="make the run folders in DIR and leave them there")


def pytest_configure(config):
    config.addinivalue_line("markers", "xdist_group(name): for pytest -n")
    config.addinivalue_line("markers", "scale_only: about SCALE itself")
    if os.geteuid() != 0:
        raise pytest.UsageError("the integration tests need root: "
                                "namespaces, tap devices, file handles")
    if config.getoption("stack") == "scale" and not module_path().is_file():
        raise pytest.UsageError(f"no module at {module_path()}: build it, "
                                "or set SCALE_MODULE to where it is")


def pytest_report_header():
    return filesystems.header()


@pytest.fixture(scope="session")
def stack(pytestconfig):
    """The stack that the servers are started with."""
    name = pytestconfig.getoption("stack")
    if name != "scale":
        return Stack(name)
    return Stack(name, module_path())


def module_path():
    """Where the module under test should be."""
    return pathlib.Path(os.environ.get(
        "SCALE_MODULE", HERE.parents[1] / "build/fsal_scale/libfsalscale.so"))


@pytest.fixture(scope="session")
def freshness(pytestconfig):
    """The Freshness with which changes made beside the server are seen."""
    return FRESHNESS[pytestconfig.getoption("freshness")]


@pytest.fixture(scope="session")
def folder(pytestconfig):
    """Makes a new folder for a server: folder("name")."""
    keep = pytestconfig.getoption("keep")
    base = pathlib.Path(tempfile.mkdtemp(prefix="scale-", dir=keep))
    base.chmod(0o755)

    def make(name):
        for number in range(1000):
            path = base / f"{name}-{number}"
            if not path.exists():
                path.mkdir()
                return path
        raise RuntimeError(f"a thousand folders for {name} in {base}")

    yield make
    if not keep:
        shutil.rmtree(base)


@pytest.fixture(scope="session")
def instances(stack, folder):
    """instances("VFS"): a server over a backend, shared by many tests.

    The last one runs until another is wanted; tests are ordered for that.
    """
    running = {}

    def get(name):
        if name not in running:
            for old in list(running):
                running.pop(old).stop()
            rundir = folder(name)
            running[name] = Instance(rundir, stack, BACKENDS[name](rundir))
        return running[name]

    yield get
    for instance in running.values():
        instance.stop()


@pytest.fixture
def own_instance(stack, folder, report):
    """own_instance(backend name, ...): a server for one test alone."""
    started = []

    def make(name, **arguments):
        rundir = folder(name + "-own")
        instance = Instance(rundir, stack, BACKENDS[name](rundir),
                            **arguments)
        started.append(instance)
        report(instance)
        return instance

    yield make
    for instance in started:
        instance.stop()


def pytest_collection_modifyitems(config, items):
    """Tests of one backend together, whatever module they are in."""
    if config.getoption("stack") != "scale":
        apart = [item for item in items
                 if item.get_closest_marker("scale_only")]
        config.hook.pytest_deselected(items=apart)
        items[:] = [item for item in items if item not in apart]
    order = {name: number for number, name in enumerate(BACKENDS)}

    def group(item):
        mark = item.get_closest_marker("xdist_group")
        return order.get(mark.args[0], len(order)) if mark else len(order)

    items.sort(key=group)


@pytest.fixture
def report(request):
    """report(thing): thing.tail() is in the report if the test fails."""
    request.node.things = []
    return request.node.things.append


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    result = (yield).get_result()
    if result.failed and result.when != "teardown":
        for thing in getattr(item, "things", ()):
            result.sections.append(("servers and clients", thing.tail()))
