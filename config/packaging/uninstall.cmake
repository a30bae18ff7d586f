# SPDX-License-Identifier: LGPL-3.0-or-later
#
# cmake -D MANIFEST=FILE -P uninstall.cmake: remove the files that an earlier
# 'make install' listed in FILE.

if(NOT EXISTS ${MANIFEST})
	message(FATAL_ERROR "Nothing was installed from this build folder: "
		"${MANIFEST} does not exist.")
endif()
file(STRINGS ${MANIFEST} files)
foreach(file IN LISTS files)
	set(path $ENV{DESTDIR}${file})
	if(EXISTS ${path} OR IS_SYMLINK ${path})
		message(STATUS "Removing ${path}")
		file(REMOVE ${path})
	endif()
endforeach()
file(REMOVE ${MANIFEST})
