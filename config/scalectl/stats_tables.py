# SPDX-License-Identifier: LGPL-3.0-or-later
"""The tables of scalectl stats.

With "seconds" in it, what is shown is the difference of two looks, and its
counts are given by the second.
"""

import datetime

from scalectl import stats_command

# Of the cache's counters, those that tell how it lives.
EVENTS = (("promotions", ("promote",)), ("demotions", ("demote",)),
          ("evictions, file tier", ("evict_file",)),
          ("evictions, stat tier", ("evict",)),
          ("evictions of names", ("evict_leaf",)),
          ("forgotten", ("forget",)),
          ("not stored, no room", ("put_nospace", "name_nospace")),
          ("not stored, overtaken", ("put_void", "name_void")))
OUTCOMES = ("hit", "negative", "miss", "expired", "invalid", "shared",
            "uncached")

# Of the watcher's counters, how they read.
WATCHER = {"own": "of this server's own changes",
           "unreadable": "not readable",
           "told": "told to MDCACHE", "repeated": "told again",
           "not_repeated": "not told again",
           "overflows": "overflows", "flushes": "all forgotten"}


def render(answer, only_export=False):
    """All tables as one text."""
    parts = [_heading(answer)]
    if answer["cache"]:
        parts.append(_cache(answer["cache"]))
        parts.append(_events(answer))
    watcher = answer.get("watcher", {})
    if watcher.get("file_systems"):
        parts.append(_watcher(watcher, answer.get("seconds")))
    seconds = answer.get("seconds")
    if not only_export:
        parts += _group("all exports", answer["total"], seconds)
    if only_export or len(answer["exports"]) > 1:
        for one in answer["exports"]:
            title = f"export {one['id']}, {one['path']} ({one['backend']})"
            parts += _group(title, one, seconds)
    return "\n\n".join(parts) + "\n"


def _heading(answer):
    server = answer["server"]
    started = datetime.datetime.fromtimestamp(server["started"])
    exports = len(answer["exports"])
    text = f"SCALE {server['version']}, process {server['pid']}, since " \
           f"{started:%Y-%m-%d %H:%M:%S}, {exports} " \
           f"export{'' if exports == 1 else 's'}"
    if "seconds" in answer:
        text += f"; by the second, of the last {answer['seconds']:.1f} s"
    return text


def _cache(cache):
    limits, usage = cache["limits"], cache["usage"]
    rows = [["cache", "now", "limit", "full"]]
    for name, key, limit in (("files", "files", "maxFilesToCache"),
                             ("stats", "stats", "maxStatCache")):
        rows.append([name, _count(usage[key]), _count(limits[limit]),
                     _percent(usage[key], limits[limit])])
    rows.append(["bytes", _bytes(usage["bytes"]), _bytes(limits["bytes"]),
                 _percent(usage["bytes"], limits["bytes"])])
    rows.append(["  in use", _bytes(usage["used"]), "",
                 _percent(usage["used"], limits["bytes"])])
    rows += [[name, _count(usage[key]), "", ""]
             for name, key in (("pinned", "pinned"), ("names", "names"),
                               ("handles", "handles"), ("open files", "fds"))]
    return _table(rows)


def _events(answer):
    counters = answer["cache"]["counters"]
    seconds = answer.get("seconds")
    rows = [["in the cache", _unit("events", seconds)]]
    for name, keys in EVENTS:
        rows.append([name, _amount(sum(counters.get(key, 0) for key in keys),
                                   seconds)])
    return _table(rows)


def _watcher(watcher, seconds):
    """What the kernel tells of, and what it has told."""
    lines = [f"watched for changes beside the server: {one['path']}"
             if one["watched"] else
             f"NOT watched: {one['path']}: {one['why_not']}"
             for one in watcher["file_systems"]]
    rows = [["the watcher", _unit("events", seconds)]]
    rows += [[WATCHER.get(name, name), _amount(count, seconds)]
             for name, count in watcher["counters"].items()]
    return "\n".join([*lines, _table(rows)])


def _group(title, group, seconds):
    """The tables of one export or of all."""
    return [title + "\n" + _requests(group["requests"], seconds),
            _calls(group["calls"], seconds),
            _invalidations(group["invalidations"], seconds)]


def _requests(requests, seconds):
    rows = [["requests", _unit("all", seconds), "from memory", *OUTCOMES]]
    for name, counts in [*requests.items(),
                         ("all", stats_command.sums(requests))]:
        ratio = stats_command.hit_ratio(counts)
        rows.append([name, _amount(sum(counts.values()), seconds),
                     "-" if ratio is None else f"{ratio:.1%}",
                     *(_amount(counts.get(outcome, 0), seconds)
                       for outcome in OUTCOMES)])
    return _table(rows)


def _calls(calls, seconds):
    times = ("mean",) if seconds else ("mean", "p50", "p99", "max")
    rows = [["calls to the backend", _unit("all", seconds), "failed",
             *(f"{time} us" for time in times)]]
    for name, call in calls.items():
        rows.append([name, _amount(call["count"], seconds),
                     _amount(call["errors"], seconds),
                     *(_time(call[f"{time}_us"]) for time in times)])
    rows.append(["all", *(_amount(sum(call[key] for call in calls.values()),
                                  seconds) for key in ("count", "errors")),
                 _mean(calls), *("" for _ in times[1:])])
    return _table(rows)


def _mean(calls):
    count = sum(call["count"] for call in calls.values())
    total = sum(call["sum_us"] for call in calls.values())
    return _time(total / count) if count else "-"


def _invalidations(counts, seconds):
    rows = [["invalidations by", _unit("events", seconds)]]
    rows += [[name, _amount(count, seconds)]
             for name, count in counts.items()]
    return _table(rows)


def _table(rows):
    """Columns aligned: the first to the left, the others to the right."""
    widths = [max(len(row[number]) for row in rows)
              for number in range(len(rows[0]))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]),
                   *(cell.rjust(width) for cell, width
                     in zip(row[1:], widths[1:]))]).rstrip()
        for row in rows)


def _unit(name, seconds):
    return f"{name}/s" if seconds else name


def _amount(count, seconds):
    if not seconds:
        return _count(count)
    rate = count / seconds
    return f"{rate:,.0f}" if rate >= 10 or not rate else f"{rate:.1f}"


def _count(number):
    return f"{number:,}"


def _bytes(number):
    for unit in ("", "K", "M", "G"):
        if number < 1024 or unit == "G":
            break
        number /= 1024
    return f"{number:.1f}{unit}" if unit else str(number)


def _percent(part, whole):
    return f"{part / whole:.1%}" if whole else "-"


def _time(microseconds):
    return f"{microseconds:,.1f}" if microseconds < 100 \
        else f"{microseconds:,.0f}"
