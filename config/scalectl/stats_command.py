# SPDX-License-Identifier: LGPL-3.0-or-later
"""scalectl stats, without the output.

A look is the server's answer: see scalectl.8. What --watch shows of two of
them is their difference, in the same form.
"""

import time

from scalectl import control_client
from scalectl.errors import UsageError
from scalectl.version import version

# Of a request's outcomes: what did not ask the backend, and what could not
# have been answered without it.
ANSWERED = ("hit", "negative")
BY_NATURE = ("uncached",)


def look(path, export=None):
    """Ask the server once; export leaves one export of all."""
    answer = control_client.ask(path, "stats")
    answer["time"] = time.monotonic()
    if export is not None:
        found = [one for one in answer["exports"] if one["id"] == export]
        if not found:
            ids = ", ".join(str(one["id"]) for one in answer["exports"])
            raise UsageError(f"the server has no export {export}",
                             f"it has {ids}" if ids else "it has none")
        answer["exports"] = found
    return answer


def warnings(answer):
    """What is wrong with the answer as such."""
    theirs = answer["server"]["version"]
    ours = version().removesuffix("-source")
    if theirs == ours:
        return []
    return [f"the server runs SCALE {theirs}, scalectl is of {ours}; restart "
            "the server after an update"]


def public(answer):
    """The answer for --json."""
    return {key: value for key, value in answer.items()
            if key not in ("time", "ok")}


def same_server(old, new):
    """Whether counters of two looks may be compared."""
    return all(old["server"][key] == new["server"][key]
               for key in ("pid", "started"))


def difference(old, new):
    """What happened between two looks, and in how many seconds."""
    change = dict(new, seconds=max(new["time"] - old["time"], 0.001))
    change["total"] = _subtract_group(old["total"], new["total"])
    known = {one["id"]: one for one in old["exports"]}
    change["exports"] = [
        {**one, **_subtract_group(known.get(one["id"], {}), one)}
        for one in new["exports"]]
    if new["cache"]:
        before = (old["cache"] or {}).get("counters", {})
        change["cache"] = dict(new["cache"], counters=_subtract(
            before, new["cache"]["counters"]))
    if "watcher" in new:
        before = old.get("watcher", {}).get("counters", {})
        change["watcher"] = dict(new["watcher"], counters=_subtract(
            before, new["watcher"]["counters"]))
    return change


def _subtract_group(old, new):
    requests = {op: _subtract(old.get("requests", {}).get(op, {}), counts)
                for op, counts in new["requests"].items()}
    calls = {}
    for op, now in new["calls"].items():
        before = old.get("calls", {}).get(op, {})
        change = _subtract(before, {key: now[key] for key in
                                    ("count", "errors", "sum_us")})
        # Of the times between only the mean is known.
        change["mean_us"] = change["sum_us"] / change["count"] \
            if change["count"] else 0.0
        calls[op] = change
    return {"requests": requests, "calls": calls,
            "invalidations": _subtract(old.get("invalidations", {}),
                                       new["invalidations"])}


def _subtract(old, new):
    # An export that was taken away and added again starts from 0.
    return {name: max(value - old.get(name, 0), 0)
            for name, value in new.items()}


def sums(requests):
    """The outcomes of all operations, added up."""
    total = {}
    for counts in requests.values():
        for name, count in counts.items():
            total[name] = total.get(name, 0) + count
    return total


def hit_ratio(counts):
    """The share of requests answered from memory of those that could have
    been; None where there were none."""
    possible = sum(counts.values()) - sum(counts.get(name, 0)
                                          for name in BY_NATURE)
    if possible <= 0:
        return None
    return sum(counts.get(name, 0) for name in ANSWERED) / possible
