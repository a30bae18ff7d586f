# SPDX-License-Identifier: LGPL-3.0-or-later
"""The lines that strace writes, and the arguments in them."""
import re

FORKS = ('clone', 'clone3', 'fork', 'vfork')
PREFIX = (r'^ *(?:\[pid +(?P<p>\d+)\] |(?P<pid>\d+) +)?'
          r'(?:(?:\d+:\d\d:\d\d(?:\.\d+)?|\d+\.\d+) +)?')
WHOLE = re.compile(
    PREFIX + r'(?P<call>\w+)\((?P<arguments>.*)\) += '
    r'(?P<result>-?\w+|\?)(?:<(?:[^>\\]|\\.)*>)?(?: (?P<error>E\w+))?')
UNFINISHED = re.compile(
    PREFIX + r'(?P<call>\w+)\((?P<arguments>.*?) *<unfinished \.\.\.>$')
RESUMED = re.compile(PREFIX + r'<\.\.\. (?P<call>\w+) resumed>(?P<rest>.*)$')
ENDED = re.compile(PREFIX + r'(?:\+\+\+|---) (?P<what>\w+)')
FORKED = re.compile(
    PREFIX + r'(?:<\.\.\. )?(?:v?fork|clone3?)\b.* = (?P<child>\d+)'
    r'(?: <[\d.]+>)?$')
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"(?:\.\.\.)?|/\*.*?\*/'
                   r'|<(?:[^<>\\]|\\.)*>|[][(){},]|[^]["/<(){},]+|.')
DESCRIPTOR = re.compile(
    r'^(AT_FDCWD|-?\d+)(?:<((?:[^<>\\]|\\.)*)>)?(?:\(deleted\))?$')
ESCAPE = re.compile(r'\\([0-7]{1,3}|x[0-9a-f]{2}|.)')
PLAIN = {'n': '\n', 't': '\t', 'r': '\r', 'v': '\v', 'f': '\f'}
SIZE = re.compile(r'\bst(?:x)?_size=(\d+)')
ENTRIES = re.compile(r'/\* (\d+) entries')


def text_of(escaped):
    """A string as it was, without the escapes of strace."""
    if '\\' not in escaped:
        return escaped

    def one(match):
        code = match[1]
        if code[0] == 'x':
            return chr(int(code[1:], 16))
        if code[0] in '01234567':
            return chr(int(code, 8))
        return PLAIN.get(code, code)
    # Bytes come one by one; together they are UTF-8.
    return ESCAPE.sub(one, escaped).encode('latin-1', 'replace') \
        .decode('utf-8', 'surrogateescape')


def split(text):
    """The arguments of a call."""
    arguments, depth, one = [], 0, []
    for token in TOKEN.findall(text):
        if token in '([{':
            depth += 1
        elif token in ')]}':
            depth -= 1
        elif token == ',' and depth == 0:
            arguments.append(''.join(one).strip())
            one = []
            continue
        one.append(token)
    return arguments + [''.join(one).strip()]


def string(argument):
    """The text of a string argument, or None: it is none."""
    if not argument.startswith('"'):
        return None
    return text_of(argument[1:argument.rindex('"')])
