# SPDX-License-Identifier: LGPL-3.0-or-later
"""Clients that ask all the time while things change, and their judge.

Nothing is judged before all has ended: then it is known what was true when.
"""

import random
import threading
import time
from typing import NamedTuple

from beside.looker import GONE
from beside.world import NAMES, RECORD
from harness.answers import NO_REPLY, NOENT, OK, Reply
from harness.rawnfs import NoReply

MOST_HANDLES = 40


class Answer(NamedTuple):
    """A request's Reply, and when it was asked and answered."""
    version: str
    request: str
    handle: bytes
    name: bytes | None
    asked: float
    answered: float
    reply: Reply


class Asker(threading.Thread):
    """Asks at random about what it has come to know, until `end` is set."""

    def __init__(self, client, root, end, seed):
        super().__init__(daemon=True)
        self._client, self._root, self._end = client, root, end
        # MDCACHE goes back to a chunk's begin when the place in it where it
        # would go on was removed.
        client.twice = True
        self._rng = random.Random(seed)
        # {handle: type}; the oldest are forgotten.
        self._known = {root: "directory"}
        self.answers, self.error = [], None

    def run(self):
        try:
            while not self._end.is_set():
                self._step()
        except Exception as error:
            self.error = error

    def _ask(self, request, handle, name=None):
        arguments = [handle] if name is None else [handle, name]
        more = {"plus": True} if request == "readdir" else {}
        asked = time.monotonic()
        try:
            reply = getattr(self._client, request)(*arguments, **more)
        except NoReply:
            self._client.reconnect()
            reply = Reply(NO_REPLY)
        self.answers.append(Answer(
            self._client.version, request, handle, name, asked,
            time.monotonic(), reply))
        return reply

    def _learn(self, handle, attributes):
        if handle is None or attributes is None or handle == self._root:
            return
        self._known.pop(handle, None)
        self._known[handle] = attributes.type
        if len(self._known) > MOST_HANDLES:
            self._known.pop(list(self._known)[1])

    def _step(self):
        rng = self._rng
        handles = list(self._known)
        # The last ones more often: they are what has just been made.
        handle = handles[-1 - int(len(handles) * rng.random() ** 1.5)]
        kind, dice = self._known[handle], rng.random()
        if kind != "directory":
            if dice < 0.6 or kind == "fifo":
                self._ask("getattr", handle)
            else:
                self._ask("readlink" if kind == "symlink" else "read", handle)
            handle = rng.choice([handle for handle, kind in
                                 self._known.items() if kind == "directory"])
        if dice < 0.15:
            names = self._ask("readdir", handle).names or {}
            for name, (_, attributes, found) in names.items():
                if name in NAMES and rng.random() < 0.3:
                    self._learn(found, attributes)
        elif dice < 0.25 and handle != self._root:
            self._ask("lookup_parent", handle)
        elif dice < 0.4:
            self._ask("getattr", handle)
        else:
            reply = self._ask("lookup", handle, rng.choice(NAMES))
            if reply.status == OK:
                self._learn(reply.handle, reply.attributes)


class Judge:
    """Says of each answer how long ago it was true."""

    def __init__(self, world):
        self._history, self._world = world.history, world
        self._keys = {}
        self.ages, self.wrong = [], []

    def judge(self, answer, within):
        """All that an answer says must have been so within that time."""
        for what, age in self._said(answer):
            if age is not None:
                self.ages.append(age)
            if age is None or age > within:
                self.wrong.append(
                    f"v{answer.version} {answer.request} "
                    f"{answer.name or b''!r} at {answer.asked:.4f}: {what}, "
                    + ("which never was so" if age is None
                       else f"which was so {age:.2f} s before"))

    def _key(self, handle):
        """The Key of the object with this handle."""
        if handle not in self._keys:
            self._keys[handle] = next(
                (key for key in self._world.kinds if key.handle in handle),
                None)
        return self._keys[handle]

    def _said(self, answer):
        """(what is said, how long ago it was so) of each part."""
        key, reply = self._key(answer.handle), answer.reply

        def age(fact, accepts, mixes=None):
            return self._history.age(fact, accepts, answer.asked,
                                     answer.answered, mixes)

        def attributes(key, found):
            if found is None:
                return
            yield found, age(
                ("attributes", key),
                lambda value: (value is None and found.nlink == 0) or (
                    value is not None and not found.differences(value)),
                lambda old, new: mixed(found, old, new))

        if reply.status in GONE and not (
                answer.request == "lookup" and reply.status == NOENT):
            yield f"status {reply.status}", self._gone(answer, key, age)
            return
        yield from attributes(key, reply.after)
        if answer.request == "lookup" and reply.status == NOENT:
            yield "no such name", age(("name", key, answer.name),
                                      lambda value: value is None)
            return
        if reply.status != OK:
            yield f"status {reply.status}", None
            return
        if answer.request in ("lookup", "lookup_parent"):
            found = self._key(reply.handle)
            fact = ("parent", key) if answer.name is None else \
                ("name", key, answer.name)
            yield found, age(fact, lambda value: value == found)
            yield from attributes(found, reply.attributes)
            return
        if answer.request == "readdir":
            yield from self._listed(key, reply, age, attributes)
            return
        yield from attributes(key, reply.attributes)
        if answer.request in ("read", "readlink"):
            yield reply.data[-RECORD:], age(
                ("data", key), lambda value: value == reply.data,
                lambda old, new: mixed_data(reply.data, old, new))

    def _gone(self, answer, key, age):
        """How long ago there was a reason to say STALE, or nothing at all.

        Ganesha also says it of a directory when what it lists goes just then.
        """
        ages = [age(("attributes", key), lambda value: value is None)]
        if answer.name is not None:
            ages.append(age(("name", key, answer.name),
                            lambda value: value is None))
        if answer.request == "readdir":
            ages += [self._history.went(("name", key, name), answer.asked,
                                        answer.answered) for name in NAMES]
        return min((one for one in ages if one is not None), default=None)

    def _listed(self, key, reply, age, attributes):
        for name in NAMES:
            if name not in reply.names:
                yield (name, "not listed"), age(
                    ("name", key, name), lambda value: value is None)
        for name, (_, found, handle) in reply.names.items():
            if name in (b".", b"..") or handle is None:
                continue
            child = self._key(handle)
            yield (name, child), age(
                ("name", key, name), lambda value: value == child)
            yield from attributes(child, found)


def mixed(found, old, new):
    """Is each of the attributes of the one or of the other?"""
    if old is None or new is None:
        return False
    return all(mine in (one, other)
               for mine, one, other in zip(found, old, new)
               if None not in (mine, one))


def mixed_data(found, old, new):
    """Is each byte of the one, of the other, or already cleared?"""
    if old is None or new is None:
        return False
    if not min(len(old), len(new)) <= len(found) <= max(len(old), len(new)):
        return False
    return all(byte in (0, *old[at:at + 1], *new[at:at + 1])
               for at, byte in enumerate(found))
