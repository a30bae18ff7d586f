# SPDX-License-Identifier: LGPL-3.0-or-later
"""ganesha.conf is read as ganesha.nfsd reads it."""

import os

import pytest

from scalectl.errors import ConfigError
from scalectl.ganesha_conf import Block, Config, Statement


def names(config):
    return [block.name for block in config.blocks]


def test_blocks_nest_and_keep_their_place(conf):
    text = "A { x = 1; B { y = a, 'b' , \"c\"; } }\nX{}"
    config = Config(conf(text))
    outer, empty = config.blocks
    x, inner = outer.items
    assert isinstance(x, Statement) and isinstance(inner, Block)
    assert text[x.start:x.end] == "x = 1;"
    assert text[outer.start:outer.end] == text[:text.index("\n")]
    assert [t.value() for t in inner.items[0].terms] == ["a", "b", "c"]
    assert (empty.items, empty.line) == ([], 2)


@pytest.mark.parametrize("value, terms", [
    ('"a;b}#{="', ["a;b}#{="]),
    ("'it\"s'", ['it"s']),
    (r'"a\"b"', ['a"b']),
    ("a # no; }\n, b", ["a", "b"]),
    ("/x#y\n", ["/x"]),
    ("", []),
    (r'"tab\there"', ["tab\there"]),
    ("10.0.0.0/8, *, ::1, @net", ["10.0.0.0/8", "*", "::1", "@net"]),
])
def test_values(conf, value, terms):
    config = Config(conf(f"B {{ x = {value}; }}\n"))
    statement, = config.blocks[0].items
    assert [t.value() for t in statement.terms] == terms
    assert statement.well_formed()


def test_a_backslash_before_the_last_quote_does_not_open_it(conf):
    config = Config(conf('B { x = "C:\\";\n y = 1; }\n'))
    assert [item.name for item in config.blocks[0].items] == ["x", "y"]


@pytest.mark.parametrize("value", ["256M", "1 2", "1,", "4.5M", ",,"])
def test_values_ganesha_drops(conf, value):
    config = Config(conf(f"B {{ x = {value}; }}\n"))
    assert not config.blocks[0].items[0].well_formed()


@pytest.mark.parametrize("text, line, message", [
    ("A {\n x = 1;\n", 1, "A is never closed"),
    ("\nA {\n B {\n x = 1; }\n", 2, "A is never closed"),
    ("A {\n x = \"1;\n}\n", 2, "is never closed"),
    ("A { x = 'y; }\n", 1, "is never closed"),
    ("A {\n x = 1\n y = 2;\n}\n", 2, "x has no ; at its end"),
    ("A { x = 1 }\n", 1, "x has no ; at its end"),
    ("A {}\n}\n", 2, "unexpected }"),
    ("A { B {}; }\n", 1, "unexpected ;"),
    ("A\n", 1, "A is followed neither"),
    ("$X = 1;\n", 1, "unexpected $"),
    ("A { 1 = 2; }\n", 1, "unexpected 1"),
    ("A {\n %include \"b\"\n}\n", 2, "unexpected %"),
    ("x = 1;\n%include \"b\"\n", 2, "knows no %include"),
    ("A {}\n# end", 2, "without a newline"),
    ("\ufeffA {}\n", 1, "byte order mark"),
    ("A {} \x00\n", 1, "byte 0x00"),
    ("%include\n", 1, "not followed by a path"),
    ("%include \"two words\"\n", 1, "not followed by a path"),
    ("%dir relative\n", 1, "relative"),
    ("%dir /nonexistent/d\n", 1, "cannot read the folder"),
    ("%include \"none.conf\"\n", 1, "No such file"),
])
def test_what_does_not_parse_is_refused_with_its_place(conf, text, line,
                                                       message):
    path = conf(text)
    with pytest.raises(ConfigError) as caught:
        Config(path)
    error = caught.value
    assert message in str(error)
    assert (error.file, error.line) == (str(path), line)
    assert error.remedy


def test_includes_are_read_in_place_relative_to_the_main_file(conf, tmp_path):
    conf("IN {}\n%include sub/deep.conf\n", "sub/in.conf")
    conf("DEEP {}\n", "sub/deep.conf")
    conf("LIST {}\n", "absolute.conf")
    main = conf(f'A {{}}\n%include "sub/in.conf"\nB {{}}\n'
                f'%include # here\n {tmp_path}/absolute.conf\nC {{}}\n')
    config = Config(main)
    assert names(config) == ["A", "IN", "DEEP", "B", "LIST", "C"]
    assert len(config.files) == 4


def test_a_folder_is_read_with_its_pattern_and_without_links(conf, tmp_path):
    for name in ("a.conf", "b.conf", "c.txt", ".hidden.conf"):
        conf("N {}\n", f"d/{name}")
    os.symlink("a.conf", tmp_path / "d" / "link.conf")
    config = Config(conf(f"%dir {tmp_path}/d/*.conf\nZ {{}}\n"))
    read = {os.path.basename(file.path) for file in config.files[1:]}
    assert read == {"a.conf", "b.conf", ".hidden.conf"}
    assert len(Config(conf(f'%dir "{tmp_path}/d"\n')).files) == 5


def test_include_loops_and_repetitions_are_refused(conf):
    conf("%include ganesha.conf\n", "b.conf")
    for text in ("%include b.conf\n", "%include ganesha.conf\n",
                 "%include c.conf\n%include c.conf\n"):
        conf("C {}\n", "c.conf")
        with pytest.raises(ConfigError, match="a second time"):
            Config(conf(text))


def test_urls_are_remembered(conf):
    config = Config(conf("A {}\n%url rados://pool/space/object\nB {}\n"))
    assert [(line, url) for _, line, url in config.urls] \
        == [(2, "rados://pool/space/object")]
    assert names(config) == ["A", "B"]


def test_unreadable_main_files(tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path, message in ((tmp_path / "none", "--file"),
                          (tmp_path, "name the file, not its folder"),
                          (loop, "circle"), (fifo, "not a regular file")):
        with pytest.raises(ConfigError) as caught:
            Config(path)
        assert str(path) in str(caught.value)
        assert message in str(caught.value)
