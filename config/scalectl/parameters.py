# SPDX-License-Identifier: LGPL-3.0-or-later
"""The parameters scalectl knows, and the grammar of their values.

A kind of value (MinorVersions, Amount) knows three forms of it:
  canonical  as scalectl shows it: 0,1 or 256M
  rendered   as it is written to ganesha.conf: 0,1 or "256M"
  effective  what ganesha.nfsd makes of the statements that stand there
"""

import re
from dataclasses import dataclass

from scalectl.errors import UsageError


SUFFIXES = ("", "K", "M", "G")


@dataclass
class Effective:
    """What statements amount to. statement (the last that counts) and value
    are None where the default holds; problems are (statement, sentence)."""

    value: object
    statement: object
    problems: list


class MinorVersions:
    """The NFSv4 minor versions: a list of numbers."""

    ALL = {"0", "1", "2"}
    GRAMMAR = "0, 1 or 0,1"

    def canonical(self, name, text):
        """Check the administrator's text; UsageError says what is wrong."""
        items = [item.strip() for item in _unquote(text).split(",")]
        remedy = f"give {self.GRAMMAR}"
        if items == [""]:
            raise UsageError(f"{name} has no value", remedy)
        for item in items:
            if item == "2":
                raise UsageError(f"{name}: minor version 2 (NFSv4.2) is not "
                                 "among those SCALE serves", remedy)
            if item not in ("0", "1"):
                raise UsageError(f'{name}: "{item}" is not a minor version',
                                 remedy)
        if len(set(items)) != len(items):
            raise UsageError(f"{name} names a minor version twice", remedy)
        return ",".join(sorted(items))

    def render(self, value):
        return value

    def same(self, one, other):
        return one == other

    def effective(self, statements):
        """Ganesha adds the lists up, starting from all, which the first
        (or one that follows all) replaces; a list with an unknown item
        counts as empty."""
        versions, last, problems = set(self.ALL), None, []
        for statement in statements:
            if not statement.well_formed():
                problems.append((statement, "ganesha.nfsd ignores this value: "
                                 "its form is wrong"))
                continue
            if not statement.terms:
                continue
            last = statement
            if versions == self.ALL:
                versions = set()
            items = [term.value() for term in statement.terms]
            unknown = [item for item in items if item not in self.ALL]
            if unknown:
                problems.append((statement, "ganesha.nfsd does not know the "
                                 f"minor version ({unknown[0]}) and takes "
                                 "none from this line"))
            else:
                versions.update(items)
        value = ",".join(sorted(versions)) if last else None
        return Effective(value, last, problems)


class Amount:
    """A number from low to high, with a suffix K, M or G or without.

    kilo is what K stands for: 1000 in a count, 1024 in a number of bytes.
    """

    def __init__(self, low, high, kilo):
        self.low, self.high, self.kilo = low, high, kilo

    def number(self, word):
        """The number that word stands for, None if it is none."""
        found = re.fullmatch(r"([0-9]+)([KMG]?)", word, re.I | re.ASCII)
        if found is None:
            return None
        return int(found[1]) * self.kilo ** SUFFIXES.index(found[2].upper())

    def shown(self, number):
        """number with the largest suffix that leaves it whole."""
        for power in (3, 2, 1):
            if number and number % self.kilo ** power == 0:
                return f"{number // self.kilo ** power}{SUFFIXES[power]}"
        return str(number)

    def range(self):
        """The range in words; a limit that no machine reaches is left out."""
        if self.high >= 1 << 62:
            return f"of at least {self.shown(self.low)}"
        return f"from {self.shown(self.low)} to {self.shown(self.high)}"

    def canonical(self, name, text):
        """Check the administrator's text; UsageError says what is wrong."""
        word = _unquote(text)
        remedy = f"give a whole number {self.range()}, a K, M or G " \
                 "may follow it"
        if not word:
            raise UsageError(f"{name} has no value", remedy)
        number = self.number(word)
        if number is None:
            raise UsageError(f'{name}: "{word}" is not a number', remedy)
        if not self.low <= number <= self.high:
            raise UsageError(f"{name}: {word} is out of range", remedy)
        return (word.lstrip("0") or "0").upper()

    def render(self, value):
        """Ganesha's scanner would cut 256M into two words: quote it."""
        return value if value.isdigit() else f'"{value}"'

    def same(self, one, other):
        return self.number(one) == self.number(other)

    def effective(self, statements):
        """The last statement with a value counts."""
        value, last, problems = None, None, []
        for statement in statements:
            if not statement.well_formed():
                raw = statement.raw()
                problems.append((statement, "ganesha.nfsd ignores this value: "
                                 f'write it in quotes: "{raw}"'
                                 if self.number(raw) is not None else
                                 "ganesha.nfsd ignores this value: its form "
                                 "is wrong"))
                continue
            if not statement.terms:
                continue
            value, last = statement.terms[0].value(), statement
            number = self.number(value)
            if len(statement.terms) > 1 or number is None:
                problems.append((statement,
                                 f"{statement.raw()} is not a number"))
            elif not self.low <= number <= self.high:
                problems.append((statement, f"{value} is out of range: it "
                                 f"must be {self.range()}"))
        return Effective(value, last, problems)


def _unquote(text):
    """Take away white space and one pair of quotes around text."""
    word = text.strip()
    if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'":
        word = word[1:-1].strip()
    return word


@dataclass(frozen=True)
class Parameter:
    """One parameter: its names, where it stands and what it may be.

    default is what the server uses where the parameter is not set.
    first_block_counts says which of several blocks of the name is in force:
    ganesha.nfsd reads a block that is declared unique once and passes over
    others; any other block it resets to the defaults each time it meets one,
    so that the last alone counts.
    """

    name: str
    block: str
    key: str
    kind: object
    default: str
    aliases: tuple = ()
    first_block_counts: bool = False
    needs_restart: bool = True

    def block_in_force(self, config):
        """The block of config that counts, None if there is none."""
        blocks = config.blocks_named(self.block)
        if not blocks:
            return None
        return blocks[0 if self.first_block_counts else -1]


MAX_ENTRIES = 100_000_000


def _scale(name, kind, default):
    return Parameter(name, "SCALE", name, kind, default,
                     first_block_counts=True)


# The SCALE block's limits and defaults are those of the FSAL.
PARAMETERS = (
    Parameter("MINOR_VERSIONS", "NFSv4", "Minor_Versions", MinorVersions(),
              "0,1,2", aliases=("MINOR_VERSION",)),
    _scale("maxFilesToCache", Amount(1, MAX_ENTRIES, 1000), "100000"),
    _scale("maxStatCache", Amount(0, MAX_ENTRIES, 1000), "1000000"),
    _scale("pagepool", Amount(1 << 20, (1 << 63) - 1, 1024), "256M"),
)


def find(name):
    """Return the Parameter called name, whatever its case."""
    for parameter in PARAMETERS:
        names = (parameter.name,) + parameter.aliases
        if name.lower() in (n.lower() for n in names):
            return parameter
    known = ", ".join(parameter.name for parameter in PARAMETERS)
    raise UsageError(f"there is no parameter {name or '(empty)'}",
                     f"known are {known}")


def assignment(text):
    """Split NAME=VALUE; return the Parameter and its canonical value."""
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"{text} is not of the form NAME=VALUE",
                         "for example MINOR_VERSIONS=0,1")
    parameter = find(name.strip())
    return parameter, parameter.kind.canonical(parameter.name, value)
