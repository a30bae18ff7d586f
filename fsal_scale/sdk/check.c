// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Does the SDK fit the installed Ganesha?
 *
 * Run by CMake at configure time.  Compares what the headers say with what
 * the binary is: the library's name (its version), the sizes of two exported
 * structures that change with nearly every release, and the FSAL version,
 * which the library itself is asked to accept.
 *
 * Prints one line.  Exit status: 0 fits, 1 does not.
 */
#include "config.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <dlfcn.h>

#include "fsal.h"
#include "FSAL/fsal_init.h"
#include "nfs_core.h"
#include "FSAL/fsal_config.h"
#include "FSAL/Stackable_FSALs/FSAL_MDCACHE/mdcache_ext.h"

/* mdcache_int.h, where struct mdcache_parameter and mdcache_param stand, is
 * not meant for others; the declaration is all that is needed here.
 */
#include "FSAL/Stackable_FSALs/FSAL_MDCACHE/mdcache_int.h"

static int check_size(void *lib, const char *name, size_t expect)
{
	const ElfW(Sym) *sym = NULL;
	Dl_info info;
	void *addr = dlsym(lib, name);

	if (addr == NULL ||
	    dladdr1(addr, &info, (void **)&sym, RTLD_DL_SYMENT) == 0 ||
	    sym == NULL) {
		printf("the library has no symbol %s", name);
		return 1;
	}
	if (sym->st_size != expect) {
		printf("%s is %zu bytes in the library, %zu in the headers",
		       name, (size_t)sym->st_size, expect);
		return 1;
	}
	return 0;
}

int main(void)
{
	static struct fsal_module probe;
	struct link_map *map = NULL;
	const char *soname = NULL;
	const char *strtab = NULL;
	size_t soname_off = 0;
	void *lib = dlopen(SCALE_LIBRARY, RTLD_NOW | RTLD_NOLOAD);

	if (lib == NULL || dlinfo(lib, RTLD_DI_LINKMAP, &map) != 0) {
		printf("%s cannot be loaded: %s", SCALE_LIBRARY, dlerror());
		return 1;
	}
	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_STRTAB)
			strtab = (const char *)d->d_un.d_ptr;
		else if (d->d_tag == DT_SONAME)
			soname_off = d->d_un.d_val;
	}
	if (strtab != NULL && soname_off != 0)
		soname = strtab + soname_off;
	if (soname == NULL || strcmp(soname, SCALE_SONAME) != 0) {
		printf("the library is %s, the headers are of %s",
		       soname ? soname : "unnamed", SCALE_SONAME);
		return 1;
	}
	if (check_size(lib, "nfs_param", sizeof(nfs_parameter_t)) != 0 ||
	    check_size(lib, "mdcache_param",
		       sizeof(struct mdcache_parameter)) != 0)
		return 1;
	/* A refusal is logged, and there is no log here to write it to. */
	component_log_level[COMPONENT_INIT] = NIV_NULL;
	if (register_fsal(&probe, "PROBE", FSAL_MAJOR_VERSION,
			  FSAL_MINOR_VERSION, FSAL_ID_NO_PNFS) != 0) {
		printf("the library refuses FSAL version %d.%d",
		       FSAL_MAJOR_VERSION, FSAL_MINOR_VERSION);
		return 1;
	}
	printf("FSAL version %d.%d", FSAL_MAJOR_VERSION, FSAL_MINOR_VERSION);
	return 0;
}
