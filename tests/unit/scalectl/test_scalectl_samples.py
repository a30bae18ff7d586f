# SPDX-License-Identifier: LGPL-3.0-or-later
"""With the real server: the sample configurations work as they stand, and
what scalectl says is in force is what the server does.

Needs root, ganesha.nfsd, rpcbind, libnfs-utils, and SCALE's module: the one
that SCALE_MODULE names, or build/fsal_scale/libfsalscale.so.
"""

import json
import os
import subprocess
import sys

import pytest

from scalectl_places import PROJECT
from scalectl import parameters
from scalectl.config_command import change, get

MODULE = os.environ.get("SCALE_MODULE",
                        PROJECT / "build/fsal_scale/libfsalscale.so")
PROBE = PROJECT / "tests/unit/scalectl/serve_and_probe.py"
SERVED, REFUSED = 0, 10021
URL = "nfs://127.0.0.1"
# What container runtimes leave to root by default.
CONTAINER = "-all,+" + ",+".join((
    "audit_write", "chown", "dac_override", "fowner", "fsetid", "kill",
    "mknod", "net_bind_service", "net_raw", "setfcap", "setgid", "setpcap",
    "setuid", "sys_chroot"))


def probe(conf, **wanted):
    """Start a server with conf in private namespaces; return its answers."""
    if wanted.pop("scale", True):
        assert os.path.isfile(MODULE), \
            f"{MODULE} is missing: build it, or set SCALE_MODULE"
        wanted["module"] = str(MODULE)
    wanted["conf"] = str(conf)
    done = subprocess.run(
        ["unshare", "-n", "-m", "-p", "-f", "--mount-proc", "--kill-child",
         sys.executable, PROBE, json.dumps(wanted)],
        capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    print(answer["log"])
    return answer


def complaints(log):
    """What the server says against the configuration."""
    return [line for line in log.splitlines()
            if any(f":{part} :" in line
                   for part in ("CONFIG", "EXPORT", "FSAL"))
            and any(f":{level} :" in line
                    for level in ("WARN", "MAJ", "CRIT", "FATAL"))]


def served(answer):
    """The minor versions served, in the form of MINOR_VERSIONS."""
    assert set(answer["minor"].values()) <= {SERVED, REFUSED}
    return ",".join(m for m, status in answer["minor"].items()
                    if status == SERVED)


@pytest.mark.parametrize("name, wanted", [
    ("vfs", {"folder": "/srv/nfs"}),
    ("proxy_v4", {"folder": "/srv/nfs", "backend": True}),
])
def test_sample_with_a_folder(name, wanted):
    root, file = f"{URL}/srv/nfs", f"{URL}/srv/nfs/hello?version=3"
    urls = [f"{root}?version=3", f"{root}?version=4"]
    answer = probe(PROJECT / f"config/{name}.conf", list=urls, read=[file],
                   **wanted)
    assert served(answer) == "0,1"
    assert answer["listed"] == {url: ["hello"] for url in urls}
    assert answer["read"] == {file: "hello\n"}
    assert not complaints(answer["log"])
    assert "maxFilesToCache 100000" in answer["log"]


def test_sample_mem():
    urls = [f"{URL}/mem?version=3", f"{URL}/mem?version=4"]
    answer = probe(PROJECT / "config/mem.conf", list=urls)
    assert served(answer) == "0,1"
    assert answer["listed"] == {url: [] for url in urls}
    assert not complaints(answer["log"])
    assert "maxFilesToCache 10000," in answer["log"]


def test_sample_container():
    """Without rpcbind and D-Bus, with the rights that the sample names."""
    url = f"{URL}/srv/nfs?version=4"
    wanted = {"folder": "/srv/nfs", "rpcbind": False, "list": [url]}
    conf = PROJECT / "config/container.conf"
    answer = probe(conf, bounding=f"{CONTAINER},+dac_read_search,+sys_admin",
                   **wanted)
    assert served(answer) == "0,1"
    assert answer["listed"] == {url: ["hello"]}
    assert not complaints(answer["log"])
    assert "maxStatCache 2000000" in answer["log"]
    # Without the second right it serves, and says what is not to be had.
    answer = probe(conf, bounding=f"{CONTAINER},+dac_read_search", **wanted)
    assert answer["listed"] == {url: ["hello"]}
    said, = complaints(answer["log"])
    assert "CAP_SYS_ADMIN" in said and "times to live" in said
    # The first one is really needed.
    answer = probe(conf, bounding=CONTAINER, **wanted)
    assert answer["listed"] != {url: ["hello"]}


@pytest.mark.parametrize("name", ["vfs", "mem", "proxy_v4", "container"])
def test_samples_say_what_the_first_level_is_for(name):
    text = (PROJECT / f"config/{name}.conf").read_text()
    for line in ("Entries_HWMark = 2000;", "Chunks_HWMark = 100;",
                 "Minor_Versions = 0,1;", "SPDX-License-Identifier"):
        assert line in text
    result = get(PROJECT / f"config/{name}.conf", parameters.PARAMETERS)
    assert not result["warnings"]
    assert {row["source"] for row in result["parameters"]} == {"file"}


@pytest.mark.parametrize("value", ["0", "1", "0,1"])
def test_the_server_serves_what_scalectl_sets(conf, value):
    path = conf((PROJECT / "config/mem.conf").read_text()
                + "NFSv4 { Lease_Lifetime = 60; }\n")
    assert get(path, [parameters.find("MINOR_VERSIONS")]
               )["parameters"][0]["value"] == "0,1,2"
    assert served(probe(path)) == "0,1,2"
    change(path, [(parameters.find("MINOR_VERSIONS"), value)])
    assert served(probe(path)) == value


@pytest.mark.parametrize("text", [
    "NFSv4 { Minor_Versions = 0; }\nNFSv4 { Lease_Lifetime = 60; }\n",
    "NFSv4 { Minor_Versions = 0; Minor_Versions = 1; }\n",
    "NFSv4 { Minor_Versions = 0,1,2; Minor_Versions = 1; }\n",
    "NFSv4 { Minor_Versions = \"0,1\"; }\n",
    "NFSv4 { Minor_Versions = 0 1; }\n",
    "NFSv4 { Minor_Versions = ; }\n",
])
def test_get_knows_what_the_server_makes_of_odd_files(conf, text):
    export = "EXPORT { Export_Id = 1; Path = /mem; Pseudo = /mem;\n" \
             "Access_Type = RW; FSAL { Name = MEM; } }\n"
    path = conf(text + export)
    row = get(path, [parameters.find("MINOR_VERSIONS")])["parameters"][0]
    assert served(probe(path, scale=False)) == row["value"]


@pytest.mark.parametrize("text", [
    "SCALE { maxFilesToCache = 7; }\nSCALE { maxFilesToCache = 8; }\n",
    "SCALE { maxFilesToCache = 9K; maxStatCache = \"9k\"; }\n",
    "SCALE { pagepool = \"3m\"; }\n", "",
])
def test_get_knows_what_scale_makes_of_its_block(conf, text):
    export = "EXPORT { Export_Id = 1; Path = /mem; Pseudo = /mem;\n" \
             "Access_Type = RW; FSAL { Name = SCALE; " \
             "FSAL { Name = MEM; } } }\n"
    path = conf(text + export)
    log = probe(path)["log"]
    for row in get(path, parameters.PARAMETERS[1:])["parameters"]:
        # The default pagepool depends on the machine's memory.
        if row["name"] != "pagepool" or row["source"] == "file":
            number = parameters.find(row["name"]).kind.number(row["value"])
            assert f"{row['name']} {number}" in log
