# SPDX-License-Identifier: LGPL-3.0-or-later
"""What the backend has, and whether an answer agrees with it."""

import os
import stat

from coherence.model import ROOT
from harness.answers import (DIRECTORY, FIFO, LINK, OK, REGULAR, Attributes)

TYPES = {stat.S_IFREG: REGULAR, stat.S_IFDIR: DIRECTORY, stat.S_IFLNK: LINK,
         stat.S_IFIFO: FIFO}


class Wrong(AssertionError):
    """An answer, or the tree, is not what it must be."""


class DirectoryOracle:
    """The backend's tree is a directory of this machine."""

    def __init__(self, root):
        self.root = os.fsencode(root)

    def _path(self, path):
        return self.root + b"/" + path if path else self.root

    def attributes(self, path):
        """Attributes of an object, or None."""
        try:
            found = os.lstat(self._path(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        return Attributes(
            TYPES[stat.S_IFMT(found.st_mode)], stat.S_IMODE(found.st_mode),
            found.st_nlink, found.st_uid, found.st_gid, found.st_size,
            found.st_ino, found.st_mtime_ns, found.st_ctime_ns,
            max(found.st_mtime_ns, found.st_ctime_ns))

    def of(self, model, number):
        """Attributes of an object of the model."""
        return self.attributes(model.path(number))

    def names(self, path):
        return {name: os.lstat(os.path.join(self._path(path), name)).st_ino
                for name in os.listdir(self._path(path))}

    def content(self, path):
        with open(self._path(path), "rb") as file:
            return file.read()

    def target(self, path):
        return os.readlink(self._path(path))

    def check_model(self, model, numbers):
        """The backend's objects are as the model has them."""
        for number in numbers:
            node = model.nodes.get(number)
            if node is None or node.gone:
                continue
            path = model.path(number)
            found = self.attributes(path)
            if found is None:
                raise Wrong(f"the backend has no {path!r}")
            self._check_node(model, node, path, found)

    def _check_node(self, model, node, path, found):
        wanted = (node.type, model.nlink(node), model.size(node))
        has = (found.type, found.nlink,
               None if node.type == DIRECTORY else found.size)
        if wanted != has:
            raise Wrong(f"the backend's {path!r} is {has}, not {wanted}")
        if node.type == DIRECTORY:
            self._check_names(model, node, path)
        elif node.type == REGULAR and self.content(path) != node.data:
            raise Wrong(f"the backend's {path!r} has other content")
        elif node.type == LINK and self.target(path) != node.target:
            raise Wrong(f"the backend's {path!r} has another target")

    def _check_names(self, model, node, path):
        with os.scandir(self._path(path)) as entries:
            found = {entry.name: kind(entry) for entry in entries}
        if set(found) != set(node.children):
            raise Wrong(f"the backend's {path!r} has "
                        f"{differ(found, node.children)}")
        for name, number in node.children.items():
            if found[name] != model.nodes[number].type:
                raise Wrong(f"{name!r} in the backend's {path!r} is a "
                            f"{found[name]}")


def kind(entry):
    """The type of a directory's entry."""
    if entry.is_symlink():
        return LINK
    if entry.is_dir():
        return DIRECTORY
    return REGULAR if entry.is_file() else FIFO


class ModelOracle:
    """A backend without an outside: what the model knows must do.

    The first answer about an object tells its number; it must not change.
    """

    def __init__(self):
        self._fileids = {}

    def of(self, model, number):
        node = model.nodes[number]
        # FSAL_MEM counts each name as a directory's link, and no target.
        directory = node.type == DIRECTORY
        return Attributes(node.type, None,
                          None if directory else model.nlink(node), None,
                          None, None if directory or node.type == LINK
                          else model.size(node),
                          self._fileids.get(number), None, None)

    def learn(self, number, fileid):
        known = self._fileids.setdefault(number, fileid)
        if known != fileid:
            raise Wrong(f"object {number} has fileid {fileid}, had {known}")

    def check_model(self, model, numbers):
        """There is nothing else to compare with."""


def differ(has, wants):
    """In words, what is too much and what is missing."""
    return (f"too much: {sorted(set(has) - set(wants))!r}, "
            f"missing: {sorted(set(wants) - set(has))!r}")


def before_of(attributes):
    """What a version 3 answer says of an object as it was."""
    return attributes.size, attributes.mtime, attributes.ctime


class Judge:
    """Compares a Reply with the Expected and with the backend."""

    def __init__(self, oracle):
        self.oracle = oracle

    def before(self, model, step):
        """What is to be known of a step's objects before it is made."""
        found = {}
        for key in ("directory", "to_directory", "node"):
            number = step.get(key)
            if number is not None and not model.nodes[number].gone:
                found[key] = self.oracle.of(model, number)
        return found

    def status(self, reply, expected):
        if expected.gone and reply.attributes and \
                reply.attributes.nlink == 0:
            return      # it is still open, or the kernel still has it
        if reply.status not in expected.statuses:
            raise Wrong(f"answered {reply.status} instead of "
                        f"{sorted(expected.statuses)} {reply.attributes}")

    def same(self, what, attributes, model, number):
        """Attributes are the backend's, if they were given."""
        if attributes is None or number is None:
            return
        truth = self.oracle.of(model, number)
        if isinstance(self.oracle, ModelOracle):
            self.oracle.learn(number, attributes.fileid)
        if truth is None:
            raise Wrong(f"{what}: the backend has no {model.path(number)!r}")
        found = attributes.differences(truth)
        if found:
            raise Wrong(f"{what} {model.path(number)!r}: "
                        + ", ".join(found))

    def answer(self, step, reply, expected, model, before):
        """Everything of an answer to a step that was alone.

        `model` is as it is after the step.
        """
        self.status(reply, expected)
        if reply.status == OK and expected.node is not None:
            self.same("attributes of", reply.attributes, model,
                      expected.node)
        self._content(reply, expected, model)
        if isinstance(self.oracle, ModelOracle):
            return
        self._wcc(step, reply, model, before)
        self._change_info(step, reply, model, before)

    def _content(self, reply, expected, model):
        if reply.status != OK:
            return
        if expected.data is not None and reply.data != expected.data:
            raise Wrong(f"data {reply.data[:40]!r} ({len(reply.data)}) "
                        f"instead of {expected.data[:40]!r} "
                        f"({len(expected.data)})")
        if expected.names is not None:
            self._names(reply, expected, model)

    def _names(self, reply, expected, model):
        names = {name: value for name, value in reply.names.items()
                 if name not in (b".", b"..")}
        directory, = expected.directories
        if set(names) != set(expected.names):
            raise Wrong(f"{model.path(directory)!r} was listed with "
                        + differ(names, expected.names))
        if b"." in reply.names:
            self._listed(".", reply.names[b"."], model, directory)
        # Ganesha does not always stop at an export's root.
        if b".." in reply.names and directory != ROOT:
            self._listed("..", reply.names[b".."], model,
                         model.parent(directory))
        for name, value in names.items():
            self._listed(name, value, model, expected.names[name])

    def _listed(self, name, value, model, number):
        fileid, attributes, _ = value
        if attributes:
            self.same(f"listed as {name!r}:", attributes, model, number)
        elif fileid is not None:
            truth = self.oracle.of(model, number)
            if truth.fileid not in (fileid, None):
                raise Wrong(f"{name!r} was listed with fileid {fileid} "
                            f"instead of {truth.fileid}")

    def _wcc(self, step, reply, model, before):
        """What version 3 says of the directory or the changed object."""
        main = "directory" if "directory" in before else "node"
        for key, was, now in (
                (main, reply.before, reply.after),
                ("to_directory", reply.second_before, reply.second_after)):
            if key not in before:
                continue
            if was is not None and was != before_of(before[key]):
                raise Wrong(f"said that {key} was {was} instead of "
                            f"{before_of(before[key])}")
            self.same(f"said of {key}", now, model, step[key])

    def _change_info(self, step, reply, model, before):
        for key, change in (("directory", reply.change),
                            ("to_directory", reply.second_change)):
            if change is None:
                continue
            truth = (before[key].change,
                     self.oracle.of(model, step[key]).change)
            # Where the attributes were not got there is no change.
            if any(said not in (0, true)
                   for said, true in zip(change[1:], truth)):
                raise Wrong(f"change of {key} from {change[1]} to "
                            f"{change[2]} instead of {truth}")


def everything(model):
    """Numbers of all objects that have a name, directories first."""
    return [ROOT] + [node.number for node in model.live()
                     if node.number != ROOT]
