# SPDX-License-Identifier: LGPL-3.0-or-later
"""Carries out random steps and stops at the first wrong answer."""

import itertools
import json
import random
import re
from concurrent.futures import ThreadPoolExecutor

from coherence.generate import CHANGES, Generator
from coherence.model import ROOT, Model
from coherence.oracle import Judge, Wrong, everything
from coherence.together import batch, fileids_of, search
from harness.answers import DIRECTORY, LINK, OK, REGULAR

SHOWN = 25              # steps in a failure's report
AUDIT_EVERY = 300       # steps
MOST_GHOSTS = 12        # objects that are gone but still asked for


class Incoherent(AssertionError):
    """A wrong answer, with the way to it."""


def encode(step):
    """A step as JSON."""
    return json.dumps({key: {"bytes": value.hex()}
                       if isinstance(value, bytes) else value
                       for key, value in step.items()})


def decode(line):
    """The step of a line of JSON."""
    return {key: bytes.fromhex(value["bytes"])
            if isinstance(value, dict) and "bytes" in value else value
            for key, value in json.loads(line).items()}


def short(value):
    """repr() of a value, long runs of a letter left out."""
    return re.sub(r"(\w)\1{6,}", r"\1..", repr(value))


class Run:
    """Random steps of `clients`, judged by `oracle`.

    together: the share of steps that are made at once with others;
    injected: statuses that any request may get, done or not.
    """

    def __init__(self, clients, oracle, seed, together=0.15,
                 injected=frozenset(), most_changes=3, **generator):
        self.clients, self.oracle, self.seed = clients, oracle, seed
        self.judge = Judge(oracle)
        self.model = Model()
        self.generator = Generator(clients, **generator)
        self.together, self.injected = together, injected
        self.most_changes = most_changes
        self.steps = self.requests = 0
        self.failed = 0
        # What was done, as text, and its steps and then questions.
        self._trace = []
        self._pool = ThreadPoolExecutor(len(clients))

    def close(self):
        self._pool.shutdown()

    # What is called from outside.

    def steps_until(self, number, trace=None):
        """Go on until so many steps were made."""
        self._guard(self._until, number, trace=trace)

    def replay(self, trace, lines):
        """Make the steps of a trace that a failure left."""
        for line in lines:
            self._guard(self._replay_one, [
                decode(step) for step in json.loads(line)], trace=trace)

    def clear(self):
        """Remove everything and close what is open."""
        self._guard(self._clear, trace=None)

    def audit(self):
        """Ask for every object and compare everything."""
        self._guard(self._audit, random.Random(0), trace=None)

    def _guard(self, function, *arguments, trace=None):
        try:
            function(*arguments)
        except Exception as error:
            raise Incoherent(self._report(error, trace)) from error

    def _report(self, error, trace):
        lines = [f"{type(error).__name__}: {error}",
                 f"seed {self.seed}, step {self.steps}; the last steps:"]
        lines += [text for text, _ in self._trace[-SHOWN:]]
        if trace:
            trace.write_text("".join(
                json.dumps([encode(step) for step in steps]) + "\n"
                for _, steps in self._trace))
            lines.append(f"all steps are in {trace}")
        return "\n".join(lines)

    # How it goes on.

    def _until(self, number):
        while self.steps < number:
            rng = random.Random(f"{self.seed} {self.steps}")
            if rng.random() < self.together:
                steps, focus = batch(self.generator, self.model, rng,
                                     self.most_changes)
                self._at_once(steps)
                self._probe_focus(rng, focus)
            else:
                step = self.generator.step(self.model, rng)
                self._alone(step, rng)
            if self.steps // AUDIT_EVERY != self._audited:
                self._audit(rng)
            self._forget_ghosts()

    _audited = 0

    def _replay_one(self, steps):
        """An entry of the trace: what was done, and the questions then.

        Left out is what cannot be done, for steps that are made at once may
        have another outcome than they had.
        """
        done = [step for step in steps
                if not step.get("asked") and self._possible(step)]
        if len(done) > 1:
            self._at_once(done)
        else:
            self.steps += len(done)
            self._note([])
            for step in done:
                self._make(step, again=True)
        for step in steps:
            if step.get("asked") and self._possible(step):
                self._make(step)
        self._forget_ghosts()

    def _possible(self, step):
        """The client can name the step's objects."""
        client = self.clients[step["client"]]
        for key in ("node", "directory", "to_directory"):
            node = self.model.nodes.get(step.get(key, ROOT))
            if node is None or node.gone and not client.knows(node.number):
                return False
        return step["op"] not in ("close", "read_open", "write_open") \
            or step["node"] in client.opened

    def _note(self, steps):
        self._trace.append(["", steps])

    def _noted(self, text):
        self._trace[-1][0] += "" if text.startswith("->") else "\n   "
        self._trace[-1][0] += f" {text}"

    def _describe(self, step):
        """A step in words, before it is applied."""
        words = [f"{self.steps}: {self.clients[step['client']].name}:",
                 step["op"]]
        for key, value in step.items():
            if key in ("node", "directory", "to_directory"):
                node = self.model.nodes[value]
                where = b"gone" if node.gone else self.model.path(value)
                words.append(f"{key}={value}({short(where)})")
            elif key not in ("op", "client", "any", "verifier", "asked",
                             "new"):
                words.append(f"{key}={short(value)}")
        return " ".join(words)

    def _alone(self, step, rng):
        self.steps += 1
        self._note([step])
        over = self._target_of(step)
        self._make(step)
        if step["op"] in CHANGES:
            self._probe(step, over, rng)

    def _target_of(self, step):
        """The object that a rename replaces or a remove takes, or None."""
        for directory, name in (("to_directory", "to_name"),
                                ("directory", "name")):
            if directory in step and name in step:
                node = self.model.nodes[step[directory]]
                return (node.children or {}).get(step[name])
        return None

    def _make(self, step, again=False):
        """Make one step, with nothing at the same time, and judge it.

        `again` if it is one of a trace.
        """
        if step.get("asked") or again:
            self._trace[-1][1].append(step)
        client = self.clients[step["client"]]
        self.requests += 1
        self._noted(self._describe(step))
        before = self.judge.before(self.model, step)
        call = client.prepare(step, self.model)
        earlier = self.model.copy() if self.injected else None
        expected = self.model.apply(step)
        reply = call()
        self._noted(f"-> {reply.status}")
        if reply.status in self.injected \
                and reply.status not in expected.statuses:
            self._settle(step, earlier, expected)
            return
        self.judge.answer(step, reply, expected, self.model, before)
        self._learn(client, step, reply, expected)
        if step["op"] in CHANGES:
            self.oracle.check_model(self.model,
                                    self._touched(step, expected))

    @staticmethod
    def _touched(step, expected):
        numbers = {step.get(key) for key in
                   ("directory", "to_directory", "node")}
        return (numbers | {expected.node}) - {None}

    def _settle(self, step, earlier, expected):
        """A step failed by order: it was done, or it was not."""
        self.failed += 1
        touched = self._touched(step, expected)
        try:
            self.oracle.check_model(self.model, touched)
        except Wrong:
            self.model = earlier
            touched &= set(earlier.nodes)
            self.oracle.check_model(self.model, touched)

    def _learn(self, client, step, reply, expected):
        """Handles and open files that an answer brought."""
        if reply.status != OK or client.by_path:
            return
        if step["op"] == "open":
            client.keep_open(expected.node, reply.state)
        if reply.handle and expected.node is not None:
            client.handles.learn(expected.node, reply.handle)
        if expected.names:
            for name, number in expected.names.items():
                handle = reply.names.get(name, (None,) * 3)[2]
                if handle:
                    client.handles.learn(number, handle)

    # Questions that follow a change.

    def _probe(self, step, over, rng):
        """Ask others about what a step has changed."""
        questions = []
        for directory, name in (("directory", "name"),
                                ("to_directory", "to_name")):
            number = step.get(directory)
            if number is None or self.model.nodes[number].gone:
                continue
            questions += [{"op": "lookup", "directory": number,
                           "name": step[name]},
                          {"op": "readdir", "directory": number,
                           "plus": rng.random() < 0.7, "most": 8192},
                          {"op": "getattr", "node": number}]
            child = self.model.nodes[number].children.get(step[name])
            if child is not None:
                questions.append({"op": "getattr", "node": child})
                questions += self._content_of(child)
        number = step.get("node")
        if number is not None:
            questions.append({"op": "getattr", "node": number})
            questions += self._content_of(number)
        if over is not None:
            questions.append({"op": "getattr", "node": over})
        count = min(len(questions), 2 + (rng.random() < 0.3))
        for question in rng.sample(questions, count):
            self._ask(question, rng)

    def _content_of(self, number):
        node = self.model.nodes[number]
        if node.gone:
            return []
        if node.type == DIRECTORY:
            return [{"op": "lookup_parent", "directory": number}] \
                if number != ROOT \
                and "lookup_parent" in self.generator.reads else []
        op = {REGULAR: "read", LINK: "readlink"}.get(node.type)
        return [{"op": op, "node": number}] if op else []

    def _ask(self, question, rng):
        """Ask a client that can, not always the same."""
        node = question.get("node")
        gone = node is not None and self.model.nodes[node].gone
        able = [number for number, client in enumerate(self.clients)
                if question["op"] in client.able
                and (not gone or client.knows(node))]
        if able:
            share = [self.clients[number].share for number in able]
            self._make({**question, "asked": True,
                        "client": rng.choices(able, share)[0]})

    # Several at once.

    def _at_once(self, steps):
        self.steps += len(steps)
        self.requests += len(steps)
        self._note(list(steps))
        fileids = fileids_of(self.model, self.oracle)
        for step in steps:
            self._noted("together " + self._describe(step))
        calls = [self.clients[step["client"]].prepare(step, self.model)
                 for step in steps]
        replies = [future.result() for future in
                   [self._pool.submit(call) for call in calls]]
        self._noted(f"-> {[reply.status for reply in replies]}")
        # Handles are not learned here: the order may not be the only one.
        self.model = search(self.model, steps, replies, self.oracle, fileids,
                            self.injected)

    def _probe_focus(self, rng, focus):
        """Afterwards all is as the order left it, whoever is asked."""
        directories = [number for number in sorted(set(focus[0]))
                       if not self.model.nodes[number].gone]
        for number, name in itertools.product(directories, focus[1]):
            self._ask({"op": "lookup", "directory": number, "name": name},
                      rng)
            child = self.model.nodes[number].children.get(name)
            if child is not None:
                self._ask({"op": "getattr", "node": child}, rng)
        for number in directories:
            self._ask({"op": "getattr", "node": number}, rng)
            self._ask({"op": "readdir", "directory": number,
                       "plus": rng.random() < 0.5, "most": 8192}, rng)

    # Housekeeping.

    def _forget_ghosts(self):
        ghosts = [node for node in self.model.nodes.values()
                  if node.gone and not node.opens]
        for node in ghosts[:-MOST_GHOSTS or None]:
            self.model.forget(node.number)
            for client in self.clients:
                client.forget(node.number)

    def _audit(self, rng):
        """Every object by one client, and the backend's whole tree."""
        self._audited = self.steps // AUDIT_EVERY
        self._note([])
        self.oracle.check_model(self.model, everything(self.model))
        raw = [number for number, client in enumerate(self.clients)
               if not client.by_path]
        client = rng.choice(raw)
        for number in everything(self.model):
            node = self.model.nodes[number]
            questions = [{"op": "getattr", "node": number}]
            if node.type == DIRECTORY:
                questions.append({"op": "readdir", "directory": number,
                                  "plus": True, "most": 8192})
            questions += self._content_of(number)
            for question in questions:
                self._make({**question, "asked": True, "client": client})
            self._trace[-1][0] = f"audit by {self.clients[client].name}"

    def _clear(self):
        self._note([])
        for number, client in enumerate(self.clients):
            for node in list(client.opened):
                for _ in list(client.opened[node]):
                    self._make({"op": "close", "client": number,
                                "node": node})
        raw = next(number for number, client in enumerate(self.clients)
                   if not client.by_path)
        while self.model.nodes[ROOT].children:
            for node in self.model.live(DIRECTORY):
                for name, child in list(node.children.items()):
                    if not self.model.nodes[child].children:
                        self._make({
                            "op": "remove", "client": raw,
                            "directory": node.number, "name": name,
                            "is_directory":
                            self.model.nodes[child].type == DIRECTORY,
                            "any": self.clients[raw].any_remove})
            self._trace[-1][0] = "clearing"
