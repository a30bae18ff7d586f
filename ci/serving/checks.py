# SPDX-License-Identifier: LGPL-3.0-or-later
"""What must be right before the server is started."""

import ctypes
import errno
import os
import pathlib
import shutil
import socket
import subprocess

from errors import ServeError
import rpc

AT_FDCWD = -100
README = """\
This directory was made by ci/serve, which exports it by NFS through SCALE.
What NFS clients write appears here.
"""


def check(options):
    """Everything that can be known without starting; ServeError if not."""
    check_namespaces()
    check_port(options.port, "--port")
    check_port(options.mount_port,
               f"the MOUNT service, which gets --port {options.port} plus 1")
    if options.backend == "VFS" and not options.made:
        check_directory(options.path)
    elif options.backend == "PROXY_V4":
        check_server(options)


def make_default(path):
    """The directory that is exported when none was named."""
    directory = pathlib.Path(path)
    if not directory.exists():
        directory.mkdir(parents=True)
        directory.chmod(0o1777)
        (directory / "README").write_text(README, encoding="ascii")
    check_directory(path)


def check_namespaces():
    """The server needs namespaces of its own, which containers may lack."""
    result = subprocess.run(
        ["unshare", "--mount", "--pid", "--net", "--fork", "true"],
        capture_output=True, text=True, check=False)
    if result.returncode:
        raise ServeError(
            f"this machine does not let root make namespaces "
            f"({result.stderr.strip()}): in a container, start it with "
            "--privileged")


def check_port(number, what):
    """TCP port `number` must be free in the machine's network."""
    for family, address in ((socket.AF_INET, "0.0.0.0"),
                            (socket.AF_INET6, "::")):
        try:
            listener = socket.socket(family, socket.SOCK_STREAM)
        except OSError:
            continue
        with listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6,
                                    socket.IPV6_V6ONLY, 1)
            try:
                listener.bind((address, number))
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    raise ServeError(
                        f"port {number}, wanted for {what}, is taken by "
                        f"{port_holder(number)}: choose another with "
                        "--port") from None
                if family == socket.AF_INET:
                    raise ServeError(
                        f"port {number} cannot be used: "
                        f"{error.strerror}") from None


def port_holder(number):
    """Who listens on TCP port `number`, in words."""
    unknown = "another program"
    if shutil.which("ss") is None:
        return unknown
    lines = subprocess.run(
        ["ss", "-H", "-l", "-t", "-n", "-p", f"sport = :{number}"],
        capture_output=True, text=True, check=False).stdout.splitlines()
    for line in lines:
        # users:(("ganesha.nfsd",pid=7,fd=13))
        _, found, users = line.partition('users:(("')
        if found:
            name, _, rest = users.partition('",pid=')
            return f"{name} (process {rest.partition(',')[0]})"
    if lines:
        return "the kernel, such as its own NFS server, or a container"
    return unknown


def check_directory(path):
    """The VFS backend needs a directory whose files have handles."""
    directory = pathlib.Path(path)
    if not directory.exists():
        raise ServeError(f"there is no directory {path}: make it with "
                         f"'mkdir -p {path}'")
    if not directory.is_dir():
        raise ServeError(f"{path} is not a directory: name the directory "
                         "that is to be exported")
    if '"' in path or "\n" in path:
        raise ServeError(f"{path!r} has a character that ganesha.conf cannot "
                         "hold: rename the directory")
    if directory.is_relative_to("/run") or directory.is_relative_to("/proc"):
        raise ServeError(f"{path} is not visible to the server, which has its "
                         "own /run and /proc: export another directory")
    check_handles(path)


def check_handles(path):
    """NFS names files by handle: the file system must give them."""
    libc = ctypes.CDLL(None, use_errno=True)
    handle = ctypes.create_string_buffer(8 + 128)
    ctypes.c_uint.from_buffer(handle).value = 128
    mount_id = ctypes.c_int()
    if libc.name_to_handle_at(AT_FDCWD, os.fsencode(path), handle,
                              ctypes.byref(mount_id), 0) == 0:
        return
    error = ctypes.get_errno()
    kind = subprocess.run(["stat", "-f", "-c", "%T", path], text=True,
                          capture_output=True, check=False).stdout.strip()
    remedy = ("the root of a container is such: export a directory of a "
              "volume" if "overlay" in kind else
              "export a directory on ext4, XFS, btrfs or tmpfs")
    raise ServeError(
        f"{path} is on a file system ({kind or 'unknown'}) that gives no file "
        f"handles ({os.strerror(error)}), and NFS needs them; {remedy}")


def check_server(options):
    """The server behind PROXY_V4 must answer."""
    where = f"{options.server}:{options.server_port}"
    try:
        address = socket.getaddrinfo(options.server, options.server_port,
                                     type=socket.SOCK_STREAM)[0][4][0]
        rpc.ping(address, options.server_port, rpc.NFS, 4)
    except OSError as error:
        raise ServeError(
            f"no NFSv4 server answers at {where} ({error}): check --server "
            "and that the server runs") from None
