#!/bin/bash
# SPDX-License-Identifier: LGPL-3.0-or-later
#
# inside.sh CONFIG LOG: ganesha.nfsd in mount and pid namespaces of its own.
#
# Runs as the first process of the pid namespace, so whatever it starts ends
# with it.  Stops the server when its standard input is closed, which happens
# however its parent ends.  Exit status: the server's.
set -euo pipefail
config=$1
log=$2

mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/rpcbind /run/ganesha/recovery

# Ganesha does not start without an rpcbind to register with.  This one is
# reached by its socket in /run; its port 111 is in a network namespace where
# nobody is, since the machine's own is not ours to take.
unshare --net rpcbind -f &
for ((i = 0; i < 100; i++)); do
	[ ! -S /run/rpcbind.sock ] || break
	sleep 0.05
done

ganesha.nfsd -F -f "$config" -L "$log" -p /run/ganesha/ganesha.pid &
server=$!
{
	cat >/dev/null
	kill -TERM "$server"
} <&0 &
wait "$server"
