# SPDX-License-Identifier: LGPL-3.0-or-later
"""The package, installed, used and removed on a machine like this one."""

import re

# ganesha.nfsd with the default plug-in folder, the sample configuration for
# VFS, and an rpcbind, until it serves.
SERVE = """
mkdir -p /run/rpcbind /run/ganesha /run/lock /srv
mount -t tmpfs srv /srv
mkdir /srv/nfs
touch /srv/nfs/a-file
rpcbind
ganesha.nfsd -F -f /usr/share/doc/nfs-ganesha-scale/examples/vfs.conf \
    -L /tmp/ganesha.log -p /run/g.pid &
server=$!
for ((i = 0; i < 200; i++)); do
    grep -q 'NFS SERVER INITIALIZED' /tmp/ganesha.log 2>/dev/null && break
    sleep 0.1
done
echo "exported: $(nfs-ls 'nfs://127.0.0.1/srv/nfs?version=4')"
kill $server
wait $server
cat /tmp/ganesha.log
"""
INSTALL = "dpkg --unpack $package && dpkg --configure nfs-ganesha-scale\n"


def test_installed_module_serves_with_the_sample(in_machine):
    log = in_machine(INSTALL + SERVE)
    assert re.search("exported: .* a-file$", log, re.MULTILINE), log
    assert "SCALE " in log and "maxFilesToCache" in log
    assert ":CONFIG :CRIT" not in log
    assert "NFS EXIT: regular exit" in log


def test_installed_command_runs(in_machine):
    output = in_machine(INSTALL + "scalectl --version; scalectl --help")
    assert "scalectl" in output and "config" in output


def test_removal_leaves_nothing(in_machine):
    difference = in_machine("""
list() { find /etc /opt /usr/lib/*/ganesha /usr/sbin /usr/share/*ganesha* \
    /usr/share/bash-completion /usr/share/doc /usr/share/lintian \
    /usr/share/man /var/lib \
    -path /var/lib/dpkg -prune -o -print 2>/dev/null | sort; }
list >/tmp/before
""" + INSTALL + """
scalectl --version
list >/tmp/during
dpkg --purge nfs-ganesha-scale
list >/tmp/after
echo "installed $(comm -13 /tmp/before /tmp/during | wc -l) names"
echo "left: $(comm -3 /tmp/before /tmp/after | tr '\\n' ' ')"
""")
    lines = difference.splitlines()
    assert "installed 0 names" not in lines
    assert "left: " in lines, difference


def test_other_ganesha_version_is_refused(in_machine):
    """A module linked to another version would stop the whole server."""
    output = in_machine("""
sed -i '/^Package: nfs-ganesha$/,/^$/s/^Version: .*/Version: 4.3-3/' \
    /var/lib/dpkg/status
dpkg --install $package && exit 1
dpkg-query -W -f '${Status}\\n' nfs-ganesha-scale
""")
    assert "nfs-ganesha-scale depends on nfs-ganesha (= " in output
    assert "install ok installed" not in output
