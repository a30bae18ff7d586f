# SPDX-License-Identifier: LGPL-3.0-or-later
"""Where the service's configuration is, and the restart of the service."""

import json

import pytest

from scalectl import service
from scalectl.cli import main
from scalectl.errors import RestartError


@pytest.mark.parametrize("text, path", [
    ('OPTIONS="-L /var/log/g.log -f /etc/other.conf -N NIV_EVENT"\n',
     "/etc/other.conf"),
    ("# OPTIONS=-f /no\nOPTIONS='-Cf/etc/a.conf'\nEPOCH=1\n", "/etc/a.conf"),
    ("OPTIONS=\"-f /a -f '/b c'\"\n", "/b c"),
    ("OPTIONS=-f\\ /a\\ -R\n", "/a"),
    ('OPTIONS="-f etc/g.conf"\n', "/etc/g.conf"),
    ('OPTIONS="-L x \\\n -f /joined"\n', "/joined"),
    ('OPTIONS="-L -f"\n', service.DEFAULT_CONFIG),
    ('OPTIONS="-f"\n', service.DEFAULT_CONFIG),
    ('OPTIONS="unclosed\n', service.DEFAULT_CONFIG),
    ("NODEID=1\n", service.DEFAULT_CONFIG),
    ("", service.DEFAULT_CONFIG),
])
def test_the_configuration_is_the_one_the_service_uses(
        tmp_path, monkeypatch, text, path):
    file = tmp_path / "nfs-ganesha"
    file.write_text(text)
    monkeypatch.setattr(service, "ENVIRONMENT_FILES",
                        (str(tmp_path / "none"), str(file)))
    assert service.config_path() == path


@pytest.fixture
def systemctl(tmp_path, monkeypatch):
    """A function that puts a systemctl with the given actions in place."""
    monkeypatch.setattr(service, "SYSTEMD_RUNS", str(tmp_path))
    monkeypatch.setattr(service, "SETTLE_SECONDS", 0.4)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    calls = tmp_path / "calls"

    def write(restart, is_active="echo active"):
        command = tmp_path / "systemctl"
        command.write_text(f"#!/bin/sh\necho \"$@\" >>{calls}\n"
                           f"case $1 in restart) {restart};; "
                           f"is-active) {is_active};; esac\n")
        command.chmod(0o755)
        return calls
    return write


def test_restart(systemctl):
    calls = systemctl("true")
    service.restart()
    lines = calls.read_text().splitlines()
    assert lines[0] == "restart nfs-ganesha"
    assert set(lines[1:]) == {"is-active nfs-ganesha"}


@pytest.mark.parametrize("restart, is_active, words", [
    ("echo Unit not found. >&2; exit 5", "true", ["Unit not found."]),
    ("exit 1", "true", ["no reason given", "systemctl status nfs-ganesha"]),
    ("true", "echo failed; exit 3", ["now failed"]),
    ("true", "exit 3", ["unknown state"]),
    # The server forks first and gives up afterwards.
    ("true", "test -e $0.2 && echo failed; touch $0.2; echo active",
     ["now failed"]),
])
def test_a_failed_restart_gives_the_reason(systemctl, restart, is_active,
                                           words):
    systemctl(restart, is_active)
    with pytest.raises(RestartError) as caught:
        service.restart()
    for word in words:
        assert word in str(caught.value)


def test_no_systemd(monkeypatch):
    monkeypatch.setattr(service, "SYSTEMD_RUNS", "/nonexistent")
    with pytest.raises(RestartError, match="systemd does not run here"):
        service.restart()


def test_change_with_restart(systemctl, conf, capsys):
    calls = systemctl("true")
    path = conf("NFSv4 { Minor_Versions = 1; }\n")
    arguments = ["config", "change", "MINOR_VERSIONS=0", "--restart",
                 "--service", "my-ganesha", "--file", str(path)]
    assert main(arguments) == 0
    assert "my-ganesha restarted" in capsys.readouterr().out
    assert calls.read_text().startswith("restart my-ganesha\n")
    calls.unlink()
    assert main(arguments) == 0
    assert "not restarted" in capsys.readouterr().out
    assert not calls.exists()


def test_change_with_a_restart_that_fails(systemctl, conf, capsys):
    systemctl("echo no such unit >&2; exit 5")
    path = conf("")
    arguments = ["config", "change", "--restart", "--file", str(path)]
    assert main(arguments + ["MINOR_VERSIONS=0"]) == 4
    output = capsys.readouterr()
    assert "changed from 0,1,2 to 0" in output.out
    assert "no such unit" in output.err
    assert main(arguments + ["MINOR_VERSIONS=1", "--json"]) == 4
    answer = json.loads(capsys.readouterr().out)
    assert (answer["ok"], answer["changed"], answer["restarted"]) \
        == (False, True, False)
    assert "no such unit" in answer["error"]["message"]
    assert "Minor_Versions = 1;" in path.read_text()
