# SPDX-License-Identifier: LGPL-3.0-or-later
"""The tree as it must be, and what each request must answer.

A step is a dictionary: "op", "client" (a number) and the op's arguments, with
objects named by their number in the model.  apply() changes the model as the
step must change the tree and says what must be answered.  What the backend
alone decides (times, inode numbers, sizes of directories) is not in here.
"""

from dataclasses import dataclass, field

from harness.answers import (BADHANDLE, BADTYPE, DIRECTORY, EXIST, FIFO, INVAL,
                             ISDIR, LINK, NOENT, NOTDIR, NOTEMPTY, NO_REPLY,
                             NXIO, OK, PERM, REGULAR, SERVERFAULT, STALE,
                             SYMLINK, UNCHECKED, WRONG_TYPE)

ROOT = 0
# The answers about an object that is gone.  Ganesha does not answer at all to
# some that come just after the removal, or by version 4 SERVERFAULT.
GONE = frozenset((STALE, BADHANDLE, NOENT, NO_REPLY, SERVERFAULT))
NO_ERROR = frozenset((OK,))
NOT_A_FILE = frozenset((INVAL, ISDIR, EXIST, SYMLINK, WRONG_TYPE, BADTYPE,
                        NXIO, NOENT))
WRONG_KIND = frozenset((EXIST, NOTDIR, ISDIR, NOTEMPTY, INVAL, PERM))


@dataclass(slots=True)
class Node:
    """One object.  names: {(directory's number, name)}, empty if gone.

    data: None if it is not known, which is so of some that are gone.
    """
    number: int
    type: str
    names: set = field(default_factory=set)
    children: dict | None = None
    data: bytes | None = b""
    target: bytes = b""
    opens: int = 0

    def copy(self):
        return Node(self.number, self.type, set(self.names),
                    None if self.children is None else dict(self.children),
                    self.data, self.target, self.opens)

    @property
    def gone(self):
        return not self.names


@dataclass(slots=True)
class Expected:
    """What must be answered.

    node: the object that the answer tells of; directories: those that change
    (or are read); gone: the object has no name any more, but may still live.
    """
    statuses: frozenset
    node: int | None = None
    directories: tuple = ()
    data: bytes | None = None
    names: dict | None = None
    gone: bool = False


class Model:
    """Objects by their numbers; the root's is 0 and it has one name."""

    def __init__(self):
        self.nodes = {ROOT: Node(ROOT, DIRECTORY, {(ROOT, b"")}, {})}

    def copy(self):
        other = Model.__new__(Model)
        other.nodes = {number: node.copy()
                       for number, node in self.nodes.items()}
        return other

    def live(self, kind=None):
        """The objects that have a name, of one type if given."""
        return [node for node in self.nodes.values()
                if node.names and kind in (None, node.type)]

    def path(self, number):
        """An object's path below the root, by the first of its names."""
        parts = []
        while number != ROOT:
            number, name = min(self.nodes[number].names)
            parts.append(name)
        return b"/".join(reversed(parts))

    def parent(self, number):
        """The number of a directory's parent; of a gone one, None."""
        for directory, _ in self.nodes[number].names:
            return directory
        return None

    def below(self, number, ancestor):
        """Whether an object is `ancestor` or in the tree below it."""
        while number != ancestor:
            if number in (ROOT, None):
                return False
            number = self.parent(number)
        return True

    def nlink(self, node):
        if node.type != DIRECTORY:
            return len(node.names)
        return 2 + sum(self.nodes[child].type == DIRECTORY
                       for child in node.children.values())

    def size(self, node):
        """None for a directory: that is the backend's affair."""
        if node.type == DIRECTORY:
            return None
        return len(node.target if node.type == LINK else node.data)

    def forget(self, number):
        """Forget an object that is gone."""
        del self.nodes[number]

    # What each step does.

    def apply(self, step):
        """Change the model as the step must the tree; the Expected."""
        return getattr(self, "_" + step["op"])(step)

    def _object(self, step, key="node"):
        """(node, None), or (None, Expected) of one that is gone."""
        node = self.nodes[step[key]]
        if node.gone:
            return None, Expected(GONE, gone=True)
        return node, None

    def _add(self, directory, step, kind, **values):
        """The object that a step makes, by the number that it brings."""
        node = Node(step["new"], kind, {(directory.number, step["name"])},
                    **values)
        self.nodes[node.number] = node
        directory.children[step["name"]] = node.number
        return node

    def _drop(self, directory, name):
        node = self.nodes[directory.children.pop(name)]
        node.names.discard((directory.number, name))
        return node

    def _getattr(self, step):
        node, gone = self._object(step)
        return gone or Expected(NO_ERROR, node.number)

    _access = _getattr

    def _lookup(self, step):
        directory, gone = self._object(step, "directory")
        if gone:
            return gone
        child = directory.children.get(step["name"])
        return Expected(frozenset((NOENT,)) if child is None else NO_ERROR,
                        child, (directory.number,))

    def _lookup_parent(self, step):
        directory, gone = self._object(step, "directory")
        return gone or Expected(NO_ERROR, self.parent(directory.number))

    def _readlink(self, step):
        node, gone = self._object(step)
        if gone:
            return gone
        if node.type != LINK:
            return Expected(NOT_A_FILE)
        return Expected(NO_ERROR, node.number, data=node.target)

    def _read(self, step):
        node, gone = self._object(step)
        if gone:
            return gone
        if node.type != REGULAR:
            return Expected(NOT_A_FILE)
        return Expected(NO_ERROR, node.number, data=node.data)

    def _readdir(self, step):
        directory, gone = self._object(step, "directory")
        if gone:
            return gone
        return Expected(NO_ERROR, None, (directory.number,),
                        names=dict(directory.children))

    def _write(self, step):
        node, gone = self._object(step)
        if gone:
            return gone
        if node.type != REGULAR:
            return Expected(NOT_A_FILE)
        self._put(node, step["offset"], step["data"])
        return Expected(NO_ERROR, node.number)

    @staticmethod
    def _put(node, offset, data):
        if node.data is None:
            return
        before = node.data[:offset].ljust(offset, b"\0")
        node.data = before + data + node.data[offset + len(data):]

    def _truncate(self, step):
        node, gone = self._object(step)
        if gone:
            return gone
        if node.type != REGULAR:
            return Expected(NOT_A_FILE)
        node.data = node.data[:step["size"]].ljust(step["size"], b"\0")
        return Expected(NO_ERROR, node.number)

    def _setattr(self, step):
        node, gone = self._object(step)
        return gone or Expected(NO_ERROR, node.number)

    def _create(self, step):
        directory, gone = self._object(step, "directory")
        if gone:
            return gone
        name = step["name"]
        child = directory.children.get(name)
        if child is None:
            node = self._add(directory, step, REGULAR)
            return Expected(NO_ERROR, node.number, (directory.number,))
        node = self.nodes[child]
        if node.type != REGULAR:
            # Ganesha's version 3 takes what is there, a FIFO as well.
            takes = step["how"] == UNCHECKED and not step["any"]
            return Expected(NOT_A_FILE | NO_ERROR if takes else NOT_A_FILE,
                            child)
        if step["how"] != UNCHECKED:
            return Expected(frozenset((EXIST,)))
        if step["truncate"]:
            node.data = b""
        return Expected(NO_ERROR, child, (directory.number,))

    def _made(self, step, kind, **values):
        directory, gone = self._object(step, "directory")
        if gone:
            return gone
        if step["name"] in directory.children:
            return Expected(frozenset((EXIST,)))
        node = self._add(directory, step, kind, **values)
        return Expected(NO_ERROR, node.number, (directory.number,))

    def _mkdir(self, step):
        return self._made(step, DIRECTORY, children={})

    def _symlink(self, step):
        return self._made(step, LINK, target=step["target"])

    def _mkfifo(self, step):
        return self._made(step, FIFO)

    def _remove(self, step):
        """ "any": by a version that has one request for both kinds."""
        directory, gone = self._object(step, "directory")
        if gone:
            return gone
        child = directory.children.get(step["name"])
        if child is None:
            return Expected(frozenset((NOENT,)))
        node = self.nodes[child]
        wants = step["is_directory"]
        if not step["any"] and wants != (node.type == DIRECTORY):
            return Expected(WRONG_KIND)
        if node.children:
            return Expected(frozenset((NOTEMPTY, EXIST)))
        self._drop(directory, step["name"])
        return Expected(NO_ERROR, None, (directory.number,))

    def _rename(self, step):
        source, gone = self._object(step, "directory")
        if gone:
            return gone
        to, gone = self._object(step, "to_directory")
        if gone:
            return gone
        name, to_name = step["name"], step["to_name"]
        child = source.children.get(name)
        if child is None:
            return Expected(frozenset((NOENT,)))
        node, old = self.nodes[child], to.children.get(to_name)
        done = Expected(NO_ERROR, child, (source.number, to.number))
        if old == child:
            return Expected(NO_ERROR, child)
        if node.type == DIRECTORY and self.below(to.number, child):
            return Expected(WRONG_KIND)
        if old is not None:
            over = self.nodes[old]
            if (node.type == DIRECTORY) != (over.type == DIRECTORY) \
                    or over.children:
                return Expected(WRONG_KIND)
            self._drop(to, to_name)
        self._drop(source, name)
        to.children[to_name] = child
        node.names.add((to.number, to_name))
        return done

    def _link(self, step):
        node, gone = self._object(step)
        if gone:
            return gone
        directory, gone = self._object(step, "directory")
        if gone:
            return gone
        if node.type == DIRECTORY:
            return Expected(WRONG_KIND)
        if step["name"] in directory.children:
            return Expected(frozenset((EXIST,)))
        directory.children[step["name"]] = node.number
        node.names.add((directory.number, step["name"]))
        return Expected(NO_ERROR, node.number, (directory.number,))

    # Files held open, which live on without a name.

    def _open(self, step):
        directory, gone = self._object(step, "directory")
        if gone:
            return gone
        child = directory.children.get(step["name"])
        if child is None:
            return Expected(frozenset((NOENT,)))
        node = self.nodes[child]
        if node.type != REGULAR:
            return Expected(NOT_A_FILE)
        node.opens += 1
        return Expected(NO_ERROR, child)

    def _close(self, step):
        self.nodes[step["node"]].opens -= 1
        return Expected(NO_ERROR)

    def _read_open(self, step):
        node = self.nodes[step["node"]]
        return Expected(NO_ERROR, None if node.gone else node.number,
                        data=node.data)

    def _write_open(self, step):
        node = self.nodes[step["node"]]
        self._put(node, step["offset"], step["data"])
        return Expected(NO_ERROR, None if node.gone else node.number)
