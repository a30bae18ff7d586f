# SPDX-License-Identifier: LGPL-3.0-or-later
"""The part lint: each checker is one test."""

import json
import re
import subprocess

from runner import BUILD, JOBS, TOP

# Fields of Ganesha's and libntirpc's structures are spelt as they are; "te",
# "nd" and the like are lines of traces.
WORDS = "homogenous,acces,parms,te,nd"


def lint(runner):
    """Style and static analysis."""
    files = tracked_files()
    c_files = [name for name in files if name.endswith((".c", ".h"))]
    checkers = {
        "clang-format": (["clang-format", "--dry-run", "-Werror"], c_files),
        "shellcheck": (["shellcheck", "-x"], scripts(files, "sh", "bash")),
        "flake8": (["/usr/bin/python3", "-m", "flake8"],
                   scripts(files, "python3") +
                   [name for name in files if name.endswith(".py")]),
        "mandoc": (["mandoc", "-T", "lint", "-W", "warning"],
                   [name for name in files if "/man/" in name]),
        "codespell": (["codespell", "--ignore-words-list", WORDS], files),
    }
    for name, (command, names) in checkers.items():
        if names:
            runner.step(name, *command, *sorted(set(names)))
        else:
            runner.add(name, False, "found no file to check")
    clang_tidy(runner)
    licence(runner, files)


def tracked_files():
    """Files of the project: tracked, or new and not ignored."""
    listing = subprocess.run(
        ["git", "-c", f"safe.directory={TOP}", "ls-files", "-z", "--cached",
         "--others", "--exclude-standard"],
        cwd=TOP, stdout=subprocess.PIPE, check=True).stdout.decode()
    return [name for name in listing.split("\0")
            if name and (TOP / name).is_file()]


def scripts(files, *interpreters):
    """Files whose first line names one of the interpreters."""
    found = []
    for name in files:
        with open(TOP / name, "rb") as file:
            first = file.readline(200).decode(errors="replace").split()
        if first and first[0].startswith("#!") and any(
                word.rpartition("/")[2] in interpreters for word in first):
            found.append(name)
    return found


def clang_tidy(runner):
    """Static analysis of what is installed: what the build compiles of it."""
    database = BUILD / "compile_commands.json"
    entries = json.loads(database.read_text()) if database.exists() else []
    sources = sorted({
        entry["file"] for entry in entries
        if entry["file"].startswith(tuple(f"{TOP / name}/"
                                          for name in ("fsal_scale",
                                                       "mdcache_ext")))})
    if not sources:
        runner.add("clang-tidy", False, f"{database} names no source: build")
        return
    status, output = runner.run("run-clang-tidy", "-quiet", "-j", JOBS, "-p",
                                BUILD, *sources)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output)
    # The notes that explain a finding are in the log.
    runner.add("clang-tidy", status == 0, "\n".join(
        line for line in plain.splitlines() if " error: " in line) or plain)


def licence(runner, files):
    """Each file of the project tells its licence."""
    exempt = {"LICENSE", "README.md", ".clang-format", ".gitignore",
              "config/packaging/copyright", "config/packaging/changelog.in",
              "config/packaging/lintian-overrides"}
    without = [name for name in files if name not in exempt
               and not name.endswith((".gz", ".json", ".svg"))
               and b"SPDX-License-Identifier: LGPL-3.0-or-later"
               not in (TOP / name).read_bytes()[:400]]
    runner.add("licence", not without,
               "no SPDX line in:\n" + "\n".join(without))
