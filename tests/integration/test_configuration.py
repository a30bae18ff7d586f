# SPDX-License-Identifier: LGPL-3.0-or-later
"""What is wrong in the configuration is named with place and remedy.

The server does not crash, and the exports that are right are served.
"""

import re
from dataclasses import dataclass

import pytest

from harness.ganesha import (MOUNT_PORT, PORT, Export, Ganesha, Settings,
                             Stack)
from harness.namespace import Namespace

pytestmark = pytest.mark.scale_only

VFS = "FSAL { Name = VFS; }"
IN_BLOCK, IN_EXPORT = "SCALE {", "EXPORT { Export_Id = 2;"


@dataclass(frozen=True)
class Mistake:
    """words must all be in one message; `line` is part of the wrong line."""
    name: str
    words: tuple
    scale: str = 'pagepool = "64M";'
    fsal: str = f"FSAL {{ Name = SCALE; {VFS} }}"
    line: str = IN_BLOCK


MISTAKES = (
    Mistake("files_zero", ("SCALE", "maxFilesToCache = 0", "out of range",
                           "from 1 to 100000000"),
            scale="maxFilesToCache = 0;"),
    Mistake("files_too_many", ("SCALE", "maxFilesToCache = 200M",
                               "out of range", "from 1 to 100000000"),
            scale='maxFilesToCache = "200M";'),
    Mistake("stats_too_many", ("SCALE", "maxStatCache = 1000000000",
                               "out of range", "from 0 to 100000000"),
            scale="maxStatCache = 1000000000;"),
    Mistake("number_too_long", ("SCALE", "pagepool = 99999999999999999999999",
                                "out of range"),
            scale="pagepool = 99999999999999999999999;"),
    Mistake("pagepool_small", ("SCALE", "pagepool = 4096", "out of range",
                               "from 1048576"),
            scale="pagepool = 4096;"),
    Mistake("pagepool_negative", ("SCALE", "pagepool = -1", "not a number",
                                  "8M"),
            scale="pagepool = -1;"),
    Mistake("pagepool_over_memory", ("SCALE", "pagepool = 900000G",
                                     "more than", "memory",
                                     "make it smaller"),
            scale='pagepool = "900000G";'),
    Mistake("garbage", ("SCALE", "maxFilesToCache = lots", "not a number",
                        "8M"),
            scale="maxFilesToCache = lots;"),
    Mistake("unknown_suffix", ("SCALE", "pagepool = 5T", "not a number"),
            scale='pagepool = "5T";'),
    Mistake("two_values", ("SCALE", "maxStatCache = 1", "not a number",
                           "one whole number"),
            scale="maxStatCache = 1, 2;"),
    Mistake("unknown_parameter", ("Unknown parameter (pagepol)",),
            scale="pagepol = 5;"),
    Mistake("no_backend", ("FSAL SCALE has no backend", "Name = VFS"),
            fsal="FSAL { Name = SCALE; }", line="FSAL { Name = SCALE"),
    Mistake("unnamed_backend", ("FSAL SCALE has no backend", "Name = VFS"),
            fsal="FSAL { Name = SCALE; FSAL { } }",
            line="FSAL { Name = SCALE"),
    Mistake("unknown_backend", ("FSAL SCALE has no backend", "Name = NOSUCH",
                                "VFS, PROXY_V4, MEM", "nfs-ganesha-vfs"),
            fsal="FSAL { Name = SCALE; FSAL { Name = NOSUCH; } }",
            line="FSAL { Name = SCALE"),
    Mistake("scale_on_scale", ("FSAL SCALE on FSAL SCALE",
                               "the file system's own FSAL"),
            fsal=f"FSAL {{ Name = SCALE; FSAL {{ Name = SCALE; {VFS} }} }}",
            line="FSAL { Name = SCALE"),
    Mistake("scale_null_scale", ("FSAL SCALE on FSAL SCALE",
                                 "take one of them away"),
            fsal="FSAL { Name = SCALE; FSAL { Name = NULL; "
                 f"FSAL {{ Name = SCALE; {VFS} }} }} }}",
            line="FSAL { Name = SCALE"),
    Mistake("two_backends", ("FSAL SCALE has a second backend",
                             "keep one FSAL block"),
            fsal=f"FSAL {{ Name = SCALE; {VFS} FSAL {{ Name = MEM; }} }}",
            line="FSAL { Name = SCALE"),
    Mistake("notify_over_mem", ("Freshness = notify", "FSAL VFS", "FSAL MEM",
                                "write auto"),
            fsal="FSAL { Name = SCALE; Freshness = notify; "
                 "FSAL { Name = MEM; } }", line="FSAL { Name = SCALE"),
    Mistake("notify_over_another", ("Freshness = notify", "FSAL VFS",
                                    "FSAL NULL", "write auto"),
            fsal="FSAL { Name = SCALE; Freshness = notify; "
                 f"FSAL {{ Name = NULL; {VFS} }} }}",
            line="FSAL { Name = SCALE"),
    Mistake("notify_always_asked", ("Freshness = notify with Attr_TTL = 0",
                                    "leave Attr_TTL out", "write ttl"),
            fsal="FSAL { Name = SCALE; Freshness = notify; Attr_TTL = 0; "
                 f"{VFS} }}", line="FSAL { Name = SCALE"),
)
# The server goes on without these, with a warning.
HARMLESS = {"unknown_parameter"}


@pytest.fixture(scope="module")
def namespace(folder):
    """One for all of these servers, which run one after the other."""
    namespace = Namespace(folder("configuration") / "ns")
    yield namespace
    namespace.stop()


@pytest.fixture
def serve(namespace, folder, stack, report):
    """serve(scale lines, exports): a started server."""
    started = []

    def make(scale, exports):
        server = Ganesha(namespace, folder("configuration"),
                         Stack("scale", stack.module, scale), exports,
                         Settings())
        started.append(server)
        report(server)
        return server.start()

    yield make
    for server in started:
        server.kill()


def listing(namespace, pseudo):
    """What nfs-ls says to an export, whether it is served or not."""
    return namespace.run(
        "nfs-ls", f"nfs://127.0.0.1{pseudo}?version=3&nfsport={PORT}"
        f"&mountport={MOUNT_PORT}", check=False)


@dataclass
class Plain(Export):
    """An export whose FSAL block is written as it is."""
    stacked: bool = False


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda case: case.name)
def test_mistake(namespace, serve, tmp_path, mistake):
    for name in ("right", "wrong"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}-file").touch()
    exports = [
        Plain(1, "/right", VFS, path=str(tmp_path / "right")),
        Plain(2, "/wrong", mistake.fsal, path=str(tmp_path / "wrong"))]
    server = serve(mistake.scale, exports)
    lines = server.config.read_text().splitlines()
    number, = [number for number, line in enumerate(lines, 1)
               if mistake.line in line]
    place = f"({server.config}:{number}): "
    messages = [line.partition(place)[2]
                for line in server.log_text().splitlines() if place in line]
    assert any(all(word in message for word in mistake.words)
               for message in messages), \
        f"no message at {place} with {mistake.words}:\n" + "\n".join(messages)
    assert "right-file" in listing(namespace, "/right").stdout
    wrong = listing(namespace, "/wrong")
    assert ("wrong-file" in wrong.stdout) == (mistake.name in HARMLESS)
    assert server.running
    assert server.stop() == 0
    assert not server.crashes()


@pytest.mark.parametrize("scale, wanted", (
    ("", "maxFilesToCache 100000, maxStatCache 1000000, "),
    ('maxFilesToCache = "8M"; maxStatCache = "10m"; pagepool = "32M";',
     "maxFilesToCache 8000000, maxStatCache 10000000, pagepool 33554432 "),
    ('maxFilesToCache = 5000; maxStatCache = 0; pagepool = 1048576;',
     "maxFilesToCache 5000, maxStatCache 0, pagepool 1048576 ")))
def test_right_values_are_logged(namespace, serve, tmp_path, scale, wanted):
    (tmp_path / "a file").touch()
    server = serve(scale, [Export(1, "/right", VFS, path=str(tmp_path))])
    assert re.search(f"SCALE .*: {re.escape(wanted)}", server.log_text())
    assert "a file" in listing(namespace, "/right").stdout
    assert server.stop() == 0


def test_correcting_by_reload(namespace, serve, tmp_path):
    """What the message advises works: correct the file and reload."""
    (tmp_path / "a file").touch()
    server = serve("pagepool = 1;",
                   [Export(1, "/right", VFS, path=str(tmp_path))])
    assert "a file" not in listing(namespace, "/right").stdout
    server.stack.scale = 'pagepool = "16M";'
    server.reload()
    server.wait_log("pagepool 16777216 bytes")
    server.wait_log("reread|Reread|re-read|Export.*1")
    assert "a file" in listing(namespace, "/right").stdout
    assert server.stop() == 0
