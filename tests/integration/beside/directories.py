# SPDX-License-Identifier: LGPL-3.0-or-later
"""What happens to directories beside NFS, for Place.follow()."""

import ctypes
import os
import shutil

from beside.truth import AT_FDCWD

RENAME_EXCHANGE = 2


def exchange(one, other):
    """Each takes the other's place, in one step."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD,
                      os.fsencode(other), RENAME_EXCHANGE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(one))


def populate(path, files=3):
    """A directory with files, and one with a file below it."""
    path.mkdir()
    for number in range(files):
        (path / f"file-{number}").write_text(f"{path.name} {number}")
    (path / "deeper").mkdir()
    (path / "deeper" / "file").write_text("deep")
    return path


def missing_names_come(place):
    """In a directory that was listed, after "there is no such file"."""
    (place.here / "there").write_text("x")
    (place.here / "elsewhere").mkdir()
    (place.outside / "file").write_text("moved in")
    (place.outside / "tree").mkdir()
    ways = {
        "file": lambda path: path.write_text("x"),
        "directory": lambda path: path.mkdir(),
        "symlink": lambda path: path.symlink_to("target"),
        "fifo": os.mkfifo,
        "link": lambda path: os.link(place.here / "there", path),
        "renamed": lambda path: os.rename(place.here / "file", path),
        "moved": lambda path: os.rename(place.here / "renamed", path),
        "in": lambda path: os.rename(place.outside / "file", path),
        "tree": lambda path: os.rename(place.outside / "tree", path),
    }
    yield [*ways, *(f"elsewhere/{name}" for name in ways)]
    for name, way in ways.items():
        directory = place.here / ("elsewhere" if name == "moved" else "")
        way(directory / name)
        yield
    (place.here / "directory" / "inside").write_text("x")
    yield ["tree/inside"]
    (place.here / "tree" / "inside").write_text("x")
    yield


def one_of_four_is_removed(place):
    for number in range(4):
        (place.here / f"file-{number}").write_text("x" * number)
    yield
    for number in (2, 0, 3, 1):
        os.unlink(place.here / f"file-{number}")
        yield


def a_tree_is_copied_in(place):
    """By rsync: new, then changed and partly removed."""
    source = place.outside / "source"
    source.mkdir()
    for name in ("one", "two", "three"):
        populate(source / name, files=6)
    yield ["copy", "two"]
    place.run("rsync", "-a", f"{source}/", f"{place.here}/")
    yield
    (source / "one" / "file-1").write_text("changed, and longer")
    shutil.rmtree(source / "two")
    populate(source / "three" / "new")
    os.rename(source / "one" / "file-2", source / "three" / "file-2b")
    place.run("rsync", "-a", "--delete", f"{source}/", f"{place.here}/")
    yield
    place.run("cp", "-a", source, place.here / "copy")
    yield
    shutil.rmtree(place.here / "copy")
    yield


def a_directory_is_made_again(place):
    """With the same name, and with other names in it."""
    path = place.here / "directory"
    populate(path)
    for number in range(3):
        yield ["directory/new", "directory/new-1"]
        shutil.rmtree(path)
        if number:
            yield
        path.mkdir()
        yield
        (path / f"new-{number}").write_text("x")
        (path / "file-1").write_text("another file of this name")
    yield
    # Another directory takes the place of an empty one.
    shutil.rmtree(path)
    path.mkdir()
    populate(place.here / "other")
    yield
    os.rename(place.here / "other", path)
    yield
    # And by a tree that is removed and unpacked under its eyes.
    shutil.rmtree(path)
    populate(path, files=5)
    yield


def directories_move_within(place):
    """Names, "..", both parents, and handles of what is below."""
    one, two = populate(place.here / "one"), populate(place.here / "two")
    populate(one / "moving")
    yield ["two/moving", "two/moved"]
    os.rename(one / "moving", two / "moved")
    yield
    (two / "moved" / "deeper" / "new").write_text("after it moved")
    yield
    os.rename(two / "moved" / "deeper", place.here / "deeper")
    yield
    os.rename(two, one / "two")
    yield
    os.rename(one / "two" / "moved", place.here / "moving")
    os.rename(one / "two", place.here / "moving" / "two")
    yield


def directories_move_out_and_in(place):
    """Handles below it stay what they are; what is changed there is seen."""
    moving = populate(place.here / "moving")
    populate(place.outside / "other")
    yield ["other", "again"]
    os.rename(moving, place.outside / "moved")
    yield
    (place.outside / "moved" / "file-0").write_text("changed outside")
    os.chmod(place.outside / "moved" / "deeper", 0o700)
    (place.outside / "moved" / "deeper" / "new").write_text("outside, too")
    os.unlink(place.outside / "moved" / "file-1")
    yield
    os.rename(place.outside / "moved", place.here / "again")
    yield
    os.rename(place.outside / "other", place.here / "other")
    yield
    os.rename(place.here / "other" / "file-0", place.outside / "file")
    yield
    (place.outside / "file").write_text("a file that was moved out")
    yield


def names_change_places(place):
    """RENAME_EXCHANGE: of files, of directories, of one with the other."""
    one, two = populate(place.here / "one"), populate(place.here / "two")
    yield
    exchange(one / "file-0", one / "file-1")
    yield
    exchange(one / "file-2", two / "file-2")
    yield
    exchange(one, two)
    yield
    exchange(one / "deeper", two / "deeper")
    yield
    exchange(one / "deeper", two / "file-1")
    yield
    populate(place.outside / "three")
    exchange(one, place.outside / "three")
    yield


def another_mount_is_used(place):
    """The same file system by a bind mount: other paths, same objects."""
    (place.here / "file").write_text("x")
    populate(place.here / "directory")
    again = place.again
    yield ["new", "directory/new"]
    with open(again / "file", "ab", buffering=0) as file:
        file.write(b"appended")
        yield
    (again / "new").write_text("x")
    yield
    os.chmod(again / "directory", 0o700)
    yield
    os.rename(again / "file", again / "directory" / "new")
    yield
    os.unlink(again / "directory" / "file-0")
    os.rename(again / "directory", again / "renamed")
    yield


def odd_names(place):
    """The longest, and such as are no text."""
    here = os.fsencode(place.here)
    names = [b"n" * 255, b"\xff\xfe\x80", b"line\nend", b"...", b" ", b"-rf",
             "n\u00e4me".encode(), "na\u0308me".encode(), b"\x01"]
    (place.here / "other").mkdir()
    yield [os.fsdecode(name) for name in names]
    for name in names:
        os.close(os.open(os.path.join(here, name), os.O_CREAT | os.O_WRONLY))
    yield
    for name in names[::2]:
        os.rename(os.path.join(here, name), os.path.join(here, b"other", name))
    yield
    for name in names[1::2]:
        os.unlink(os.path.join(here, name))
    yield


def a_deep_tree_comes_and_goes(place):
    path = place.here
    yield ["d0"]
    for depth in range(12):
        path = path / f"d{depth}"
        path.mkdir()
        (path / "file").write_text(f"{depth}")
    yield
    os.chmod(path / "file", 0o600)
    yield
    os.rename(place.here / "d0" / "d1" / "d2", place.here / "d2")
    yield
    shutil.rmtree(place.here / "d2")
    yield
