# SPDX-License-Identifier: LGPL-3.0-or-later
#
# 'cpack' makes nfs-ganesha-scale_VERSION_ARCH.deb in the build folder; 'make
# install' installs the same files.

# Ganesha looks for its modules in Debian's multiarch folder only.
if(NOT CMAKE_INSTALL_LIBDIR STREQUAL "lib/${CMAKE_LIBRARY_ARCHITECTURE}")
	message(WARNING "CMAKE_INSTALL_LIBDIR is ${CMAKE_INSTALL_LIBDIR}: "
		"Ganesha finds its modules in lib/${CMAKE_LIBRARY_ARCHITECTURE}")
endif()

set(doc ${CMAKE_CURRENT_LIST_DIR})
set(packed ${CMAKE_CURRENT_BINARY_DIR}/packaging)
file(MAKE_DIRECTORY ${packed})
configure_file(${doc}/changelog.in ${packed}/changelog @ONLY)
find_program(GZIP gzip REQUIRED)
add_custom_command(OUTPUT ${packed}/changelog.gz
	COMMAND sh -c "'${GZIP}' -9nc changelog >changelog.gz"
	DEPENDS ${packed}/changelog
	WORKING_DIRECTORY ${packed}
	VERBATIM)
add_custom_target(changelog ALL DEPENDS ${packed}/changelog.gz)
install(FILES ${packed}/changelog.gz ${doc}/copyright
	DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/nfs-ganesha-scale)
install(FILES ${doc}/lintian-overrides
	DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides
	RENAME nfs-ganesha-scale)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME nfs-ganesha-scale)
set(CPACK_PACKAGE_CONTACT "SCALE developers <scale@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
	OWNER_READ OWNER_WRITE OWNER_EXECUTE
	GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
# A module linked to another Ganesha stops the whole server: the dependency is
# on exactly the version that the headers came from.
set(CPACK_DEBIAN_PACKAGE_DEPENDS
	"nfs-ganesha (= ${SCALE_GANESHA_PACKAGE_VERSION}), python3:any")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "nfs-ganesha-vfs")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
	"nfs-ganesha-ceph, nfs-ganesha-gluster, nfs-ganesha-proxy-v4")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${GANESHA_LIBDIR})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "metadata cache for NFS-Ganesha")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
	"A FSAL that is stacked between NFS-Ganesha and a backend such as VFS, CEPH,
GLUSTER or PROXY_V4, for servers whose clients use more files than Ganesha's
own metadata cache holds well.

It is built for the nfs-ganesha package of exactly one version.")
include(CPack)
