#!/bin/bash
# SPDX-License-Identifier: LGPL-3.0-or-later
# First process of a test's namespaces: namespace-init.sh RUNDIR
# Prints "ready", then lives until its standard input is closed.
set -euo pipefail
rundir=$1

ip link set lo up
mount -t tmpfs tmpfs /run
mkdir -p /run/dbus /run/ganesha /run/lock /run/rpcbind /run/sendsigs.omit.d
# The server keeps its clients' records here, statd its hosts.
mkdir -p "$rundir"/nfs/{ganesha,sm,sm.bak}
touch "$rundir/nfs/state"
mount --bind "$rundir/nfs" /var/lib/nfs

rpcbind -w
# The server's lock manager for version 3 asks it to watch clients.
rpc.statd --no-notify
dbus-daemon --system --fork --nopidfile
echo ready
while read -r _; do :; done
