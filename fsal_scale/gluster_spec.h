/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file gluster_spec.h
 * @brief Volfiles, as glusterd gives them to clients and bricks
 *
 * A volfile describes a graph of translators with their options: that of a
 * volume what its clients run, that of a brick what the brick runs. glusterd
 * gives them to whoever asks on its port (ONC RPC, program "GlusterFS
 * Handshake", GETSPEC), as it does to gfapi and to brick processes.
 */
#ifndef SCALE_GLUSTER_SPEC_H
#define SCALE_GLUSTER_SPEC_H

/** The port that FSAL GLUSTER, too, asks at. */
#define GLUSTERD_PORT "24007"

/** What asks; see gluster_spec_open(). */
struct gluster_spec;

/**
 * @brief Connect to the glusterd of a host
 *
 * @param[in]  host  A name or an address
 * @param[in]  port  GLUSTERD_PORT
 * @param[out] spec  To be closed
 *
 * @return 0 or a negative errno value; -EHOSTUNREACH for an unknown name.
 *         After at most 3 s for each of the host's addresses.
 */
int gluster_spec_open(const char *host, const char *port,
		      struct gluster_spec **spec);

/** @brief NULL is allowed. */
void gluster_spec_close(struct gluster_spec *spec);

/**
 * @brief Get a volfile
 *
 * @param[in]  id    A volume, or VOLUME.HOST.PATH of a brick (the path without
 *                   its first slash, and with '-' for the others)
 * @param[out] text  The volfile, to be freed; on success only
 *
 * @return 0 or a negative errno value: glusterd's own (-ENOENT: there is none),
 *         or that of the connection, which is then of no more use.
 */
int gluster_spec_get(struct gluster_spec *spec, const char *id, char **text);

#endif /* SCALE_GLUSTER_SPEC_H */
