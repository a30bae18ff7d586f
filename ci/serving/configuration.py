# SPDX-License-Identifier: LGPL-3.0-or-later
"""ganesha.conf for ci/serve, and the mount lines that belong to it."""

import socket

PSEUDO = "/scale"
# FSAL_MEM keeps this many bytes of a file, and none without being told.
MEM_FILE_SIZE = 512 << 10


def text(options, plugins):
    """The configuration; `plugins` is the folder of the FSALs."""
    minors = ",".join(str(minor) for minor in options.minor_versions)
    return f"""\
# Made by ci/serve.
NFS_Core_Param {{
\tNFS_Port = {options.port};
\tMNT_Port = {options.mount_port};
\tProtocols = 3, 4;
\tEnable_UDP = false;
\tEnable_NLM = false;
\tEnable_RQUOTA = false;
\tmount_path_pseudo = true;
\tPlugins_Dir = "{plugins}";
}}
NFSv4 {{
\tMinor_Versions = {minors};
\tOnly_Numeric_Owners = true;
\t# Nobody's locks outlive this server: nothing to wait for at its start.
\tGraceless = true;
\tRecoveryRoot = "/run/ganesha/recovery";
}}
# SCALE does the caching: Ganesha's own cache, which is always on top, is kept
# small.
MDCACHE {{
\tEntries_HWMark = 2000;
\tChunks_HWMark = 100;
}}
SCALE {{
}}
{blocks(options)}EXPORT {{
\tExport_Id = 1;
\tPath = "{options.path}";
\tPseudo = "{PSEUDO}";
\tProtocols = 3, 4;
\tTransports = TCP;
\tAccess_Type = RW;
\tSquash = No_Root_Squash;
\tSecType = sys;
\tFSAL {{
\t\tName = SCALE;
\t\tFSAL {{
\t\t\tName = {options.backend};
{backend(options)}\t\t}}
\t}}
}}
"""


def blocks(options):
    """Blocks of the backend beside the export's."""
    if options.backend == "MEM":
        return f"MEM {{\n\tInode_Size = {MEM_FILE_SIZE};\n}}\n"
    return ""


def backend(options):
    """Lines of the backend's FSAL block."""
    if options.backend != "PROXY_V4":
        return ""
    address = socket.getaddrinfo(options.server, options.server_port,
                                 type=socket.SOCK_STREAM)[0][4][0]
    return (f"\t\t\tSrv_Addr = {address};\n"
            f"\t\t\tNFS_Port = {options.server_port};\n")


def mount_lines(options):
    """(version, command) for each version that is served."""
    source = f"{address_of_this_machine()}:{PSEUDO}"
    lines = [("3", f"mount -t nfs -o vers=3,proto=tcp,port={options.port},"
              f"mountport={options.mount_port},mountproto=tcp,nolock "
              f"{source} /mnt")]
    lines += [(f"4.{minor}", f"mount -t nfs -o vers=4.{minor},proto=tcp,"
               f"port={options.port} {source} /mnt")
              for minor in options.minor_versions]
    return lines


def address_of_this_machine():
    """The address towards the default route, which clients can reach."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Connecting a datagram socket sends nothing.
            probe.connect(("192.0.2.1", 9))
            return probe.getsockname()[0]
        except OSError:
            return "127.0.0.1"
