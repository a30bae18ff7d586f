# SPDX-License-Identifier: LGPL-3.0-or-later
"""Ganesha's own parser, out of its library, as the oracle for scalectl's.

Run as a program it reads paths from stdin, one a line, and answers each with
a line of JSON: {"errors": "...", "tree": [...]}. A statement in the tree is
[name, [terms]], a block [name, {"items": [...]}]. Class Parser runs it so: a
crash of the library then ends that process alone.
"""

import ctypes
import json
import subprocess
import sys

LIBRARY = "/usr/lib/ganesha/libganesha_nfsd.so"
BLOCK, STATEMENT, TERM = 2, 3, 4


class ListHead(ctypes.Structure):
    _fields_ = [("next", ctypes.c_void_p), ("prev", ctypes.c_void_p)]


class TermPart(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("sign", ctypes.c_char_p),
                ("value", ctypes.c_char_p)]


class NodePart(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("parent", ctypes.c_void_p),
                ("children", ListHead)]


class Either(ctypes.Union):
    _fields_ = [("term", TermPart), ("node", NodePart)]


class Node(ctypes.Structure):
    _fields_ = [("siblings", ListHead), ("blocks", ListHead),
                ("file", ctypes.c_char_p), ("line", ctypes.c_int),
                ("found", ctypes.c_bool), ("type", ctypes.c_int),
                ("either", Either)]


class Errors(ctypes.Structure):
    _fields_ = [("bits", ctypes.c_uint32), ("count", ctypes.c_uint32),
                ("text", ctypes.c_char_p), ("size", ctypes.c_size_t),
                ("stream", ctypes.c_void_p)]


def _children(address):
    head = address + Node.either.offset + NodePart.children.offset
    child = ListHead.from_address(head).next
    while child and child != head:
        yield child
        child = ListHead.from_address(child).next


def _tree(address):
    node = Node.from_address(address)
    if node.type == TERM:
        term = node.either.term
        return ((term.sign or b"") + (term.value or b"")).decode("latin-1")
    name = node.either.node.name.decode("latin-1")
    below = [_tree(child) for child in _children(address)]
    return [name, below if node.type == STATEMENT else {"items": below}]


def serve():
    """Answer requests until stdin ends."""
    library, libc = ctypes.CDLL(LIBRARY), ctypes.CDLL(None)
    library.config_ParseFile.restype = ctypes.c_void_p
    library.config_Free.argtypes = [ctypes.c_void_p]
    library.err_type_str.restype = ctypes.c_void_p
    libc.fopen.restype = ctypes.c_void_p
    # Errors are logged, so the log must exist.
    library.nfs_prereq_init(b"parser", b"localhost", -1, b"/dev/null",
                            ctypes.c_bool(False))
    stream = libc.fopen(b"/dev/null", b"w")
    for path in sys.stdin:
        errors = Errors(stream=stream)
        root = library.config_ParseFile(path.rstrip("\n").encode(),
                                        ctypes.byref(errors))
        text = ctypes.string_at(library.err_type_str(ctypes.byref(errors)))
        tree = [_tree(child) for child in _children(root)] if root else []
        print(json.dumps({"errors": text.decode(), "tree": tree}), flush=True)
        if root:
            library.config_Free(root)


class Parser:
    """The oracle; use it with "with"."""

    def __enter__(self):
        self.process = subprocess.Popen(
            [sys.executable, __file__], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(10)

    def parse(self, path):
        """Return (errors, tree)."""
        self.process.stdin.write(f"{path}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, f"Ganesha's parser crashed on {path}"
        answer = json.loads(answer)
        return answer["errors"], answer["tree"]


if __name__ == "__main__":
    serve()
