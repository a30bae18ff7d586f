# SPDX-License-Identifier: LGPL-3.0-or-later
"""Steps that several clients make at once, and an order that explains them.

Each answer must be right for some order of the steps, the same for all, and
the backend must then be as that order leaves it.
"""

import itertools

from coherence.generate import NAMES
from coherence.model import ROOT
from coherence.oracle import ModelOracle, Wrong
from harness.answers import (NO_REPLY, NOENT, OK, REGULAR, SERVERFAULT,
                             STALE)

# What clients do together.  The steps of one that goes by paths must not
# depend on more than one look at the name.
READS = {"getattr": 5, "lookup": 8, "readdir": 5, "readlink": 1, "read": 1,
         "access": 1}
CHANGES = {"create": 6, "mkdir": 3, "symlink": 2, "remove": 8, "rename": 6,
           "link": 3, "write": 2, "truncate": 2, "setattr": 2}
BY_PATH = {"lookup": 4, "readdir": 3, "mkdir": 2, "remove": 2}

# What may be answered, the step done or not, when its object was found by a
# name and removed before all was done.
OVERTAKEN = {"readdir": (NOENT, STALE, SERVERFAULT, NO_REPLY),
             "lookup": (STALE, SERVERFAULT, NO_REPLY)}
OVERTAKEN.update(dict.fromkeys(
    ("create", "mkdir", "symlink", "mkfifo", "link"), (NOENT, STALE)))
OVERTAKEN.update(dict.fromkeys(("remove", "rename"), (STALE,)))


def batch(generator, model, rng, most_changes):
    """Steps of different clients on few names: ([steps], focus)."""
    directories = [node.number for node in model.live("directory")]
    focus = ([rng.choice(directories) for _ in range(rng.choice((1, 1, 2)))],
             focus_names(model, rng))
    size = rng.choice((2, 3, 3, 4))
    free = set(range(len(generator.clients)))
    steps = []
    for position in range(size):
        changes = position == 0 or \
            (position < most_changes and rng.random() < 0.5)
        step = None
        for _ in range(20):
            step = generator.step(model, rng, CHANGES if changes else READS,
                                  focus, free)
            client = generator.clients[step["client"]]
            if not client.by_path or suits_path(step, focus):
                break
        else:
            continue
        free.discard(step["client"])
        steps.append(step)
    return steps, focus


def suits_path(step, focus):
    """A client that goes by paths can make this step among others."""
    return (step["op"] in BY_PATH and len(set(focus[0])) == 1
            or step["op"] == "create" and step["how"] != "unchecked")


def focus_names(model, rng):
    """Three names, some that are anywhere and some that may not be."""
    names = {name for node in model.live("directory")
             for name in node.children}
    some = rng.sample(sorted(names), min(2, len(names)))
    return some + [rng.choice(NAMES)]


def fileids_of(model, oracle):
    """{number: fileid} of what has a name, before the steps."""
    return {node.number: oracle.of(model, node.number).fileid
            for node in model.live()}


def search(model, steps, replies, oracle, fileids, injected=frozenset()):
    """The Model after an order that explains all; Wrong if none does."""
    reasons = []
    for order in itertools.permutations(range(len(steps))):
        for failed in unknown(steps, replies, injected):
            try:
                return attempt(model, steps, replies, oracle, fileids,
                               order, failed)
            except Wrong as error:
                reasons.append(f"{order}: {error}")
    raise Wrong("no order explains the answers:\n  " + "\n  ".join(reasons))


def uncertain(step, reply, injected):
    """The answer does not tell whether the step was done."""
    return reply.status in injected or \
        reply.status in OVERTAKEN.get(step["op"], ())


def unknown(steps, replies, injected):
    """{number: whether it was done} of the steps that do not tell."""
    failed = [number for number, (step, reply)
              in enumerate(zip(steps, replies))
              if uncertain(step, reply, injected)]
    for done in itertools.product((False, True), repeat=len(failed)):
        yield dict(zip(failed, done))


def attempt(model, steps, replies, oracle, fileids, order, failed):
    """The Model after that order if it explains the replies, else Wrong."""
    model = model.copy()
    touched = {ROOT}
    for number in order:
        step, reply = steps[number], replies[number]
        touched |= {step.get(key) for key in
                    ("directory", "to_directory", "node")}
        if not failed.get(number, True):
            continue
        if step["op"] == "remove" and reply.status == OK:
            # Version 3 looks what it is before it takes it away.
            step = {**step, "any": True}
        wanted = model.apply(step)
        if reply.status not in wanted.statuses and number not in failed:
            raise Wrong(f"step {number} was answered {reply.status}")
        touched.add(wanted.node)
        if reply.status != OK or reply.attributes is None:
            continue
        known = fileids.get(wanted.node)
        if known not in (None, reply.attributes.fileid):
            raise Wrong(f"step {number} told of another object")
    touched.discard(None)
    oracle.check_model(model, touched)
    for number in touched:
        # The backend does not tell which order its content is of.
        if model.nodes[number].gone and model.nodes[number].type == REGULAR:
            model.nodes[number].data = None
    if not isinstance(oracle, ModelOracle):
        same_objects(model, oracle, fileids, touched)
    return model


def same_objects(model, oracle, fileids, touched):
    """What was there before is where the model has it."""
    near = set(touched)
    for number in touched:
        near.update((model.nodes[number].children or {}).values())
    for number in near:
        if number in fileids and not model.nodes[number].gone:
            found = oracle.of(model, number)
            if found is None or found.fileid != fileids[number]:
                raise Wrong(f"{model.path(number)!r} is another object")
