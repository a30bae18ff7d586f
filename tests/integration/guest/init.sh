#!/bin/bash
# SPDX-License-Identifier: LGPL-3.0-or-later
# First process of the guest kernel.  The host's / is mounted read-only; its
# run folder, where this script is, is the only part that can be written.
# `client.env` there gives address=, gateway=, port= and name=; the kernel's
# command line gives rundir=.
: "${rundir:?}"
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
unset TMPDIR

mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmpfs /run
mkdir -p /run/client /run/lock /run/rpcbind /run/modules/lib/modules /run/mnt
mount -t hostfs none /run/client -o "$rundir"
# shellcheck source=/dev/null
. /run/client/client.env
: "${address:?}" "${gateway:?}" "${port:?}" "${name:?}"

mount --bind /usr/lib/uml/modules /run/modules/lib/modules
modprobe -d /run/modules -a nfs nfsv3 nfsv4

for directory in /tmp /var/tmp /var/lib/nfs /dev/shm; do
	mkdir -p "$directory" 2>/dev/null
	mount -t tmpfs tmpfs "$directory"
done
mkdir -p /var/lib/nfs/sm /var/lib/nfs/sm.bak /dev/pts
mount -t devpts devpts /dev/pts
ln -s /proc/self/fd /dev/fd 2>/dev/null

hostname "$name"
ulimit -n 65536
ip link set lo up
ip addr add "$address/30" dev vec0
ip link set vec0 up

# For locks by version 3.
rpcbind -w
rpc.statd --no-notify

/usr/bin/python3 /run/client/guest/agent.py "$gateway" "$port" \
	>/run/client/agent.log 2>&1
dmesg >/run/client/dmesg
/usr/bin/python3 -c 'import ctypes
ctypes.CDLL(None).reboot(0x4321fedc)'
