# SPDX-License-Identifier: LGPL-3.0-or-later
"""Lock folders and replace files, so that no reader sees half a file and no
concurrent change is lost."""

import errno
import fcntl
import os
import time
from contextlib import contextmanager

from scalectl.errors import ScalectlError

LOCK_WAIT_SECONDS = 30.0
TEMPORARY = ".scalectl-"
ACL = "system.posix_acl_access"
# What flock() on a folder gives where the file system cannot do it, as NFS.
NO_LOCKS = (errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL)

REMEDIES = {
    errno.EACCES: "run scalectl as root",
    errno.EPERM: "run scalectl as root; if you are root, see whether the file "
                 "is immutable (lsattr)",
    errno.EROFS: "the file system is read-only: change the file where it "
                 "comes from, or remount it",
    errno.EBUSY: "the file is a mount point, as in a container: change the "
                 "file that is mounted there",
    errno.ENOSPC: "make room on the file system",
    errno.EDQUOT: "make room in the quota",
}


def _failure(what, path, error):
    return ScalectlError(f"cannot {what} {path}: {error.strerror}",
                         REMEDIES.get(error.errno,
                                      "the file is as it was before"))


@contextmanager
def locked(folders):
    """Hold an exclusive lock on each folder; wait at most 30 s.

    The folders are locked, not the files, because a file is replaced by
    another, and because a lock file would be one more thing to leave behind.
    """
    deadline = time.monotonic() + LOCK_WAIT_SECONDS
    held = []
    try:
        # The same order in every process, so that none waits in a circle.
        for folder in sorted(folders):
            try:
                fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY
                             | os.O_CLOEXEC)
                held.append(fd)
                _lock(fd, folder, deadline)
            except OSError as error:
                raise _failure("lock", folder, error) from error
        yield
    finally:
        for fd in held:
            os.close(fd)


def _lock(fd, folder, deadline):
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as error:
            if time.monotonic() >= deadline:
                raise ScalectlError(
                    f"another scalectl has held the lock on {folder} for "
                    f"{LOCK_WAIT_SECONDS:.0f} s",
                    "wait for it to end, or end it") from error
            time.sleep(0.02)
        except OSError as error:
            if error.errno in NO_LOCKS:
                # replace() still sees whether somebody came in between.
                return
            raise


def replace(path, data, expected):
    """Replace the contents of path (no symbolic link) by data, at once.

    Owner, mode, ACL and other extended attributes stay. expected is the
    os.stat_result of the file when it was read: a file that has changed
    since is not overwritten. Returns a list of warnings.
    """
    try:
        now = os.stat(path)
        if _identity(now) != _identity(expected):
            raise ScalectlError(f"{path} was changed by another program in "
                                "the meantime", "run scalectl again")
        return _replace(path, data, now)
    except OSError as error:
        raise _failure("write", path, error) from error


def _identity(stat):
    return (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns)


def _replace(path, data, stat):
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f"{TEMPORARY}{os.getpid()}-{name}")
    warnings = []
    if stat.st_nlink > 1:
        warnings.append(f"{path} has {stat.st_nlink} hard links: the others "
                        "keep the old contents")
    fd, named = _create(folder, temporary)
    try:
        with open(fd, "wb", closefd=False) as file:
            file.write(data)
        if (stat.st_uid, stat.st_gid) != (os.geteuid(), os.getegid()):
            os.fchown(fd, stat.st_uid, stat.st_gid)
        warnings += _copy_attributes(path, fd)
        os.fchmod(fd, stat.st_mode & 0o7777)
        os.fsync(fd)
        if not named:
            # Python follows the link in /proc only if src_dir_fd is given.
            os.link(f"/proc/self/fd/{fd}", temporary, src_dir_fd=fd)
            named = True
        os.rename(temporary, path)
        named = False
        _sync_folder(folder)
    finally:
        os.close(fd)
        if named:
            os.unlink(temporary)
    return warnings


def _create(folder, temporary):
    """Open a new file in folder; return it and whether it has its name yet.

    Ganesha reads every file of a %dir folder, hidden ones too, so the file
    gets a name only when it is complete, where the file system can do that.
    """
    remove_leftovers(folder)
    flags = os.O_RDWR | os.O_CLOEXEC
    try:
        if os.path.isdir("/proc/self/fd"):
            return os.open(folder, flags | os.O_TMPFILE, 0o600), False
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT,
                               errno.EINVAL):
            raise
    return os.open(temporary, flags | os.O_CREAT | os.O_EXCL, 0o600), True


def remove_leftovers(folder):
    """Remove temporary files of a scalectl that was killed; the caller holds
    the folder's lock, so none of them is in use."""
    for name in os.listdir(folder):
        if name.startswith(TEMPORARY):
            os.unlink(os.path.join(folder, name))


def _copy_attributes(path, fd):
    """Give fd the extended attributes of path: ACL, SELinux label, user
    attributes. Returns warnings."""
    warnings = []
    try:
        names = os.listxattr(path)
        if ACL in os.listxattr(fd) and ACL not in names:
            # From the folder's default ACL, which would let others in.
            os.removexattr(fd, ACL)
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:
            return warnings
        raise
    for name in names:
        try:
            value = os.getxattr(path, name)
            os.setxattr(fd, name, value)
        except OSError as error:
            warnings.append(f"{path} lost its extended attribute {name}: "
                            f"{error.strerror}")
    return warnings


def _sync_folder(folder):
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
