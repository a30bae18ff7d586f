# SPDX-License-Identifier: LGPL-3.0-or-later
"""A change replaces the value where it stands and nothing else."""

import pytest

from scalectl import parameters
from scalectl.config_command import change, get
from scalectl.errors import ScalectlError

MINOR = parameters.find("MINOR_VERSIONS")
PAGEPOOL = parameters.find("pagepool")


@pytest.mark.parametrize("before, after", [
    # In place of the old value, whatever the spelling.
    ("NFSv4 { Minor_Versions = 1,2; }\n", "NFSv4 { Minor_Versions = 0,1; }\n"),
    ("nfsv4{MINOR_VERSIONS=2;}\n", "nfsv4{MINOR_VERSIONS=0,1;}\n"),
    ("NFSv4\n{\n\tA = b; # c\n  minor_Versions =\n 0 ; # keep\n}\n",
     "NFSv4\n{\n\tA = b; # c\n  minor_Versions =\n 0,1 ; # keep\n}\n"),
    ("NFSv4 { Minor_Versions = ; }\n", "NFSv4 { Minor_Versions = 0,1 ; }\n"),
    ("NFSv4 { Minor_Versions = \"0,1\"; }\n",
     "NFSv4 { Minor_Versions = 0,1; }\n"),
    ("NFSv4 { Minor_Versions = 0 1; }\n", "NFSv4 { Minor_Versions = 0,1; }\n"),
    ("NFSv4 {\n Minor_Versions = 0, # first\n 2; }\n",
     "NFSv4 {\n Minor_Versions = 0,1 # first\n ; }\n"),
    ("# Minor_Versions = 2;\r\nNFSv4 {\r\n Minor_Versions = 2;\r\n}\r\n",
     "# Minor_Versions = 2;\r\nNFSv4 {\r\n Minor_Versions = 0,1;\r\n}\r\n"),
    # Added to the block.
    ("NFSv4 {}\n", "NFSv4 { Minor_Versions = 0,1; }\n"),
    ("NFSv4 { }\n", "NFSv4 { Minor_Versions = 0,1; }\n"),
    ("NFSv4 { A = 1; }\n", "NFSv4 { A = 1; Minor_Versions = 0,1; }\n"),
    ("NFSv4 {\n}\n", "NFSv4 {\n\tMinor_Versions = 0,1;\n}\n"),
    ("NFSv4\n{ # here\n}\n", "NFSv4\n{ # here\n\tMinor_Versions = 0,1;\n}\n"),
    ("NFSv4 {\r\n    A = 1; # x\r\n}\r\n",
     "NFSv4 {\r\n    A = 1; # x\r\n    Minor_Versions = 0,1;\r\n}\r\n"),
    ("NFSv4 {\n  B {\n   c = 1;\n  }\n}\n",
     "NFSv4 {\n  B {\n   c = 1;\n  }\n  Minor_Versions = 0,1;\n}\n"),
    ("NFSv4 { A = 1;\n}\n", "NFSv4 { A = 1;\n\tMinor_Versions = 0,1;\n}\n"),
    ("NFSv4 { B { Minor_Versions = 2; } }\n",
     "NFSv4 { B { Minor_Versions = 2; } Minor_Versions = 0,1; }\n"),
    # The block is added.
    ("", "NFSv4 {\n\tMinor_Versions = 0,1;\n}\n"),
    ("A {}\n", "A {}\n\nNFSv4 {\n\tMinor_Versions = 0,1;\n}\n"),
    ("A {}", "A {}\n\nNFSv4 {\n\tMinor_Versions = 0,1;\n}\n"),
    ("A {\r\n}\r\n",
     "A {\r\n}\r\n\r\nNFSv4 {\r\n\tMinor_Versions = 0,1;\r\n}\r\n"),
    # One statement remains, in the block that counts.
    ("NFSv4 {\n Minor_Versions = 0;\n A = 1;\n Minor_Versions = 1;\n}\n",
     "NFSv4 {\n A = 1;\n Minor_Versions = 0,1;\n}\n"),
    ("NFSv4 { Minor_Versions = 0; # old\n}\nNFSv4 { Minor_Versions = 1; }\n",
     "NFSv4 { # old\n}\nNFSv4 { Minor_Versions = 0,1; }\n"),
    ("NFSv4 { Minor_Versions = 1; Minor_Versions = 1; Minor_Versions = 1; }\n",
     "NFSv4 { Minor_Versions = 0,1; }\n"),
    ("NFSv4 {\n\tMinor_Versions = 0, # a\n\t1;\n}\nNFSv4 {\n}\n",
     "NFSv4 {\n\t   # a\n\t\n}\nNFSv4 {\n\tMinor_Versions = 0,1;\n}\n"),
    ("NFSv4 { A = 1; Minor_Versions = 0;\n}\nNFSv4 {}\n",
     "NFSv4 { A = 1;\n}\nNFSv4 { Minor_Versions = 0,1; }\n"),
])
def test_minor_versions(conf, before, after):
    path = conf(before)
    result = change(path, [(MINOR, "0,1")])
    assert result["changed"]
    assert path.read_bytes().decode() == after
    again = change(path, [(MINOR, "0,1")])
    assert not again["changed"] and not again["warnings"]


@pytest.mark.parametrize("before, after", [
    ("SCALE { pagepool = 256M; }\n", "SCALE { pagepool = \"1G\"; }\n"),
    ("SCALE { pagepool = '5'; }\n", "SCALE { pagepool = \"1G\"; }\n"),
    # Of two blocks SCALE the first counts.
    ("SCALE { pagepool = 5; }\nSCALE { pagepool = 6; }\n",
     "SCALE { pagepool = \"1G\"; }\nSCALE { }\n"),
])
def test_pagepool(conf, before, after):
    path = conf(before)
    change(path, [(PAGEPOOL, "1G")])
    assert path.read_bytes().decode() == after


@pytest.mark.parametrize("text", [
    "NFSv4 { Minor_Versions = 0,1; }\n", "NFSv4 { Minor_Versions = 1 , 0; }\n",
    "NFSv4 { Minor_Versions = \"1\",'0'; }\n",
    "NFSv4 { Minor_Versions = 0, # zero\n 1; }\n",
])
def test_an_equal_value_is_left_alone(conf, text):
    path = conf(text)
    before = path.stat()
    assert not change(path, [(MINOR, "0,1")])["changed"]
    after = path.stat()
    assert path.read_bytes().decode() == text
    assert (before.st_mtime_ns, before.st_ino, before.st_ctime_ns) \
        == (after.st_mtime_ns, after.st_ino, after.st_ctime_ns)


def test_an_equal_amount_is_left_alone(conf):
    path = conf("SCALE { pagepool = 1073741824; }\n")
    assert not change(path, [(PAGEPOOL, "1G")])["changed"]


def test_duplicates_of_the_right_value_are_removed(conf):
    path = conf("NFSv4 {\n Minor_Versions = 0,1;\n Minor_Versions = 1;\n}\n")
    result = change(path, [(MINOR, "0,1")])
    assert result["changed"] and not result["restart_needed"]
    assert path.read_text() == "NFSv4 {\n Minor_Versions = 0,1;\n}\n"


def test_included_files_are_changed_where_the_value_stands(conf):
    first = conf("NFSv4 { Minor_Versions = 2; A = 1; }\n", "first.conf")
    last = conf("NFSv4 { Minor_Versions = 1; # here\n}\n", "last.conf")
    main_text = "# m\n%include first.conf\nNFSv4 { B = 1; }\n" \
                "%include last.conf\nEXPORT {}\n"
    main = conf(main_text)
    result = change(main, [(MINOR, "0")])
    assert main.read_text() == main_text
    assert first.read_text() == "NFSv4 { A = 1; }\n"
    assert last.read_text() == "NFSv4 { Minor_Versions = 0; # here\n}\n"
    # The file with the new value is written first.
    assert result["files"] == [str(last), str(first)]
    assert get(main, [MINOR])["parameters"][0]["value"] == "0"


def test_several_parameters_at_once(conf):
    path = conf("EXPORT {}\n")
    change(path, [(PAGEPOOL, "1G"), (MINOR, "1"),
                  (parameters.find("maxStatCache"), "0")])
    assert path.read_text() == (
        "EXPORT {}\n\nSCALE {\n\tpagepool = \"1G\";\n\tmaxStatCache = 0;\n}\n"
        "\nNFSv4 {\n\tMinor_Versions = 1;\n}\n")


def test_dry_run_shows_the_change_and_writes_nothing(conf):
    text = "NFSv4 { Minor_Versions = 1; } # \xe4\xf6\n"
    path = conf(text)
    result = change(path, [(MINOR, "0,1")], dry_run=True)
    assert path.read_text() == text
    assert "-NFSv4 { Minor_Versions = 1; } # \xe4\xf6\n" in result["diff"]
    assert "+NFSv4 { Minor_Versions = 0,1; } # \xe4\xf6\n" in result["diff"]


def test_dry_run_warns_of_what_would_remain(conf):
    path = conf("NFSv4 { Minor_Versions = 2; Minor_Versions = 1; }\n"
                "%url rados://p/o\n")
    result = change(path, [(MINOR, "0")], dry_run=True)
    warning, = result["warnings"]
    assert "rados://p/o" in warning


def test_bytes_that_are_no_text_survive(conf):
    path = conf(b"# \xff\xfe\x00 \x80\nNFSv4 { Minor_Versions = 1; }\n"
                b"X { y = \"\xc3\x28\"; }\n")
    change(path, [(MINOR, "0")])
    assert path.read_bytes() == (
        b"# \xff\xfe\x00 \x80\nNFSv4 { Minor_Versions = 0; }\n"
        b"X { y = \"\xc3\x28\"; }\n")


def test_a_file_that_does_not_parse_is_left_alone(conf):
    text = "NFSv4 { Minor_Versions = 1;\n"
    path = conf(text)
    with pytest.raises(ScalectlError):
        change(path, [(MINOR, "0")])
    assert path.read_text() == text


def test_a_url_may_say_otherwise(conf):
    path = conf("%url rados://p/o\n")
    result = change(path, [(MINOR, "0")])
    assert "rados://p/o" in result["warnings"][0]
