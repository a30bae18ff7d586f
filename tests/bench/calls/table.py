# SPDX-License-Identifier: LGPL-3.0-or-later
"""The results of the counting: a line for each row, and all in the report."""

# The share of requests that must have passed MDCACHE: of some objects it has
# the last one still.
ARRIVED = 0.95


def tell(report, theirs, control, ours, hot):
    """Add and print the results of stock, the control and SCALE.

    hot: requests arrived at SCALE per GETATTR when MDCACHE is large.
    """
    print(f"{'calls per request or whole directory':38} {'stock':>8} "
          f"{'control':>8} {'SCALE':>8} {'arrived':>8} {'syscalls':>8}")
    for title in ours.calls:
        line(report, title, "calls", *(result.calls[title] for result in
                                       (theirs, control, ours)),
             *extra(report, title, control, ours))
    line(report, "FSSTAT, calls a second", "calls/s", theirs.fsstat,
         control.fsstat, ours.fsstat, target=1)
    line(report, "is_referral, fs_supports and the like", "calls",
         *(result.properties_per_item() for result in (theirs, control,
                                                       ours)))
    report.add("VFS: GETATTR, arrived at SCALE, MDCACHE large", [hot], "",
               target=ARRIVED, control=True, show=False)
    print("SCALE: to reach 0 (FSSTAT: 1); the control, FSAL_NULL, must not.\n"
          "arrived: requests that passed MDCACHE and met SCALE, at least "
          f"{ARRIVED} per item;\n  with a large MDCACHE {hot:.3g} GETATTR in "
          "one.  syscalls: on files, by strace.")


def line(report, title, unit, theirs, control, ours, *more, target=0):
    """One row.  more: (value, result) of further columns."""
    report.add(f"{title}, stock", [theirs], unit, better="lower", show=False)
    results = [
        report.add(f"{title}, NULL in SCALE's place", [control], unit,
                   better="lower", target=target, control=True, show=False),
        report.add(title, [ours], unit, better="lower", target=target,
                   show=False),
        *(result for _, result in more)]
    missed = [result["name"] for result in results if not result["ok"]]
    columns = "".join(f" {value:8.4g}" for value in (
        theirs, control, ours, *(value for value, _ in more)))
    print(f"{title:38}{columns}{'  MISSED' if missed else ''}", flush=True)


def extra(report, title, control, ours):
    """The columns arrived and syscalls, where they were measured."""
    value = ours.arrived[title]
    yield value, report.add(f"{title}, arrived at SCALE", [value], "",
                            target=ARRIVED, show=False)
    if title not in ours.syscalls:
        return
    value = ours.syscalls[title]
    report.add(f"{title}, strace, NULL in SCALE's place",
               [control.syscalls[title]], "syscalls", better="lower",
               target=0, control=True, show=False)
    yield value, report.add(f"{title}, strace", [value], "syscalls",
                            better="lower", target=0, show=False)
