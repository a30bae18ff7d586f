# SPDX-License-Identifier: LGPL-3.0-or-later
"""Runs functions of the modules beside it for the host: agent.py HOST PORT.

One JSON object a line: {"id", "function": "module:name", "deadline",
"arguments"} comes, {"id", "value"} or {"id", "error"} goes.  Each function
runs in a process of its own, so that one that hangs in the kernel costs its
deadline and nothing else.
"""

import importlib
import json
import os
import select
import signal
import socket
import sys
import threading
import time
import traceback


def run(request, out):
    """In the child: run the function and write the reply's body to `out`."""
    try:
        module, name = request["function"].split(":")
        function = getattr(importlib.import_module(module), name)
        reply = {"value": function(**request["arguments"])}
    except BaseException:
        reply = {"error": traceback.format_exc()}
    with os.fdopen(out, "wb") as stream:
        stream.write(json.dumps(reply).encode())


def waiting_in(pid):
    """Where in the kernel a process sleeps, as far as it can be told."""
    try:
        with open(f"/proc/{pid}/wchan", encoding="ascii") as wchan:
            return wchan.read()
    except OSError:
        return "unknown"


def collect(pid, read_end, deadline):
    """The child's reply, or an error when the deadline passes."""
    end = time.monotonic() + deadline
    data = b""
    while True:
        ready, _, _ = select.select([read_end], [], [],
                                    max(0, end - time.monotonic()))
        if not ready:
            where = waiting_in(pid)
            os.kill(pid, signal.SIGKILL)
            return {"error": f"not done after {deadline} s; "
                             f"it was waiting in {where}"}
        block = os.read(read_end, 65536)
        if not block:
            break
        data += block
    _, status = os.waitpid(pid, 0)
    if not data:
        return {"error": f"the function's process ended with {status}"}
    return json.loads(data)


# Between a pipe's making and the closing of its end here no other process may
# be forked: it would inherit that end and keep it open for its own life.
FORKING = threading.Lock()


def serve(request, control, lock):
    """Run one request and send its reply."""
    with FORKING:
        read_end, write_end = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(read_end)
            os.setpgid(0, 0)
            run(request, write_end)
            os._exit(0)
        os.close(write_end)
    reply = collect(pid, read_end, request["deadline"])
    os.close(read_end)
    reply["id"] = request["id"]
    with lock:
        control.sendall(json.dumps(reply).encode() + b"\n")


def preload(folder):
    """Import what will be asked for, once instead of in each process."""
    sys.path.insert(0, folder)
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py") and name != os.path.basename(__file__):
            importlib.import_module(name[:-3])


def main():
    host, port = sys.argv[1], int(sys.argv[2])
    os.environ["SCALE_HOST"], os.environ["SCALE_PORT"] = host, str(port)
    control = socket.create_connection((host, port), timeout=20)
    control.settimeout(None)
    preload(os.path.dirname(os.path.abspath(__file__)))
    lock = threading.Lock()
    with control.makefile("rb") as lines:
        for line in lines:
            request = json.loads(line)
            threading.Thread(target=serve, args=(request, control, lock),
                             daemon=True).start()


if __name__ == "__main__":
    main()
