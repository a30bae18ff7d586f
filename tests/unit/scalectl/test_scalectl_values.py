# SPDX-License-Identifier: LGPL-3.0-or-later
"""Names and values on the command line; values that stand in the file."""

import pytest

from scalectl import parameters
from scalectl.config_command import get
from scalectl.errors import UsageError


@pytest.mark.parametrize("text, value", [
    ("0", "0"), ("1", "1"), ("0,1", "0,1"), ("1,0", "0,1"), (" 1 , 0 ", "0,1"),
    ('"0,1"', "0,1"), ("'1'", "1"), ('" 0 "', "0"),
])
@pytest.mark.parametrize("name", ["MINOR_VERSIONS", "minor_version"])
def test_minor_versions(name, text, value):
    parameter, canonical = parameters.assignment(f"{name}={text}")
    assert (parameter.name, canonical) == ("MINOR_VERSIONS", value)


@pytest.mark.parametrize("text, reason", [
    ("2", "NFSv4.2"), ("0,2", "NFSv4.2"), ("", "no value"), ("''", "no value"),
    ("0,0", "twice"), ("0,", "not a minor version"), ("3", '"3"'),
    ("0 1", '"0 1"'), ("4.1", '"4.1"'), ("0;1", '"0;1"'), ("x", '"x"'),
    ("-1", '"-1"'), ("01", '"01"'), ("0\n1", "not a minor version"),
])
def test_other_minor_versions_are_refused(text, reason):
    with pytest.raises(UsageError) as caught:
        parameters.assignment(f"MINOR_VERSIONS={text}")
    assert reason in caught.value.message
    assert caught.value.remedy == "give 0, 1 or 0,1"


@pytest.mark.parametrize("name, text, value, number", [
    ("maxFilesToCache", "1", "1", 1),
    ("MAXFILESTOCACHE", "100k", "100K", 100_000),
    ("maxFilesToCache", "100M", "100M", 100_000_000),
    ("maxStatCache", "0", "0", 0), ("maxStatCache", "007", "7", 7),
    ("pagepool", "1m", "1M", 1 << 20), ("pagepool", "'2G'", "2G", 2 << 30),
    ("PagePool", " 1048576 ", "1048576", 1 << 20),
])
def test_amounts(name, text, value, number):
    parameter, canonical = parameters.assignment(f"{name}={text}")
    assert canonical == value
    assert parameter.kind.number(canonical) == number


@pytest.mark.parametrize("text, reason", [
    ("maxFilesToCache=0", "out of range"),
    ("maxFilesToCache=101M", "out of range"),
    ("maxFilesToCache=100000001", "out of range"),
    ("maxStatCache=-1", "not a number"), ("maxStatCache=", "no value"),
    ("pagepool=1023K", "out of range"), ("pagepool=8589934592G", "range"),
    ("pagepool=1T", "not a number"), ("pagepool=1.5G", "not a number"),
    ("pagepool=0x100000", "not a number"), ("pagepool=1 G", "not a number"),
    ("pagepool=1MB", "not a number"), ("pagepool=\u0661M", "not a number"),
    ("pagepool=50%", "not a number"), ("pagepool", "NAME=VALUE"),
    ("pagepools=1M", "no parameter pagepools"), ("=1", "no parameter"),
])
def test_refused_assignments(text, reason):
    with pytest.raises(UsageError) as caught:
        parameters.assignment(text)
    assert reason in caught.value.message
    assert caught.value.remedy


def row(path, name):
    """The row and the warnings of one parameter."""
    result = get(path, [parameters.find(name)])
    return result["parameters"][0], result["warnings"]


@pytest.mark.parametrize("text, value, warning", [
    ("", "0,1,2", None),
    ("NFSv4 {}\n", "0,1,2", None),
    ("NFSv4 { Minor_Versions = 1; }\n", "1", None),
    ("nfsV4 { MINOR_versions = 1,\t0; }\n", "0,1", None),
    ("NFSv4 { Minor_Versions = '1'; }\n", "1", None),
    # Two lists in one block add up.
    ("NFSv4 { Minor_Versions=0; Minor_Versions=1; }\n", "0,1", "more than"),
    ("NFSv4 { Minor_Versions=0,1,2; Minor_Versions=1; }\n", "1", "more than"),
    # Only the last block counts.
    ("NFSv4 { Minor_Versions=0; }\nNFSv4 {}\n", "0,1,2", "the last block"),
    ("NFSv4 {}\nNFSv4 { Minor_Versions=0; }\n", "0", None),
    ("NFSv4 { Minor_Versions = \"0,1\"; }\n", "", "(0,1)"),
    ("NFSv4 { Minor_Versions = 0 1; }\n", "0,1,2", "form"),
    ("EXPORT { NFSv4 { Minor_Versions=0; } }\n", "0,1,2", None),
    ("NFSv4 { x { Minor_Versions=0; } }\n", "0,1,2", None),
    ("Minor_Versions = 0;\n", "0,1,2", None),
    ("%url rados://a/b\n", "0,1,2", "rados://a/b"),
])
def test_minor_versions_in_force(conf, text, value, warning):
    found, warnings = row(conf(text), "MINOR_VERSIONS")
    assert found["value"] == value
    if warning is None:
        assert not warnings
    else:
        assert len(warnings) == 1 and warning in warnings[0]


@pytest.mark.parametrize("text, value, warning", [
    ("", "256M", None),
    ("SCALE { pagepool = \"1G\"; }\n", "1G", None),
    ("Scale { PAGEPOOL = 1048576; }\n", "1048576", None),
    ("SCALE { pagepool = 1G; }\n", "256M", 'in quotes: "1G"'),
    ("SCALE { pagepool = 5; }\n", "5", "out of range"),
    ("SCALE { pagepool = lots; }\n", "lots", "not a number"),
    # Only the first block counts.
    ("SCALE {}\nSCALE { pagepool = \"1G\"; }\n", "256M", "the first block"),
])
def test_pagepool_in_force(conf, text, value, warning):
    found, warnings = row(conf(text), "pagepool")
    assert found["value"] == value
    if warning is None:
        assert not warnings
    else:
        assert len(warnings) == 1 and warning in warnings[0]


def test_the_place_is_that_of_the_included_file(conf, tmp_path):
    conf("\n\nNFSv4 {\n Minor_Versions = 1;\n}\n", "in.conf")
    found, _ = row(conf("%include in.conf\n"), "MINOR_VERSION")
    assert (found["file"], found["line"]) == (str(tmp_path / "in.conf"), 4)
    assert found["source"] == "file"
