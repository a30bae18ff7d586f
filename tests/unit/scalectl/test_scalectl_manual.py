# SPDX-License-Identifier: LGPL-3.0-or-later
"""The manual pages are well-formed and say what the command does."""

import re
import subprocess

import pytest

from scalectl_places import PROJECT
from scalectl import control_client, errors, parameters

PAGES = ["scalectl.8", "ganesha-scale-config.8"]


def rendered(page):
    done = subprocess.run(
        ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8",
         PROJECT / "config/man" / page], capture_output=True, text=True,
        check=True, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
                         "MANWIDTH": "200", "MANPAGER": "cat",
                         "GROFF_NO_SGR": "1"})
    assert done.stderr == ""
    return re.sub(r".\x08", "", done.stdout)


@pytest.mark.parametrize("page", PAGES)
def test_pages_render_without_warnings(page):
    done = subprocess.run(
        ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z",
         PROJECT / "config/man" / page], capture_output=True, text=True,
        check=True)
    assert done.stderr == ""
    assert "SEE ALSO" in rendered(page)


@pytest.mark.parametrize("command", [("config", "get"), ("config", "change"),
                                     ("stats",)])
def test_every_option_is_documented(scalectl, command):
    page = rendered("scalectl.8")
    options = set(re.findall(r"--[a-z-]+",
                             scalectl(*command, "--help").stdout))
    assert options
    for option in options:
        assert option in page


def test_every_parameter_and_default_is_documented():
    page, reference = (rendered(name) for name in PAGES)
    for parameter in parameters.PARAMETERS:
        assert parameter.name in page
        assert parameter.key in reference
        section = page[page.index(f"       {parameter.name}"):][:600]
        assert parameter.default in section


def test_every_exit_code_is_documented():
    page = rendered("scalectl.8")
    codes = {value for name, value in vars(errors).items()
             if name.startswith("EXIT_")}
    section = page[page.index("EXIT STATUS"):page.index("FILES")]
    assert set(map(int, re.findall(r"^       ([0-9])\s", section, re.M))) \
        == codes


def test_what_the_server_counts_is_documented():
    page = rendered("scalectl.8")
    header = (PROJECT / "fsal_scale/stats.h").read_text()
    names = re.findall(r'X\([A-Z_]+,\s+"([a-z_]+)",', header)
    assert {"hit", "foreign_seen"} <= set(names)
    section = page[page.index("STATISTICS"):page.index("OPTIONS")]
    for name in names:
        assert name in section


def test_the_socket_is_where_the_module_binds_it():
    header = (PROJECT / "fsal_scale/control.h").read_text()
    found = re.search(r'#define SCALE_CONTROL_DEFAULT\s+"(.*)"', header)
    assert found[1] == control_client.DEFAULT_SOCKET
    assert found[1] in rendered("scalectl.8")
    found = re.search(r"#define SCALE_CONTROL_VERSION\s+(\d+)", header)
    assert int(found[1]) == control_client.PROTOCOL


def test_defaults_and_ranges_are_the_modules():
    header = (PROJECT / "fsal_scale/scale_config.h").read_text()

    def constant(name):
        """The value of a constant: a number, or a shift of two."""
        found = re.search(rf"#define {name}\s+"
                          r"\(?UINT64_C\((\d+)\)(?: << (\d+)\))?\n", header)
        return int(found[1]) << int(found[2] or 0)

    files, stats, pool = (parameters.find(name) for name in (
        "maxFilesToCache", "maxStatCache", "pagepool"))
    for parameter, name in ((files, "MAX_FILES"), (stats, "MAX_STATS"),
                            (pool, "PAGEPOOL")):
        assert parameter.kind.number(parameter.default) \
            == constant(f"SCALE_DEFAULT_{name}")
    assert files.kind.high == stats.kind.high == constant("SCALE_MAX_ENTRIES")
    assert pool.kind.low == constant("SCALE_MIN_PAGEPOOL")
