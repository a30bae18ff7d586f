# SPDX-License-Identifier: LGPL-3.0-or-later
"""Modes, owners, times, extended attributes and ACLs."""

import errno
import os
import struct
import subprocess

from context import fails, write

SECOND = 10**9
NFS4_ACL = "system.nfs4_acl"
# ACE masks: what a reader of a file needs, and what stat() needs.
READ, LOOK, ALL = 0x120081, 0x120080, 0x1601bf
GROUP = 0x40    # ACE flag: the name is a group's
# The kernel's own number, which it lets out where a server has no ACLs.
ENOTSUPP = 524


def check_chmod(ctx):
    write(ctx.path("f"), b"")
    os.mkdir(ctx.path("d"))
    for mode in (0o000, 0o400, 0o777, 0o4755, 0o2755, 0o1777, 0o644):
        os.chmod(ctx.path("f"), mode)
        assert ctx.same("f")["mode"] == mode
    for mode in (0o700, 0o1777, 0o2775):
        os.chmod(ctx.path("d"), mode)
        assert ctx.same("d")["mode"] == mode


def check_chown(ctx):
    write(ctx.path("f"), b"")
    for uid, gid in ((1000, 1001), (0, 0), (4_000_000_000, 65534)):
        os.chown(ctx.path("f"), uid, gid)
        seen = ctx.same("f")
        assert (seen["uid"], seen["gid"]) == (uid, gid)
    os.chown(ctx.path("f"), 77, -1)
    os.chown(ctx.path("f"), -1, 88)
    seen = ctx.same("f")
    assert (seen["uid"], seen["gid"]) == (77, 88)


def check_chown_of_link(ctx):
    write(ctx.path("f"), b"")
    os.symlink("f", ctx.path("l"))
    os.lchown(ctx.path("l"), 501, 502)
    assert ctx.same("l")["uid"] == 501
    assert ctx.same("f")["uid"] == 0


def check_chown_drops_setuid(ctx):
    write(ctx.path("f"), b"")
    os.chmod(ctx.path("f"), 0o6755)
    os.chown(ctx.path("f"), 1000, 1000)
    ctx.same("f")


def check_times(ctx):
    write(ctx.path("f"), b"")
    os.mkdir(ctx.path("d"))
    for name in ("f", "d"):
        for seconds, nanoseconds in ((0, 0), (1, 1), (1_700_000_000,
                                                      123_456_789),
                                     (2_000_000_000, 999_999_999)):
            stamp = seconds * SECOND + nanoseconds
            os.utime(ctx.path(name), ns=(stamp, stamp))
            seen = ctx.same(name, content=False)
            assert seen["mtime_ns"] == stamp, f"{name} {stamp}"
            assert os.stat(ctx.path(name)).st_atime_ns == stamp


def check_times_now(ctx):
    write(ctx.path("f"), b"")
    os.utime(ctx.path("f"), ns=(1, 1))
    os.utime(ctx.path("f"))
    stamp = ctx.same("f")["mtime_ns"]
    assert stamp > 1_000_000_000 * SECOND, f"mtime is {stamp} ns"


def check_write_changes_times(ctx):
    write(ctx.path("f"), b"a")
    os.utime(ctx.path("f"), ns=(5 * SECOND, 5 * SECOND))
    write(ctx.path("f"), b"b", "ab")
    assert ctx.same("f")["mtime_ns"] > 1_000_000_000 * SECOND


def check_access(ctx):
    write(ctx.path("f"), b"")
    os.chmod(ctx.path("f"), 0o640)
    os.chown(ctx.path("f"), 1000, 1001)
    for uid, gid, readable, writable in (
            (1000, 50, True, True), (2000, 1001, True, False),
            (2000, 50, False, False)):
        os.setegid(gid)
        os.seteuid(uid)
        assert os.access(ctx.path("f"), os.R_OK,
                         effective_ids=True) is readable
        assert os.access(ctx.path("f"), os.W_OK,
                         effective_ids=True) is writable
        os.seteuid(0)
        os.setegid(0)


def check_umask_and_setgid(ctx):
    os.umask(0o027)
    os.close(os.open(ctx.path("f"), os.O_CREAT | os.O_WRONLY, 0o666))
    assert ctx.same("f")["mode"] == 0o640
    os.mkdir(ctx.path("d"), 0o777)
    assert ctx.same("d")["mode"] == 0o750
    os.chown(ctx.path("d"), 0, 4321)
    os.chmod(ctx.path("d"), 0o2775)
    os.close(os.open(ctx.path("d/g"), os.O_CREAT | os.O_WRONLY, 0o666))
    ctx.same("d/g")


def check_user_xattrs_are_refused(ctx):
    """No version served here carries them: 4.2 would."""
    write(ctx.path("f"), b"")
    with fails(errno.EOPNOTSUPP):
        os.setxattr(ctx.path("f"), "user.colour", b"blue")
    with fails(errno.EOPNOTSUPP):
        os.getxattr(ctx.path("f"), "user.colour")


def check_acl_is_refused(ctx):
    """The server offers no ACL on this backend: setfacl must say so."""
    write(ctx.path("f"), b"")
    result = subprocess.run(
        ["setfacl", "-m", "u:1000:rw", ctx.path("f")],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False)
    # Over v3 the server takes the call and then fails it.
    reason = ("Input/output error" if ctx.version == "3"
              else "Operation not supported")
    assert result.returncode and reason in result.stdout, \
        f"setfacl: {result.returncode} {result.stdout!r}"
    ctx.same("f")


def _pack_acl(entries):
    """The XDR of allowing entries [(flags, mask, who)]."""
    data = struct.pack(">I", len(entries))
    for flags, mask, who in entries:
        name = who.encode()
        data += struct.pack(">4I", 0, flags, mask, len(name))
        data += name + bytes(-len(name) % 4)
    return data


def _unpack_acl(data):
    """{who: mask} of the allowing entries; the last of a name counts."""
    count, = struct.unpack_from(">I", data)
    offset, found = 4, {}
    for _ in range(count):
        kind, _, mask, length = struct.unpack_from(">4I", data, offset)
        who = data[offset + 16:offset + 16 + length].decode()
        offset += 16 + length + -length % 4
        if kind == 0:
            found[who] = mask
    return found


def check_nfs4_acl(ctx):
    """Of the backends here only GLUSTER has ACLs, and only by version 4."""
    path = write(ctx.path("f"), b"")
    acl = _pack_acl([(0, ALL, "OWNER@"), (0, READ, "1000"),
                     (GROUP, READ, "GROUP@"), (0, LOOK, "EVERYONE@")])
    if ctx.backend != "GLUSTER" or ctx.version == "3":
        with fails(errno.EOPNOTSUPP):
            os.getxattr(path, NFS4_ACL)
        with fails(errno.EOPNOTSUPP, ENOTSUPP):
            os.setxattr(path, NFS4_ACL, acl)
        return
    assert _unpack_acl(os.getxattr(path, NFS4_ACL))["EVERYONE@"] == READ
    os.setxattr(path, NFS4_ACL, acl)
    found = _unpack_acl(os.getxattr(path, NFS4_ACL))
    assert found["1000"] == READ and found["EVERYONE@"] == LOOK, found
    for uid, readable in ((1000, True), (2000, False)):
        os.setegid(2000)
        os.seteuid(uid)
        assert os.access(path, os.R_OK, effective_ids=True) is readable
        os.seteuid(0)
        os.setegid(0)
    ctx.same("f")
