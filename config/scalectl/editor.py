# SPDX-License-Identifier: LGPL-3.0-or-later
"""Set a parameter in a Config, leaving every other byte as it is.

Of several blocks of a name ganesha.nfsd uses one: the value goes into that
one, and the parameter is removed from all others.
"""


def set_parameter(config, parameter, value):
    """Return {real path: new bytes} that make value the effective one.

    The dictionary is empty if the configuration says so already, with one
    statement. config is a ganesha_conf.Config, value a canonical value.
    """
    target = parameter.block_in_force(config)
    if target is None:
        return _new_block(config.files[0], parameter, value)
    own = target.statements(parameter.key)
    keep = own[-1] if own else None
    doomed = [statement for block in config.blocks_named(parameter.block)
              for statement in block.statements(parameter.key)
              if statement is not keep]
    edits = {}
    if keep is None:
        _add(edits, target.file, _insert(target, parameter, value))
    elif not _says(parameter, keep, value):
        _add(edits, keep.file, _replace(keep, parameter.kind.render(value)))
    for statement in doomed:
        _add(edits, statement.file, _remove(statement))
    return {file.real: _apply(file.text, changes).encode("latin-1")
            for file, changes in edits.values()}


def _says(parameter, statement, value):
    """Whether statement alone would make value the effective one."""
    found = parameter.kind.effective([statement])
    return found.value is not None and not found.problems \
        and parameter.kind.same(found.value, value)


def _add(edits, file, changes):
    edits.setdefault(file.real, (file, []))[1].extend(changes)


def _apply(text, changes):
    """Apply (start, end, replacement) changes.

    Only removals may overlap: two neighbours both claim the space between.
    """
    pieces, offset = [], 0
    for start, end, new in sorted(changes):
        pieces += [text[offset:start], new]
        offset = max(offset, end)
    return "".join(pieces) + text[offset:]


def _tokens(statement):
    """The (start, end) of each token of a statement, in order."""
    spans = [(statement.start, statement.start + len(statement.name)),
             (statement.equals, statement.equals + 1),
             (statement.end - 1, statement.end)]
    spans += _value_tokens(statement)
    return sorted(spans)


def _value_tokens(statement):
    spans = [(term.start, term.end) for term in statement.terms]
    spans += [(comma, comma + 1) for comma in statement.separators]
    return sorted(spans)


def _comment_between(text, spans):
    """Whether a comment stands between the tokens of spans."""
    return any("#" in text[end:start]
               for (_, end), (start, _) in zip(spans, spans[1:]))


def _replace(statement, new):
    """Changes that put new in the place of the value."""
    spans = _value_tokens(statement)
    if not spans:
        after = statement.equals + 1
        return [(after, after, " " + new)]
    if not _comment_between(statement.file.text, spans):
        return [(spans[0][0], spans[-1][1], new)]
    first, *rest = spans
    return [(*first, new)] + [(*span, "") for span in rest]


def _remove(statement):
    """Changes that take a statement away, with its line if nothing stays."""
    text = statement.file.text
    spans = _tokens(statement)
    if _comment_between(text, spans):
        return [(*span, "") for span in spans]
    start, end = statement.start, statement.end
    line_start = text.rfind("\n", 0, start) + 1
    line_end = _line_end(text, end)
    before, after = text[line_start:start], text[end:line_end]
    if not before.strip() and not after.strip():
        return [(line_start, line_end, "")]
    if after.strip():
        return [(start, end + len(after) - len(after.lstrip(" \t")), "")]
    return [(line_start + len(before.rstrip(" \t")), end, "")]


def _line_end(text, offset):
    """The offset behind the newline that ends offset's line."""
    newline = text.find("\n", offset)
    return len(text) if newline < 0 else newline + 1


def _indent(text, offset):
    """The white space at the beginning of offset's line."""
    line = text[text.rfind("\n", 0, offset) + 1:offset]
    return line[:len(line) - len(line.lstrip(" \t"))]


def _insert(block, parameter, value):
    """Changes that add the parameter at the end of a block."""
    text, newline = block.file.text, block.file.newline()
    new = f"{parameter.key} = {parameter.kind.render(value)};"
    after = block.items[-1].end if block.items else block.open
    next_line = _line_end(text, after)
    if next_line > block.close:
        # All on one line.
        spaced = text[after:block.close][:1].isspace()
        return [(after, after, f" {new}" if spaced else f" {new} ")]
    if block.items and "\n" in text[block.open:block.items[-1].start]:
        indent = _indent(text, block.items[-1].start)
    else:
        indent = _indent(text, block.start) + "\t"
    return [(next_line, next_line, indent + new + newline)]


def _new_block(file, parameter, value):
    """The main file with a new block at its end."""
    text, newline = file.text, file.newline()
    lines = [f"{parameter.block} {{",
             f"\t{parameter.key} = {parameter.kind.render(value)};", "}", ""]
    if text:
        lines.insert(0, "")
        if not text.endswith("\n"):
            lines.insert(0, "")
    return {file.real: (text + newline.join(lines)).encode("latin-1")}
