# SPDX-License-Identifier: LGPL-3.0-or-later
"""Read ganesha.conf as ganesha.nfsd does, and remember where everything is.

The grammar (Ganesha 4.3): a file is a sequence of

    NAME = term, term ... ;      a statement
    NAME { ... }                 a block of statements and blocks
    %include PATH                the file, in this place
    %dir PATH[/PATTERN]          the files of a folder, in this place
    %url rados://...             an object in RADOS, in this place

The three directives stand between top-level blocks only. Names are
case-insensitive, directives are not. A comment runs from # to the end of the
line, wherever it begins except in a quoted string, and needs a newline.

Files are kept as bytes, decoded as Latin-1 so that every offset is a byte
offset and every byte survives. What this module does not need to understand
(the inside of terms) is only delimited.
"""

import bisect
import errno
import fnmatch
import os
import re
import stat
from dataclasses import dataclass, field

from scalectl.errors import ConfigError

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_\-]*")
GAP = re.compile(r"(?:[ \t\r\f\n]|#[^\n]*\n)*")
# A quote after a backslash may end the string, but only if no other does:
# the scanner takes the longest match, and so does this expression.
DOUBLE_QUOTED = re.compile(r'"(?:[^"]|(?<=\\)")*"')
SINGLE_QUOTED = re.compile(r"'[^']*'")
BARE_TERM = re.compile(r"[^ \t\r\f\n#\"',;={}]+")
_PATH_CHARS = r"[A-Za-z0-9\-._]"
INCLUDE_PATH = re.compile(rf"/?{_PATH_CHARS}+(?:/{_PATH_CHARS}+)*")
DIR_PATH = re.compile(rf"/?{_PATH_CHARS}+(?:/[A-Za-z0-9\-._*]+)*/?")
URL = re.compile(r"rados://[A-Za-z0-9\-._&=/]+")
DIRECTIVES = {"%include": INCLUDE_PATH, "%dir": DIR_PATH, "%url": URL}

MAX_FILES = 1000


@dataclass
class Term:
    """One term of a value: text as it stands, at [start, end)."""

    text: str
    start: int
    end: int

    def value(self):
        """The term as Ganesha sees it, without quotes and escapes."""
        if self.text[0] == '"':
            escapes = {"n": "\n", "t": "\t", "r": "\r"}
            return re.sub(r"\\(.)", lambda m: escapes.get(m[1], m[1]),
                          self.text[1:-1], flags=re.DOTALL)
        if self.text[0] == "'":
            return self.text[1:-1]
        return self.text


@dataclass
class Statement:
    """NAME = terms; at [start, end) of its file, the semicolon included.

    separators holds the offsets of the commas between the terms.
    """

    file: "SourceFile"
    name: str
    start: int
    end: int
    equals: int
    line: int
    terms: list
    separators: list

    def raw(self):
        """The value as it stands in the file, comments left out."""
        pieces = [(t.start, t.text) for t in self.terms]
        pieces += [(offset, ",") for offset in self.separators]
        return " ".join(text for _, text in sorted(pieces)).replace(" ,", ",")

    def well_formed(self):
        """Whether Ganesha accepts the value's form: term, term ..."""
        commas = sorted(self.separators)
        if not self.terms:
            return not commas
        if len(commas) != len(self.terms) - 1:
            return False
        pairs = zip(self.terms, commas, self.terms[1:])
        return (all(a.end <= c <= b.start for a, c, b in pairs)
                and not any(split_by_scanner(t.text) for t in self.terms))


@dataclass
class Block:
    """NAME { items } at [start, end) of its file; open is after the {."""

    file: "SourceFile"
    name: str
    start: int
    open: int
    line: int
    items: list = field(default_factory=list)
    close: int = -1
    end: int = -1

    def statements(self, name):
        """The block's own statements called name, in order."""
        return [item for item in self.items if isinstance(item, Statement)
                and item.name.lower() == name.lower()]


class SourceFile:
    """One file of the configuration, unchanged, with its lines numbered.

    planned maps real paths to contents that are to replace the file's.
    """

    def __init__(self, path, planned):
        self.path = path
        # O_NONBLOCK: opening a pipe must not wait for its writer.
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with open(fd, "rb") as file:
            self.stat = os.fstat(fd)
            if stat.S_ISDIR(self.stat.st_mode):
                raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
            if not stat.S_ISREG(self.stat.st_mode):
                raise OSError(errno.EINVAL, "it is not a regular file")
            self.data = file.read()
        self.real = os.path.realpath(path)
        self.data = planned.get(self.real, self.data)
        self.text = self.data.decode("latin-1")
        self.newlines = [m.start() for m in re.finditer("\n", self.text)]

    def line(self, offset):
        """The line number of a byte offset, from 1."""
        return bisect.bisect_left(self.newlines, offset) + 1

    def newline(self):
        """The file's line ending: that of its first line."""
        first = self.text.find("\n")
        return "\r\n" if first > 0 and self.text[first - 1] == "\r" else "\n"


class Config:
    """A whole configuration: the main file and all that it includes.

    files and blocks (top-level ones) are in the order Ganesha reads them.
    urls are the (file, line, url) that Ganesha fetches and scalectl cannot.
    planned (real path to bytes) shows the files as a change would leave them.
    """

    def __init__(self, path, planned=None):
        folder, name = os.path.split(path)
        self.main = os.path.join(os.path.realpath(folder), name)
        self.planned = planned or {}
        self.files = []
        self.blocks = []
        self.urls = []
        _Reader(self).read()

    def blocks_named(self, name):
        """The top-level blocks called name, in the order they are read."""
        return [b for b in self.blocks if b.name.lower() == name.lower()]


def split_by_scanner(text):
    """Whether Ganesha's scanner cuts an unquoted word into several terms.

    Then the statement is a syntax error. What matters here is a number with
    a suffix: 256M is cut into 256 and M.
    """
    return re.fullmatch(r"[0-9][0-9.]*[A-Za-z_][\w.\-]*", text) is not None \
        and re.fullmatch(r"9[pP]|0[xX][0-9A-Fa-f]+", text) is None


class _Reader:
    """Fills a Config; the recursion follows the directives."""

    def __init__(self, config):
        self.config = config
        self.seen = set()
        # After a top-level statement the scanner no longer knows directives,
        # until the next block has ended; this carries on across files.
        self.directives_allowed = True

    def read(self):
        path = self.config.main
        try:
            self.file(SourceFile(path, self.config.planned))
        except OSError as error:
            raise self._cannot_read(path, error) from error

    @staticmethod
    def _cannot_read(path, error, file=None, line=None):
        remedies = {
            errno.ENOENT: "name the server's configuration with --file",
            errno.EISDIR: "name the file, not its folder",
            errno.EACCES: "run scalectl as root",
            errno.ELOOP: "its symbolic links lead in a circle: correct them",
        }
        remedy = remedies.get(error.errno, "see that the file can be read")
        if file is not None and error.errno == errno.ENOENT:
            remedy = "create the file or remove the directive: " \
                     "ganesha.nfsd does not start without it"
        return ConfigError(f"cannot read {path}: {error.strerror}", remedy,
                           file, line)

    def file(self, source):
        """Read one file to its end, into self.config."""
        if len(self.config.files) >= MAX_FILES:
            raise ConfigError(f"more than {MAX_FILES} files are included",
                              "look for files that include each other",
                              source.path)
        self.seen.add(source.path)
        self.seen.add(source.real)
        self.config.files.append(source)
        scan = _Scanner(source)
        while True:
            scan.gap()
            if scan.at_end():
                return
            if scan.peek() == "%":
                self.directive(scan)
                continue
            item = scan.definition()
            if isinstance(item, Block):
                self.config.blocks.append(item)
            self.directives_allowed = isinstance(item, Block)

    def directive(self, scan):
        start = scan.offset
        word, argument = scan.directive()
        line = scan.source.line(start)
        if not self.directives_allowed:
            raise ConfigError(f"ganesha.nfsd knows no {word} after a "
                              "statement outside a block",
                              "put the directive first, or the statement "
                              "into its block", scan.source.path, line)
        if word == "%url":
            self.config.urls.append((scan.source, line, argument))
        elif word == "%include":
            self.include(self.absolute(argument), scan.source, line)
        else:
            self.directory(argument, scan.source, line)

    def absolute(self, path):
        """A relative path counts from the main file's folder, always."""
        return os.path.join(os.path.dirname(self.config.main), path)

    def include(self, path, source, line):
        try:
            included = SourceFile(path, self.config.planned)
        except OSError as error:
            raise self._cannot_read(path, error, source.path, line) from error
        if path in self.seen or included.real in self.seen:
            raise ConfigError(f"{path} is included a second time",
                              "remove one of the two directives",
                              source.path, line)
        self.file(included)

    def directory(self, argument, source, line):
        """Read a folder's files, in the order Ganesha reads them."""
        if not argument.startswith("/"):
            raise ConfigError(f"%dir {argument} is relative to wherever "
                              "ganesha.nfsd is started",
                              "write the folder's absolute path",
                              source.path, line)
        folder, pattern = argument, None
        if "*" in os.path.basename(argument):
            folder, pattern = os.path.split(argument)
        try:
            with os.scandir(folder) as entries:
                names = [e.name for e in entries
                         if e.is_file(follow_symlinks=False)]
        except OSError as error:
            raise ConfigError(f"cannot read the folder {folder}: "
                              f"{error.strerror}",
                              "create it or remove the directive: "
                              "ganesha.nfsd ignores all that follows",
                              source.path, line) from error
        # Ganesha stacks the files as it finds them: the last is read first.
        for name in reversed(names):
            if pattern is None or fnmatch.fnmatchcase(name, pattern):
                self.include(f"{folder}/{name}", source, line)


class _Scanner:
    """Takes one file apart; offset is the next byte to look at."""

    def __init__(self, source):
        self.source = source
        self.text = source.text
        self.offset = 0

    def error(self, message, remedy, offset=None):
        """A ConfigError for the line of offset (default: where we are)."""
        where = self.offset if offset is None else offset
        return ConfigError(message, remedy, self.source.path,
                           self.source.line(where))

    def at_end(self):
        return self.offset >= len(self.text)

    def peek(self):
        return self.text[self.offset:self.offset + 1]

    def gap(self):
        """Skip white space and comments."""
        self.offset = GAP.match(self.text, self.offset).end()
        if self.peek() == "#":
            raise self.error("the last line is a comment without a newline, "
                             "which ganesha.nfsd does not accept",
                             "end the line")

    def unexpected(self):
        char = self.peek()
        if self.at_end():
            return self.error("the file ends too early",
                              "complete the last definition")
        if self.offset == 0 and self.text.startswith("\xef\xbb\xbf"):
            return self.error("the file begins with a byte order mark",
                              "save it as UTF-8 without one")
        shown = char if char.isprintable() and char.isascii() \
            else f"byte 0x{ord(char):02x}"
        remedies = {
            "}": "remove it, or find the { that is missing before it",
            ";": "remove it: only a statement ends with ;",
            "%": "%include, %dir and %url stand between blocks only",
        }
        return self.error(f"unexpected {shown}",
                          remedies.get(char, "correct the line"))

    def directive(self):
        """Return the directive's word and its argument, unquoted."""
        for word, pattern in DIRECTIVES.items():
            if self.text.startswith(word, self.offset):
                break
        else:
            raise self.unexpected()
        start = self.offset
        self.offset += len(word)
        self.gap()
        quote = self.peek() == '"'
        found = pattern.match(self.text, self.offset + quote)
        if found is None or (quote and self.text[found.end():][:1] != '"'):
            raise self.error(f"{word} is not followed by a path that "
                             "ganesha.nfsd accepts",
                             "use letters, digits and -._/ only", start)
        self.offset = found.end() + quote
        return word, found.group()

    def header(self):
        """Take a definition's name; return (start, name, "=" or "{")."""
        found = NAME.match(self.text, self.offset)
        if found is None:
            raise self.unexpected()
        start, self.offset = self.offset, found.end()
        self.gap()
        sign = self.peek()
        if not sign or sign not in "={":
            raise self.error(f"{found.group()} is followed neither by = nor "
                             "by {", "complete the line", start)
        return start, found.group(), sign

    def definition(self):
        """Return the Statement or Block that begins here."""
        start, name, sign = self.header()
        if sign == "=":
            return self.statement(start, name)
        return self.block(self.open_block(start, name))

    def open_block(self, start, name):
        self.offset += 1
        return Block(self.source, name, start, self.offset,
                     self.source.line(start))

    def statement(self, start, name):
        equals = self.offset
        terms, separators = [], []
        self.offset += 1
        while True:
            self.gap()
            char = self.peek()
            if char == ";":
                self.offset += 1
                return Statement(self.source, name, start, self.offset,
                                 equals, self.source.line(start), terms,
                                 separators)
            if char == ",":
                separators.append(self.offset)
                self.offset += 1
            elif char and char in "\"'":
                terms.append(self.quoted(char))
            elif not char or char in "={}":
                raise self.error(f"{name} has no ; at its end",
                                 "add the ;", start)
            else:
                found = BARE_TERM.match(self.text, self.offset)
                terms.append(Term(found.group(), found.start(), found.end()))
                self.offset = found.end()

    def quoted(self, char):
        pattern = DOUBLE_QUOTED if char == '"' else SINGLE_QUOTED
        found = pattern.match(self.text, self.offset)
        if found is None:
            raise self.error(f"the quote {char} is never closed",
                             f"add the closing {char}")
        self.offset = found.end()
        return Term(found.group(), found.start(), found.end())

    def block(self, outer):
        """Read to outer's end; its inner blocks wait on a stack."""
        stack = [outer]
        while stack:
            self.gap()
            top = stack[-1]
            if self.at_end():
                raise self.error(f"the block {top.name} is never closed",
                                 "add the closing }", top.start)
            if self.peek() == "}":
                top.close = self.offset
                self.offset += 1
                top.end = self.offset
                stack.pop()
                continue
            start, name, sign = self.header()
            if sign == "=":
                top.items.append(self.statement(start, name))
            else:
                inner = self.open_block(start, name)
                top.items.append(inner)
                stack.append(inner)
        return outer
