# SPDX-License-Identifier: LGPL-3.0-or-later
"""An ext4 image with millions of empty files that are long as they are."""

import os
import pathlib
import shutil
import subprocess
import time

from backends.vfs import Vfs
from nfsbench.memory import inside

RAM = pathlib.Path("/dev/shm")
FILES_EACH = 1000
DAYS_OLD = 60
# An inode and its share of a directory's blocks and of the rest.
BYTES_EACH = 256 + 64
SPARE = 1 << 30


def make_image(path, files):
    """Make the image, d0000/f0000 and so on in it; not there before."""
    partial = path.with_name(path.name + ".new")
    partial.parent.mkdir(parents=True, exist_ok=True)
    mount = partial.with_name(path.name + ".mount")
    mount.mkdir(exist_ok=True)
    with open(partial, "wb") as file:
        file.truncate(files * BYTES_EACH * 2 + SPARE)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", "-N",
                    str(files + files // 20 + 200_000), "-E",
                    "lazy_itable_init=0,lazy_journal_init=0", partial],
                   check=True)
    subprocess.run(["mount", "-o", "loop,noatime", partial, mount],
                   check=True)
    try:
        fill(mount, files)
    finally:
        subprocess.run(["umount", mount], check=True)
        mount.rmdir()
    partial.rename(path)


def fill(root, files):
    """Directories of FILES_EACH files, all of them old."""
    then = time.time() - DAYS_OLD * 86400
    root.chmod(0o1777)
    for number in range(files // FILES_EACH):
        folder = root / f"d{number:04}"
        folder.mkdir()
        folder.chmod(0o777)
        fd = os.open(folder, os.O_RDONLY)
        for file in range(FILES_EACH):
            name = f"f{file:04}"
            os.mknod(name, 0o100644, dir_fd=fd)
            os.utime(name, (then, then), dir_fd=fd)
        os.utime(fd, (then, then))
        os.close(fd)


class Millions(Vfs):
    """FSAL_VFS over a copy of the image, mounted in the namespace.

    device: what it is mounted from.
    """

    def __init__(self, rundir, image):
        super().__init__(rundir)
        self._image = image
        self._namespace = None
        self.device = None

    def start(self, namespace):
        super().start(namespace)
        self._namespace = namespace
        self.device = pathlib.Path(namespace.run(
            "losetup", "--find", "--show", "--direct-io=on",
            self._image).stdout.split()[-1])
        self.mount()

    def mount(self):
        """Mount it, with nothing of it in the kernel's caches."""
        self._namespace.run("mount", "-o", "noatime", self.device,
                            self.directory)
        inside(self._namespace, self.directory).chmod(0o1777)

    def remount(self):
        self._namespace.run("umount", self.directory)
        self.mount()

    def stop(self):
        super().stop()
        if self.device:
            subprocess.run(["losetup", "-d", self.device], check=False)


class Images:
    """Images by their number of files, in a folder that stays, or in one
    that is gone in the end."""

    def __init__(self, folder):
        self._kept = folder is not None
        self._folder = pathlib.Path(folder or RAM / f"scale-{os.getpid()}")

    def get(self, files):
        """The image of so many files; made if it is not there."""
        path = self._folder / f"ext4-{files}"
        if not path.exists():
            print(f"small: making {files} files", flush=True)
            make_image(path, files)
        return path

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        if not self._kept:
            shutil.rmtree(self._folder, ignore_errors=True)
