# SPDX-License-Identifier: LGPL-3.0-or-later
"""scalectl against the distribution's own parser of ganesha.conf."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ganesha_parser import Parser
from scalectl import parameters
from scalectl.config_command import change
from scalectl.errors import ConfigError
from scalectl.ganesha_conf import Block, Config
from test_scalectl_properties import SETTINGS, configurations

NO_ERRORS = "(no errors)"


@pytest.fixture(scope="module")
def oracle():
    with Parser() as parser:
        yield parser


def tree_of(items):
    """scalectl's parse in the oracle's form."""
    return [[item.name, {"items": tree_of(item.items)}]
            if isinstance(item, Block)
            else [item.name, [t.value() for t in item.terms]
                  if item.well_formed() else []] for item in items]


def without(tree, parameter):
    """A tree without the parameter and without its block if that is empty;
    and the values the parameter has in the blocks that are left."""
    rest, values = [], []
    for name, content in tree:
        if not isinstance(content, dict) \
                or name.lower() != parameter.block.lower():
            rest.append([name, content])
            continue
        items = []
        for item in content["items"]:
            if item[0].lower() == parameter.key.lower() \
                    and not isinstance(item[1], dict):
                values.append(item[1])
            else:
                items.append(item)
        if items:
            rest.append([name, {"items": items}])
    return rest, values


@SETTINGS
@given(configurations())
def test_a_change_as_ganesha_sees_it(conf, oracle, configuration):
    parameter, pieces, value = configuration
    path = conf("".join(p.text for p in pieces).encode("latin-1"))
    _, before = oracle.parse(path)
    change(path, [(parameter, value)])
    errors, after = oracle.parse(path)
    assert errors == NO_ERRORS
    rest, values = without(after, parameter)
    assert rest == without(before, parameter)[0]
    assert len(values) == 1
    found = values[0] if parameter.block == "NFSv4" else values[0][:1]
    assert parameter.kind.same(",".join(sorted(found)), value)


@SETTINGS
@given(configurations())
def test_both_read_the_same(conf, oracle, configuration):
    _, pieces, _ = configuration
    path = conf("".join(p.text for p in pieces).encode("latin-1"))
    _, tree = oracle.parse(path)
    if not tree:
        return
    config = Config(path)
    assert tree_of(config.blocks) == [item for item in tree
                                      if isinstance(item[1], dict)]


@SETTINGS
@given(st.text(st.sampled_from('AB{}=;,"\'#\\ \n1'), max_size=40))
def test_what_scalectl_reads_ganesha_reads_too(conf, oracle, text):
    """Random text: scalectl may refuse more, but never misreads."""
    path = conf(text)
    try:
        config = Config(path)
    except ConfigError:
        return
    errors, tree = oracle.parse(path)
    if errors == NO_ERRORS:
        assert tree_of(config.blocks) == [item for item in tree
                                          if isinstance(item[1], dict)]


@pytest.mark.parametrize("text", [
    "A {\n x = 1;\n", "A { x = \"1; }\n", "A {}\n}\n", "x = 1;\n%include b\n",
    "A {}\n# end", "\ufeffA {}\n", "%include none.conf\n", "A { %include b\n}",
    "$x = 1;\n", "A\n",
])
def test_ganesha_refuses_what_scalectl_refuses(conf, oracle, text):
    path = conf(text)
    with pytest.raises(ConfigError):
        Config(path)
    errors, tree = oracle.parse(path)
    assert errors != NO_ERRORS or not tree


def test_an_amount_without_quotes_is_lost(conf, oracle):
    """Why scalectl writes amounts with a suffix in quotes."""
    path = conf("SCALE { pagepool = 64M; }\n")
    assert oracle.parse(path)[1] == [["SCALE", {"items": [["pagepool", []]]}]]
    change(path, [(parameters.find("pagepool"), "64M")])
    assert oracle.parse(path)[1] \
        == [["SCALE", {"items": [["pagepool", ["64M"]]]}]]


def test_the_distributions_own_configurations(conf, oracle):
    files = [path for path in sorted(Path("/etc/ganesha").glob("*.conf"))
             if "%include" not in path.read_text()]
    assert files
    for file in files:
        path = conf(file.read_bytes(), file.name)
        _, before = oracle.parse(path)
        assert tree_of(Config(path).blocks) == before
        minor = parameters.find("MINOR_VERSIONS")
        change(path, [(minor, "0")])
        errors, after = oracle.parse(path)
        assert errors == NO_ERRORS
        assert without(after, minor) == (without(before, minor)[0], [["0"]])


def test_folders_are_read_in_ganeshas_order(conf, oracle, tmp_path):
    for name in "abcdefgh":
        conf(f"N{name} {{}}\n%include {name}.inc\n", f"d/{name}.conf")
        conf(f"I{name} {{}}\n", f"{name}.inc")
    path = conf(f"FIRST {{}}\n%dir {tmp_path}/d/*.conf\nLAST {{}}\n")
    errors, tree = oracle.parse(path)
    assert errors == NO_ERRORS
    assert tree_of(Config(path).blocks) == tree
