# SPDX-License-Identifier: LGPL-3.0-or-later
"""The server's service: where its configuration is, and its restart."""

import getopt
import os
import re
import shlex
import subprocess
import time

from scalectl.errors import RestartError

DEFAULT_CONFIG = "/etc/ganesha/ganesha.conf"
# nfs-ganesha-config.service makes the last from the first that it finds.
ENVIRONMENT_FILES = ("/etc/sysconfig/ganesha", "/etc/ganesha/nfs-ganesha",
                     "/etc/default/nfs-ganesha")
GANESHA_OPTIONS = "v@L:N:f:p:FRTE:ChI:"
SYSTEMD_RUNS = "/run/systemd/system"
UNIT = "nfs-ganesha"
# ganesha.nfsd goes into the background before it reads its configuration, so
# systemctl calls a server started that is about to give up.
SETTLE_SECONDS = 3.0
COMMAND_SECONDS = 180


def config_path():
    """The configuration that the packaged service gives to ganesha.nfsd."""
    for path in ENVIRONMENT_FILES:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                found = _option_f(file.read())
        except OSError:
            continue
        if found:
            # The service runs in the root folder.
            return os.path.join("/", found)
    return DEFAULT_CONFIG


def _option_f(text):
    """The argument of -f in the line OPTIONS=... of an environment file."""
    lines = re.findall(r"^\s*OPTIONS=(.*?)\s*$", text.replace("\\\n", ""),
                       re.MULTILINE)
    if not lines:
        return None
    try:
        words = shlex.split(" ".join(shlex.split(lines[-1])))
        options, _ = getopt.gnu_getopt(words, GANESHA_OPTIONS)
    except (ValueError, getopt.GetoptError):
        return None
    paths = [value for option, value in options if option == "-f"]
    return paths[-1] if paths else None


def restart(unit=UNIT):
    """Restart the server and see that it stays up.

    Raises RestartError with systemd's reason.
    """
    by_hand = "the configuration is changed; restart ganesha.nfsd the way " \
              "it was started"
    if not os.path.isdir(SYSTEMD_RUNS):
        raise RestartError("systemd does not run here", by_hand)
    look = f"see 'systemctl status {unit}' and the server's log"
    try:
        done = _systemctl("restart", unit)
    except FileNotFoundError as error:
        raise RestartError("there is no systemctl here", by_hand) from error
    except subprocess.TimeoutExpired as error:
        raise RestartError(f"{unit} did not restart within "
                           f"{COMMAND_SECONDS} s", look) from error
    if done.returncode != 0:
        reason = " ".join(done.stderr.split()) or "no reason given"
        raise RestartError(f"{unit} did not restart: {reason}", look)
    deadline = time.monotonic() + SETTLE_SECONDS
    while time.monotonic() < deadline:
        state = _systemctl("is-active", unit).stdout.strip()
        if state not in ("active", "activating", "reloading"):
            raise RestartError(f"{unit} was restarted but is now "
                               f"{state or 'in an unknown state'}", look)
        time.sleep(0.25)


def _systemctl(*arguments):
    return subprocess.run(["systemctl", *arguments], capture_output=True,
                          text=True, check=False, timeout=COMMAND_SECONDS,
                          stdin=subprocess.DEVNULL)
