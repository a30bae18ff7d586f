# SPDX-License-Identifier: LGPL-3.0-or-later
"""The upstream source of a Debian package, fetched by APT."""

import pathlib
import re
import subprocess

SOURCES = pathlib.Path("/etc/apt")


def fetch(package, folder):
    """Unpack a package's upstream tarball; the path of what it holds.

    APT runs with source entries made from the machine's own and with lists
    of its own below `folder`, which it leaves there.
    """
    folder = pathlib.Path(folder)
    parts, lists = folder / "apt" / "parts", folder / "apt" / "lists"
    parts.mkdir(parents=True)
    (lists / "partial").mkdir(parents=True)
    for path in (SOURCES / "sources.list.d").glob("*.sources"):
        (parts / path.name).write_text(re.sub(
            r"(?m)^Types:.*", "Types: deb-src", path.read_text()))
    for path in (SOURCES / "sources.list",
                 *(SOURCES / "sources.list.d").glob("*.list")):
        if path.exists():
            (parts / f"{path.stem}.list").write_text("".join(
                re.sub(r"^deb\s", "deb-src ", line)
                for line in path.read_text().splitlines(keepends=True)
                if re.match(r"deb\s", line)))
    apt = ["apt-get", "-q", "-o", "Dir::Etc::sourcelist=/dev/null",
           "-o", f"Dir::Etc::sourceparts={parts}",
           "-o", f"Dir::State::lists={lists}",
           "-o", "Dir::Cache::srcpkgcache=", "-o", "Dir::Cache::pkgcache=",
           "-o", "APT::Get::List-Cleanup=0", "-o", "APT::Sandbox::User=root"]
    for command in (["update"],
                    ["source", "--tar-only", "--download-only", package]):
        result = subprocess.run(
            apt + command, cwd=folder, timeout=200, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if result.returncode:
            raise RuntimeError(f"apt-get {' '.join(command)}:\n"
                               f"{result.stdout}")
    tarball, = folder.glob(f"{package}_*.orig.tar.*")
    source = folder / "source"
    source.mkdir()
    subprocess.run(["tar", "-xf", tarball, "-C", source,
                    "--strip-components=1"], check=True, timeout=60)
    return source
