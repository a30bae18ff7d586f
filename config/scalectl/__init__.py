# SPDX-License-Identifier: LGPL-3.0-or-later
"""scalectl, the administrator's command for SCALE on NFS-Ganesha."""
