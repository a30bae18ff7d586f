# SPDX-License-Identifier: LGPL-3.0-or-later
"""scalectl config get and scalectl config change, without the output.

Both return dictionaries, which --json prints as they are.
"""

import difflib
import os

from scalectl import files
from scalectl.editor import set_parameter
from scalectl.errors import ScalectlError
from scalectl.ganesha_conf import Config


def get(path, parameters):
    """Read the parameters from the configuration at path.

    Returns {"file", "parameters": [...], "warnings": [...]}.
    """
    config = Config(path)
    rows, warnings = [], []
    for parameter in parameters:
        found = _effective(config, parameter)
        statement = found.statement
        rows.append({
            "name": parameter.name,
            "value": parameter.default if statement is None else found.value,
            "source": "default" if statement is None else "file",
            "file": statement.file.path if statement else None,
            "line": statement.line if statement else None,
            "block": parameter.block,
            "parameter": parameter.key,
        })
        warnings += _warnings(config, parameter, found)
    return {"file": config.main, "parameters": rows,
            "warnings": list(dict.fromkeys(warnings))}


def _effective(config, parameter):
    """What ganesha.nfsd makes of the parameter."""
    block = parameter.block_in_force(config)
    return parameter.kind.effective(block.statements(parameter.key)
                                    if block else [])


def _warnings(config, parameter, found):
    used = parameter.block_in_force(config)
    warnings = [_at(statement) + sentence
                for statement, sentence in found.problems]
    for block in config.blocks_named(parameter.block):
        statements = block.statements(parameter.key)
        if block is not used:
            which = "first" if parameter.first_block_counts else "last"
            warnings += [
                _at(statement) + f"ganesha.nfsd ignores this {statement.name}:"
                f" only the {which} block {parameter.block} counts, and that "
                f"is at {used.file.path}:{used.line}"
                for statement in statements]
        elif len(statements) > 1:
            warnings.append(_at(statements[-1]) + f"{parameter.key} stands "
                            "more than once in its block")
    warnings += [f"{source.path}:{line}: what {url} holds is not read, and "
                 "may say otherwise" for source, line, url in config.urls]
    return warnings


def _at(statement):
    return f"{statement.file.path}:{statement.line}: "


def change(path, assignments, dry_run=False):
    """Set parameters; assignments are (Parameter, canonical value).

    Returns {"file", "changed", "dry_run", "parameters", "files", "diff",
    "restart_needed", "warnings"}; files lists those written. A parameter's
    in_force says that it had the value before.
    """
    if dry_run:
        return _change(Config(path), assignments, dry_run)
    folders = _folders(Config(path))
    while True:
        with files.locked(folders):
            config = Config(path)
            now = _folders(config)
            if now <= folders:
                return _change(config, assignments, dry_run)
        # An include came in while the lock was awaited: lock its folder too.
        folders |= now


def _folders(config):
    return {os.path.dirname(file.real) for file in config.files}


def _change(config, assignments, dry_run):
    planned, rows = {}, []
    for parameter, value in assignments:
        before = Config(config.main, planned)
        edits = set_parameter(before, parameter, value)
        planned.update(edits)
        found = _effective(before, parameter)
        after = _check(Config(config.main, planned), parameter, value)
        in_force = found.value is not None and not found.problems \
            and parameter.kind.same(found.value, value)
        rows.append({"name": parameter.name, "value": value,
                     "old": found.value or parameter.default,
                     "changed": bool(edits),
                     "in_force": in_force,
                     "file": after.file.path, "line": after.line})
    originals = {file.real: file for file in config.files}
    order = _writing_order(planned, rows)
    result = {
        "file": config.main, "changed": bool(planned), "dry_run": dry_run,
        "parameters": rows, "files": order,
        "diff": "".join(_diff(originals[real], planned[real])
                        for real in order),
        "restart_needed": any(parameter.needs_restart
                              and not row["in_force"]
                              for (parameter, _), row
                              in zip(assignments, rows)),
        "warnings": [],
    }
    if not dry_run:
        result["warnings"] += _write(order, planned, originals)
    final = Config(config.main, planned if dry_run else None)
    for parameter, _ in assignments:
        result["warnings"] += _warnings(final, parameter,
                                        _effective(final, parameter))
    result["warnings"] = list(dict.fromkeys(result["warnings"]))
    return result


def _check(config, parameter, value):
    """See that the planned files say what was asked, once; before writing."""
    found = _effective(config, parameter)
    count = sum(len(block.statements(parameter.key))
                for block in config.blocks_named(parameter.block))
    if count != 1 or found.problems or found.value is None \
            or not parameter.kind.same(found.value, value):
        raise ScalectlError(f"{parameter.name} cannot be set in "
                            f"{config.main} by scalectl",
                            "nothing was changed; edit the file by hand")
    return found.statement


def _writing_order(planned, rows):
    """The files with the new values first: whoever reads in between, or an
    interruption, finds the new value in force and at most a superfluous
    old one in a block that does not count."""
    targets = [os.path.realpath(row["file"]) for row in rows]
    return sorted(planned, key=lambda real: (real not in targets, real))


def _write(order, planned, originals):
    for real in order:
        folder = os.path.dirname(real)
        if not os.access(folder, os.W_OK | os.X_OK):
            read_only = os.statvfs(folder).f_flag & os.ST_RDONLY
            raise ScalectlError(
                f"cannot write to the folder {folder}",
                "its file system is read-only" if read_only
                else "run scalectl as root")
    warnings, done = [], []
    for real in order:
        try:
            warnings += files.replace(real, planned[real],
                                      originals[real].stat)
        except ScalectlError as error:
            if done:
                error.remedy = f"{error.remedy}; already changed: " \
                               + ", ".join(done)
            raise
        done.append(real)
    return warnings


def _diff(original, new):
    old_lines, new_lines = (
        data.decode("utf-8", "replace").splitlines(keepends=True)
        for data in (original.data, new))
    lines = difflib.unified_diff(old_lines, new_lines, original.real,
                                 original.real, n=2)
    return "".join(line if line.endswith("\n") else
                   line + "\n\\ No newline at end of file\n"
                   for line in lines)
