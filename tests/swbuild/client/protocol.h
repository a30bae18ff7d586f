/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The protocols' types and constants, of the FSAL SDK. */
#ifndef SWBUILD_PROTOCOL_H
#define SWBUILD_PROTOCOL_H

#include <nfs23.h>
#include <nfs4.h>

#define NFS_PORT     2049
#define PORTMAP_PORT 111

#endif
