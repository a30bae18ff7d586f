# SPDX-License-Identifier: LGPL-3.0-or-later
"""Start ganesha.nfsd with a configuration, ask it what it serves, stop it.

Run as root in private namespaces:

    unshare -n -m -p -f --mount-proc --kill-child \\
        /usr/bin/python3 serve_and_probe.py '{"conf": "FILE", ...}'

The JSON argument holds
    conf        the configuration
    folder      what to export: made with a file hello in it, in an existing
                folder
    module      libfsalscale.so, put beside the distribution's modules
    backend     true to start a second server at 192.0.2.10 that exports folder
    rpcbind     false to run without one
    bounding    capabilities to be left to the server, as setpriv takes them
    list        NFS URLs to list
    read        NFS URLs of files to read
The answer, on stdout, is JSON too: {"minor": {"0": status, ...}, "listed":
{url: [name, ...]}, "read": {url: text}, "log": text}.
"""

import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GANESHA = "/usr/bin/ganesha.nfsd"
TRIPLET_DIRS = Path("/usr/lib").glob("*-linux-gnu/ganesha")
PORT = 2049
START_SECONDS = 60
BACKEND = "192.0.2.10"
BACKEND_CONF = """\
NFS_Core_Param { Protocols = 4; Enable_UDP = false; Enable_NLM = false;
                 Enable_RQUOTA = false; }
NFSv4 { Graceless = true; RecoveryRoot = %(state)s; }
EXPORT { Export_Id = 9; Path = %(folder)s; Pseudo = %(folder)s;
         Access_Type = RW; Squash = No_Root_Squash; Protocols = 4;
         FSAL { Name = VFS; } }
"""


def run(*words, **options):
    return subprocess.run([str(word) for word in words], check=True,
                          **options)


def prepare(folder):
    """Cover what the server writes to, and make the folder to export."""
    run("ip", "link", "set", "lo", "up")
    for place in ("/run", "/var/lib/nfs", "/var/log"):
        run("mount", "-t", "tmpfs", "tmpfs", place)
    for place in ("/run/ganesha", "/run/rpcbind", "/var/lib/nfs/ganesha"):
        os.makedirs(place)
    if folder:
        run("mount", "-t", "tmpfs", "tmpfs", Path(folder).parent)
        os.makedirs(folder)
        Path(folder, "hello").write_text("hello\n")


def add_module(module):
    """Put the module into the folder of the distribution's modules."""
    for place in TRIPLET_DIRS:
        copy = tempfile.mkdtemp(dir="/run")
        for file in place.glob("*.so"):
            shutil.copy(file, copy)
        shutil.copy(module, copy)
        run("mount", "--bind", copy, place)


def start(conf, log, prefix=()):
    """Start a server and wait until it listens; returns its process."""
    server = subprocess.Popen(
        [*prefix, GANESHA, "-F", "-f", conf, "-L", log, "-N", "NIV_EVENT",
         "-p", f"{log}.pid"], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + START_SECONDS
    while "NFS SERVER INITIALIZED" not in read(log):
        if server.poll() is not None or time.monotonic() > deadline:
            raise SystemExit(f"ganesha.nfsd did not start:\n{read(log)}")
        time.sleep(0.05)
    return server


def read(path):
    try:
        return Path(path).read_text(errors="replace")
    except FileNotFoundError:
        return ""


def start_backend(folder):
    """Start a server of its own in a network of its own, at BACKEND."""
    holder = subprocess.Popen(["unshare", "-n", "sleep", "infinity"])
    time.sleep(0.2)
    enter = ("nsenter", "-t", str(holder.pid), "-n")
    run("ip", "link", "add", "v0", "type", "veth", "peer", "name", "v1",
        "netns", str(holder.pid))
    run("ip", "addr", "add", "192.0.2.1/24", "dev", "v0")
    run("ip", "link", "set", "v0", "up")
    run(*enter, "ip", "addr", "add", f"{BACKEND}/24", "dev", "v1")
    for device in ("v1", "lo"):
        run(*enter, "ip", "link", "set", device, "up")
    state = "/run/backend"
    os.makedirs(f"{state}/state")
    Path(state, "conf").write_text(BACKEND_CONF % {
        "folder": folder, "state": f"{state}/state"})
    start(f"{state}/conf", f"{state}/log", enter)


def opaque(data):
    return struct.pack(">I", len(data)) + data + b"\0" * (-len(data) % 4)


def compound_status(minor):
    """The status of an empty COMPOUND of NFSv4, minor version minor."""
    credentials = opaque(struct.pack(">I", 0) + opaque(b"test")
                         + struct.pack(">III", 0, 0, 0))
    call = struct.pack(">IIIIII", 1, 0, 2, 100003, 4, 1) \
        + struct.pack(">I", 1) + credentials + struct.pack(">II", 0, 0) \
        + opaque(b"") + struct.pack(">II", minor, 0)
    with socket.create_connection(("127.0.0.1", PORT), 20) as connection:
        connection.sendall(struct.pack(">I", 1 << 31 | len(call)) + call)
        reply = connection.makefile("rb")
        size = struct.unpack(">I", reply.read(4))[0] & 0x7fffffff
        body = reply.read(size)
    # xid, REPLY, MSG_ACCEPTED, verifier (2 words), SUCCESS, status
    return struct.unpack(">7I", body[:28])[6]


def listed(url):
    done = subprocess.run(["nfs-ls", url], capture_output=True, text=True,
                          check=False, timeout=60)
    if done.returncode != 0:
        return [done.stderr.strip()]
    return [line.split()[-1] for line in done.stdout.splitlines()]


def contents(url):
    done = subprocess.run(["nfs-cat", url], capture_output=True, check=False,
                          text=True, timeout=60)
    return done.stdout or done.stderr


def main():
    wanted = json.loads(sys.argv[1])
    prepare(wanted.get("folder"))
    if wanted.get("module"):
        add_module(wanted["module"])
    if wanted.get("rpcbind", True):
        run("rpcbind", "-w")
    if wanted.get("backend"):
        start_backend(wanted["folder"])
    prefix = ("setpriv", "--bounding-set", wanted["bounding"]) \
        if wanted.get("bounding") else ()
    server = start(wanted["conf"], "/run/log", prefix)
    answer = {
        "minor": {minor: compound_status(minor) for minor in (0, 1, 2)},
        "listed": {url: listed(url) for url in wanted.get("list", ())},
        "read": {url: contents(url) for url in wanted.get("read", ())},
        "log": read("/run/log"),
    }
    if server.poll() is not None:
        raise SystemExit(f"ganesha.nfsd died:\n{answer['log']}")
    print(json.dumps(answer))
    # All other processes of the namespace end with this one, its first.


if __name__ == "__main__":
    main()
