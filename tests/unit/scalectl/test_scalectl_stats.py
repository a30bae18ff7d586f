# SPDX-License-Identifier: LGPL-3.0-or-later
"""scalectl stats: its tables, rates and errors."""

import json
import os
import signal
import socket
import subprocess
import threading

import pytest

from fake_server import FakeServer, outcomes, stats
from scalectl_places import COMMAND
from scalectl import control_client, service, stats_command
from scalectl.errors import ServerError


@pytest.fixture
def serve(tmp_path):
    """serve(answer): a server that gives it, or answer(number); its path."""
    servers = []

    def start(answer):
        say = answer if callable(answer) else lambda _: answer
        servers.append(FakeServer(tmp_path / f"control{len(servers)}", say))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


def rows(text):
    """The words of each line, by its first word; the last one counts."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    return {words[0]: words[1:] for words in lines}


def table(text, head):
    """The lines from one that begins with head to an empty one."""
    return text[text.index("\n" + head) + 1:].split("\n\n")[0]


def test_request_is_one_line(scalectl, serve):
    server = serve(stats())
    scalectl("stats", "--socket", server.path)
    assert [json.loads(line) for line in server.requests] \
        == [{"scale": 1, "command": "stats"}]


def test_tables(scalectl, serve):
    done = scalectl("stats", "--socket", serve(stats()).path)
    assert (done.returncode, done.stderr) == (0, "")
    text = done.stdout
    assert "SCALE 0.1.0" in text and "4711" in text and "2 exports" in text
    cache = rows(table(text, "cache "))
    assert cache["files"] == ["25,000", "100,000", "25.0%"]
    # The tier may be switched off.
    assert cache["stats"] == ["0", "0", "-"]
    assert cache["bytes"] == ["64.0M", "256.0M", "25.0%"]
    assert cache["in"] == ["use", "32.0M", "12.5%"]
    assert cache["names"] == ["1,234,567"]
    events = table(text, "in the cache")
    for line in ("promotions 8", "demotions 7", "evictions, file tier 5",
                 "evictions, stat tier 6"):
        assert line in " ".join(events.split())

    assert "watched for changes beside the server: /disk\n" in text
    assert "NOT watched: /other: a reason\n" in text
    watcher = rows(table(text, "the watcher"))
    assert watcher["events"] == ["300"]

    everything = text[text.index("all exports"):text.index("export 1")]
    requests = rows(table(everything, "requests"))
    head = requests["requests"]
    assert head == ["all", "from", "memory", "hit", "negative", "miss",
                    "expired", "invalid", "shared", "uncached"]
    assert requests["getattrs"] == ["100", "70.0%", "70", "0", "20", "10",
                                    "0", "0", "0"]
    assert requests["lookup"] == ["40", "75.0%", "0", "30", "0", "0", "0",
                                  "10", "0"]
    # What cannot be answered from memory is in no ratio.
    assert requests["write"][:2] == ["1,000", "-"]
    assert requests["all"][:2] == ["1,140", "71.4%"]
    calls = rows(table(everything, "calls to the backend"))
    assert calls["getattrs"] == ["30", "2", "500", "450", "2,500", "123,456"]
    assert calls["all"] == ["30", "2", "500"]
    assert rows(everything)["own_change"] == ["12,345"]
    assert "export 1, /one (VFS)" in text and "export 9, /nine (CEPH)" in text


def test_one_export_alone(scalectl, serve):
    path = serve(stats()).path
    done = scalectl("stats", "--export", "9", "--socket", path)
    assert "/nine" in done.stdout
    assert "/one" not in done.stdout and "all exports" not in done.stdout
    done = scalectl("stats", "--export", "9", "--json", "--socket", path)
    assert [one["id"] for one in json.loads(done.stdout)["exports"]] == [9]
    done = scalectl("stats", "--export", "2", "--socket", path)
    assert done.returncode == 2
    assert "no export 2" in done.stderr and "1, 9" in done.stderr


def test_without_cache_exports_or_requests(scalectl, serve):
    answer = stats(0)
    answer.update(cache=None, exports=[])
    for part in ("requests", "calls"):
        answer["total"][part] = {}
    done = scalectl("stats", "--socket", serve(answer).path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "0 exports" in done.stdout and "promotions" not in done.stdout
    assert rows(done.stdout)["own_change"] == ["0"]


def test_json(scalectl, serve):
    done = scalectl("stats", "--json", "--socket", serve(stats()).path)
    assert json.loads(done.stdout) == {**stats(), "warnings": []}


def test_server_of_another_version(scalectl, serve):
    done = scalectl("stats", "--socket", serve(stats(version="9.9")).path)
    assert done.returncode == 0 and "4711" in done.stdout
    assert "9.9" in done.stderr and "restart the server" in done.stderr


def watch(*arguments, until):
    """Run scalectl stats --watch until a line has a word; interrupt it."""
    with subprocess.Popen([COMMAND, "stats", "--watch", "0.2",
                           *map(str, arguments)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        killer = threading.Timer(30, process.kill)
        killer.start()
        lines = []
        for line in process.stdout:
            lines.append(line)
            if until in line:
                process.send_signal(signal.SIGINT)
                break
        lines += process.stdout
        killer.cancel()
        return process.wait(), "".join(lines), process.stderr.read()


def test_watching_shows_rates(serve):
    server = serve(lambda number: stats(number + 1))
    code, text, errors = watch("--socket", server.path, until="by the second")
    assert (code, errors) == (0, "")
    first, second = text.split("SCALE 0.1.0")[1:3]
    assert rows(table(first, "in the cache"))["promotions"] == ["8"]
    # 8 in some fifth of a second.
    assert 0 < float(rows(table(second, "in the cache"))["promotions"][0]) \
        <= 40
    requests = rows(table(second, "requests"))
    assert requests["requests"][0] == "all/s"
    assert 0 < float(requests["getattrs"][0].replace(",", "")) <= 500
    assert requests["getattrs"][1] == "70.0%"
    # The mean is that of the time between.
    assert rows(table(second, "calls to the backend"))["getattrs"][-1] \
        == "500"


def test_watching_a_server_that_restarts(serve):
    server = serve(lambda number: stats(5 if number < 2 else 1,
                                        pid=4711 + (number >= 2)))
    code, text, _ = watch("--socket", server.path, until="4712")
    assert code == 0
    last = text.split("SCALE 0.1.0")[-1]
    assert "by the second" not in last
    assert rows(table(last, "in the cache"))["promotions"] == ["8"]


def test_watching_as_json(serve):
    server = serve(lambda number: stats(number + 1))
    code, text, _ = watch("--json", "--socket", server.path,
                          until='"promote": 16')
    assert code == 0
    looks = [json.loads(line) for line in text.splitlines()]
    assert [look["cache"]["counters"]["promote"] for look in looks[:2]] \
        == [8, 16]


def test_watching_until_the_server_is_gone(serve):
    def say(number):
        if number == 1:
            os.unlink(server.path)
        return stats()

    server = serve(say)
    code, text, errors = watch("--socket", server.path, until="never")
    assert code == 5 and "no server answers" in errors
    assert text.count("SCALE 0.1.0") == 2


def test_differences():
    old, new = stats(1), stats(3)
    old["time"], new["time"] = 10.0, 14.0
    new["exports"].append({**new["exports"][0], "id": 5})
    # Added again, so it counts from 0.
    old["exports"][1]["requests"] = {"read": outcomes(miss=5)}
    new["exports"][1]["requests"] = {"read": outcomes(miss=2)}
    change = stats_command.difference(old, new)
    assert change["seconds"] == 4.0
    assert change["total"]["requests"]["getattrs"]["hit"] == 140
    assert change["total"]["calls"]["getattrs"] == {
        "count": 60, "errors": 4, "sum_us": 30000.0, "mean_us": 500.0}
    assert change["cache"]["counters"]["demote"] == 14
    assert change["cache"]["usage"] == new["cache"]["usage"]
    assert change["exports"][1]["requests"]["read"]["miss"] == 0
    assert change["exports"][2]["requests"]["getattrs"]["hit"] == 210


@pytest.mark.parametrize("answer, words", [
    ({"scale": 1, "ok": False, "error": "too many clients"},
     ["refused", "too many clients"]),
    ({"scale": 2, "ok": True}, ["version 2", "version 1", "restart"]),
    ({}, ["version None", "restart"]),
    (b"[1]\n", ["not SCALE", "--socket"]),
    (b"HTTP/1.1 400 Bad Request\r\n", ["not SCALE"]),
    (b"\xff\xfe\n", ["not SCALE"]),
    (b"", ["closed the connection", "log"]),
    (b'{"scale": 1, "ok"', ["closed the connection"]),
])
def test_wrong_answers(scalectl, serve, answer, words):
    path = serve(answer).path
    done = scalectl("stats", "--socket", path)
    assert (done.returncode, done.stdout) == (5, "")
    for word in [*words, str(path)]:
        assert word in done.stderr


def test_no_server(scalectl, tmp_path):
    path = tmp_path / "control"
    for _ in range(2):
        done = scalectl("stats", "--socket", path)
        assert done.returncode == 5
        assert f"no server answers at {path}" in done.stderr
        assert "start the server" in done.stderr
        # The same when a dead server has left its socket.
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(path)) if not path.exists() else None
    done = scalectl("stats", "--json", "--socket", path)
    error = json.loads(done.stdout)["error"]
    assert str(path) in error["message"] and "--socket" in error["remedy"]
    for wrong in (tmp_path, "x" * 200):
        done = scalectl("stats", "--socket", wrong)
        assert done.returncode == 5 and "--socket" in done.stderr


def test_who_may_not_connect(serve, monkeypatch):
    path = serve(stats()).path
    monkeypatch.setattr(socket.socket, "connect", _refuse)
    with pytest.raises(ServerError, match="run scalectl as root"):
        control_client.ask(str(path), "stats")


def _refuse(*_):
    raise PermissionError(13, "Permission denied")


def test_silent_server(tmp_path, monkeypatch):
    monkeypatch.setattr(control_client, "SECONDS", 1)
    path = str(tmp_path / "control")
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(path)
        silent.listen()
        with pytest.raises(ServerError, match="did not answer within 1 s"):
            control_client.ask(path, "stats")


@pytest.mark.parametrize("seconds", ["0", "-1", "x", "1e9", "nan"])
def test_wrong_interval(scalectl, seconds):
    done = scalectl("stats", "--watch", seconds)
    assert done.returncode == 2 and "0.1 to 86400" in done.stderr


@pytest.mark.parametrize("text, path", [
    ('SCALE { Control_Socket = "/run/x y/c"; }', "/run/x y/c"),
    ("SCALE { control_socket = /srv/c; }", "/srv/c"),
    ("SCALE { } SCALE { Control_Socket = /no; }", None),
    ("SCALE { pagepool = 1M; }", None),
    ("NFSv4 { ", None),
])
def test_socket_of_the_configuration(conf, monkeypatch, text, path):
    monkeypatch.setattr(service, "config_path", lambda: str(conf(text)))
    assert control_client.socket_path() \
        == (path or control_client.DEFAULT_SOCKET)


@pytest.mark.parametrize("value", ["none", "None", '""'])
def test_switched_off(conf, monkeypatch, value):
    path = conf(f"\nSCALE {{ Control_Socket = {value}; }}")
    monkeypatch.setattr(service, "config_path", lambda: str(path))
    with pytest.raises(ServerError) as caught:
        control_client.socket_path()
    assert str(caught.value).startswith(f"{path}:2: ")
    assert "restart the server" in str(caught.value)
