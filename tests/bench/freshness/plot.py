# SPDX-License-Identifier: LGPL-3.0-or-later
"""The delays as a picture: which share of the changes is seen by then."""

import pathlib
import subprocess

LEAST_MS = 0.01    # what was seen before the change returned is drawn here
POINTS = 400      # of a curve at most
TERMINALS = {".svg": "svg size 1000,640 dynamic font 'sans,13' "
                     "background 'white'",
             ".png": "pngcairo size 1400,900 font 'sans,14'"}
SETUP = """
set logscale x
set xrange [0.01:200000]
set yrange [0:100]
set xtics ("10 us" 0.01, "0.1 ms" 0.1, "1 ms" 1, "10 ms" 10, "0.1 s" 100, \
           "1 s" 1000, "10 s" 10000, "100 s" 100000)
set xlabel "time from the change on the server to the first right answer"
set ylabel "changes seen, %"
set grid
set key below vertical maxcols 2 samplen 3 height 1
set arrow from 20, graph 0 to 20, graph 1 nohead dashtype 3 linecolor 'gray30'
"""


def curve(outcome):
    """gnuplot's lines of one Outcome: ms, percent."""
    samples = outcome.pooled
    limit = outcome.limit * 1000
    step = max(1, len(samples) // POINTS)
    points = [(max(LEAST_MS, samples[i]), 100 * (i + 1) / len(samples))
              for i in [*range(0, len(samples), step), len(samples) - 1]
              if samples[i] < limit]
    return "\n".join(f"{x:.4f} {y:.3f}" for x, y in points)


def draw(outcomes, name):
    """Write name.svg and name.png; a suffix of the name is left away."""
    path = pathlib.Path(name)
    if path.suffix in TERMINALS:
        path = path.with_suffix("")
    outcomes = [outcome for outcome in outcomes if outcome.pooled]
    data = "".join(f"$d{number} << END\n{curve(outcome)}\nEND\n"
                   for number, outcome in enumerate(outcomes))
    styles = [outcome.system.key for outcome in outcomes]
    lines = ", ".join(
        f"$d{number} using 1:2 with lines linewidth 2 "
        f"linecolor {1 + list(dict.fromkeys(styles)).index(styles[number])} "
        f"dashtype {1 + styles[:number].count(styles[number])} "
        f"title {quoted(outcome.title)}"
        for number, outcome in enumerate(outcomes))
    script = data + SETUP
    for suffix, terminal in TERMINALS.items():
        script += (f"set terminal {terminal}\n"
                   f"set output {quoted(path.with_name(path.name + suffix))}\n"
                   f"plot {lines}\n")
    try:
        subprocess.run(["gnuplot"], input=script, text=True, check=True)
    except FileNotFoundError:
        raise RuntimeError("--plot needs gnuplot: install gnuplot-nox") \
            from None


def quoted(text):
    """As gnuplot reads it."""
    return "'" + str(text).replace("'", "''") + "'"
