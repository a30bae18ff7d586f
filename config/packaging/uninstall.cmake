# SPDX-License-Identifier: LGPL-3.0-or-later
#
# cmake -D MANIFEST=FILE -P uninstall.cmake: remove the files that an earlier
# 'make install' listed in FILE, and the folders of our own that are empty then.

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
	set(folder ${path})
	while(folder MATCHES "/nfs-ganesha-scale/")
		get_filename_component(folder ${folder} DIRECTORY)
		file(GLOB rest ${folder}/*)
		if(rest)
			break()
		endif()
		file(REMOVE_RECURSE ${folder})
	endwhile()
endforeach()
file(REMOVE ${MANIFEST})
