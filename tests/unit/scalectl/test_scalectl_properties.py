# SPDX-License-Identifier: LGPL-3.0-or-later
"""Random configurations: whatever the file, a change changes one value.

A configuration is generated in pieces, so that the test knows, without the
editor's help, which bytes belong to the parameter.
"""

import re
from dataclasses import dataclass

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scalectl import parameters
from scalectl.config_command import change, get

SETTINGS = settings(deadline=None, max_examples=60, derandomize=True,
                    database=None,
                    suppress_health_check=[
                        HealthCheck.function_scoped_fixture,
                        HealthCheck.too_slow])
OTHER_BLOCKS = ["EXPORT", "LOG", "NFS_Core_Param", "NFSv4x", "SCALE_", "A-1"]
OTHER_KEYS = ["Lease_Lifetime", "Minor_Version", "Path", "pagepools", "x"]


@dataclass
class Piece:
    """Some bytes; value is None, or the span of a parameter's value."""

    text: str
    ours: bool = False


def mixed_case(word):
    return st.lists(st.booleans(), min_size=len(word), max_size=len(word)).map(
        lambda flags: "".join(c.upper() if up else c.lower()
                              for c, up in zip(word, flags)))


comments = st.text(st.characters(min_codepoint=1, max_codepoint=255,
                                 blacklist_characters="\n"),
                   max_size=12).map(lambda text: f"#{text}\n")
spaces = st.text(" \t\r\n\f", max_size=3)
gaps = st.one_of(spaces, spaces, comments)
quoted = st.text("ab;{}#=,%'\\\t\n \xe4", max_size=8).map(
    lambda text: '"' + text.replace("\\", "\\\\") + ' "')
single = st.text('ab;{}#=,%"\\ ', max_size=8).map(lambda t: f"'{t}'")
terms = st.one_of(quoted, single, st.sampled_from(
    ["0", "077", "0x1F", "/a/b.c", "tok-en", "10.0.0.0/8", "*.x", "@net",
     "::1", "True", "-5", "9P", "12.34"]))


@st.composite
def other_statements(draw):
    values = draw(st.lists(terms, max_size=3))
    between = draw(gaps)
    return Piece(draw(st.sampled_from(OTHER_KEYS)) + draw(gaps) + "="
                 + draw(gaps) + f",{between}".join(values) + draw(gaps) + ";")


@st.composite
def our_statements(draw, parameter):
    value = draw(st.sampled_from(
        ["0", "1", "0,1", "0, 1,2", "", '"1"', "1,'0'", "2"]
        if parameter.block == "NFSv4" else
        ["1", "4000", '"64M"', "'1G'", "64M", "x", ""]))
    key = draw(mixed_case(parameter.key))
    return Piece(f"{key}{draw(spaces)}={draw(spaces)}{value}{draw(spaces)};",
                 ours=True)


@st.composite
def blocks(draw, name, inner):
    pieces = [Piece(name + draw(gaps) + "{")]
    for item in draw(st.lists(inner, max_size=4)):
        pieces += [Piece(draw(gaps))]
        pieces += item if isinstance(item, list) else [item]
    return pieces + [Piece(draw(gaps) + "}")]


@st.composite
def configurations(draw):
    parameter = draw(st.sampled_from(parameters.PARAMETERS))
    ours = st.one_of(other_statements(), our_statements(parameter))
    pieces = [Piece(draw(gaps))]
    for _ in range(draw(st.integers(0, 4))):
        if draw(st.booleans()):
            name, inner = draw(mixed_case(parameter.block)), ours
        else:
            name = draw(st.sampled_from(OTHER_BLOCKS))
            # The same name in another block is another parameter.
            inner = st.one_of(other_statements(), blocks(
                parameter.block, our_statements(parameter)
                .map(lambda piece: Piece(piece.text))))
        pieces += draw(blocks(name, inner)) + [Piece(draw(gaps))]
    value = draw(st.sampled_from(["0", "1", "0,1"])
                 if parameter.block == "NFSv4" else
                 st.sampled_from(["2M", "1048576", "3G", "4096K"])
                 if parameter.key == "pagepool" else
                 st.sampled_from(["1", "4000", "20K", "1M"]))
    return parameter, pieces, value


def squeezed(text):
    return re.sub(r"[ \t\r\f\n]+", "", text)


def written(parameter, value):
    return re.compile(rf"{parameter.key}=" + re.escape(
        parameter.kind.render(value)) + ";", re.IGNORECASE)


@SETTINGS
@given(configurations())
def test_a_change_leaves_all_else_as_it_is(conf, configuration):
    parameter, pieces, value = configuration
    path = conf("".join(p.text for p in pieces).encode("latin-1"))
    change(path, [(parameter, value)])
    after = path.read_bytes().decode("latin-1")

    row = get(path, [parameter])["parameters"][0]
    kind = parameter.kind
    assert kind.same(row["value"], value)

    # Take the one statement away: what other pieces say must remain.
    others = squeezed("".join(p.text for p in pieces if not p.ours))
    rest = squeezed(after)
    candidates = list(written(parameter, value).finditer(rest)) or [
        m for m in re.finditer(rf"{parameter.key}=[^;]*;", rest, re.I)]
    new_block = f"{parameter.block}{{}}"
    assert any(
        (rest[:m.start()] + rest[m.end():]) in (others, others + new_block)
        for m in candidates)
    assert not change(path, [(parameter, value)])["changed"]


@SETTINGS
@given(configurations())
def test_a_single_value_is_replaced_byte_for_byte(conf, configuration):
    parameter, pieces, value = configuration
    ours = [index for index, piece in enumerate(pieces) if piece.ours]
    for index in ours[1:]:
        pieces[index].text = ""
    text = "".join(p.text for p in pieces)
    path = conf(text.encode("latin-1"))
    if get(path, [parameter])["parameters"][0]["source"] == "default" or not (
            change(path, [(parameter, value)])["changed"]):
        return
    before = "".join(p.text for p in pieces[:ours[0]])
    behind = "".join(p.text for p in pieces[ours[0] + 1:])
    head, equals, tail = pieces[ours[0]].text.partition("=")
    lead = tail[:len(tail) - len(tail.lstrip())]
    trail = tail.rstrip(";")[len(tail.rstrip(";").rstrip()):]
    expected = (before + head + equals + lead + parameter.kind.render(value)
                + trail + ";" + behind)
    assert path.read_bytes().decode("latin-1") == expected


@SETTINGS
@given(st.text(st.sampled_from('NFSv4{}=;,"\'#%\\ \n01aMinor_Versions'),
               max_size=60))
def test_any_text_is_changed_rightly_or_refused(conf, text):
    """No crash, and no file that scalectl itself cannot read again."""
    from scalectl.errors import ScalectlError
    path = conf(text.encode())
    parameter = parameters.find("MINOR_VERSIONS")
    try:
        change(path, [(parameter, "0,1")])
    except ScalectlError as error:
        assert error.remedy
        assert path.read_bytes() == text.encode()
    else:
        assert get(path, [parameter])["parameters"][0]["value"] == "0,1"
