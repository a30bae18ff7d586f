// SPDX-License-Identifier: LGPL-3.0-or-later
#include "gluster.h"

#include "freshness.h"
#include "gluster_spec.h"
#include "scale.h"

#include <stdarg.h>
#include <stdlib.h>
#include <strings.h>

/** Gluster's own defaults. */
#define DEFAULT_TIMEOUT_S 60
#define DEFAULT_INODES	  16384

/** What is recommended. */
#define GOOD_TIMEOUT_S 600
#define GOOD_INODES    200000

/** Seconds: a brick counts from our last access, and its clock is coarse. */
#define MARGIN_S 30

/** What is gathered from the volfiles. */
struct findings {
	/** volume file: of the block that is being read */
	char type[64];
	char host[256];
	char path[1024];
	bool invalidates;
	/** of the whole file */
	bool upcalls;
	uint32_t timeout;
	uint32_t inodes;
	bool caches_stale;
	/** ids of bricks, each ended by '\0' */
	char *bricks;
	size_t bricks_len;
	unsigned int num_bricks;
};

static bool is_true(const char *value)
{
	static const char *const words[] = { "on", "yes", "true", "enable",
					     "1" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasecmp(value, words[i]) == 0)
			return true;
	}
	return false;
}

static uint32_t to_number(const char *value, uint32_t otherwise)
{
	char *end;
	unsigned long number = strtoul(value, &end, 10);

	return end == value || number > UINT32_MAX ? otherwise :
						     (uint32_t)number;
}

static void copy(char *to, size_t size, const char *from)
{
	(void)snprintf(to, size, "%s", from);
}

static void read_option(struct findings *f, const char *key, const char *value)
{
	if (strcmp(key, "cache-invalidation") == 0)
		f->invalidates = is_true(value);
	else if (strcmp(key, "cache-invalidation-timeout") == 0)
		f->timeout = to_number(value, 0);
	else if (strcmp(key, "inode-lru-limit") == 0)
		f->inodes = to_number(value, DEFAULT_INODES);
	else if (strcmp(key, "remote-host") == 0)
		copy(f->host, sizeof(f->host), value);
	else if (strcmp(key, "remote-subvolume") == 0)
		copy(f->path, sizeof(f->path), value);
}

static void add_brick(struct findings *f, const char *volume)
{
	const char *path = f->path[0] == '/' ? f->path + 1 : f->path;
	char id[sizeof(f->host) + sizeof(f->path) + NAME_MAX];
	size_t dash, len;

	(void)snprintf(id, sizeof(id), "%s.%s.", volume, f->host);
	dash = strlen(id);
	copy(id + dash, sizeof(id) - dash, path);
	for (char *c = id + dash; *c != '\0'; c++) {
		if (*c == '/')
			*c = '-';
	}
	len = strlen(id) + 1;
	f->bricks = gsh_realloc(f->bricks, f->bricks_len + len);
	memcpy(f->bricks + f->bricks_len, id, len);
	f->bricks_len += len;
	f->num_bricks++;
}

static void end_block(struct findings *f, const char *volume)
{
	if (strcmp(f->type, "protocol/client") == 0)
		add_brick(f, volume);
	else if (strcmp(f->type, "performance/md-cache") == 0)
		f->caches_stale = !f->invalidates;
	else if (strcmp(f->type, "features/upcall") == 0)
		f->upcalls = f->invalidates;
}

/* Lines of "volume NAME", "type TYPE", "option KEY VALUE", "end-volume". */
static void read_volfile(struct findings *f, char *text, const char *volume)
{
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n")) != NULL) {
		char *words = line, *word;

		while (*words == ' ' || *words == '\t')
			words++;
		word = strsep(&words, " ");
		if (strcmp(word, "end-volume") == 0) {
			end_block(f, volume);
		} else if (words == NULL) {
			continue;
		} else if (strcmp(word, "volume") == 0) {
			f->type[0] = f->host[0] = f->path[0] = '\0';
			f->invalidates = false;
		} else if (strcmp(word, "type") == 0) {
			copy(f->type, sizeof(f->type), words);
		} else if (strcmp(word, "option") == 0) {
			word = strsep(&words, " ");
			if (words != NULL)
				read_option(f, word, words);
		}
	}
}

/* Each brick's; the worst of them counts. */
static int read_bricks(struct findings *worst, scale_gluster_get *get,
		       void *arg)
{
	const char *id = worst->bricks;

	for (unsigned int i = 0; i < worst->num_bricks; i++) {
		struct findings f = { .timeout = DEFAULT_TIMEOUT_S,
				      .inodes = DEFAULT_INODES };
		char *text;
		int rc = get(arg, id, &text);

		if (rc != 0)
			return rc;
		read_volfile(&f, text, "");
		free(text);
		worst->upcalls = worst->upcalls && f.upcalls;
		worst->timeout = MIN(worst->timeout, f.timeout);
		worst->inodes = MIN(worst->inodes, f.inodes);
		id += strlen(id) + 1;
	}
	return 0;
}

static void say(struct scale_gluster_verdict *v, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct scale_gluster_verdict *v, const char *format, ...)
{
	size_t len = strlen(v->why);
	va_list args;

	va_start(args, format);
	(void)vsnprintf(v->why + len, sizeof(v->why) - len, format, args);
	va_end(args);
}

static void conclude(const char *volume, uint32_t seconds,
		     const struct findings *f, struct scale_gluster_verdict *v)
{
	bool brief = f->timeout < seconds;

	v->inodes = f->inodes;
	if (f->upcalls && !brief && !f->caches_stale) {
		v->tells = true;
		say(v,
		    "volume %s tells of changes, for %" PRIu32
		    " s after an access",
		    volume, f->timeout);
		return;
	}
	say(v, "volume %s does not tell of all changes; set:", volume);
	if (!f->upcalls)
		say(v, " gluster volume set %s features.cache-invalidation on;",
		    volume);
	if (brief)
		say(v,
		    " gluster volume set %s features.cache-invalidation-timeout %u;",
		    volume, MAX(seconds, GOOD_TIMEOUT_S));
	if (f->caches_stale)
		say(v, " gluster volume set %s performance.stat-prefetch off;",
		    volume);
	if (f->inodes < GOOD_INODES)
		say(v, " gluster volume set %s network.inode-lru-limit %u;",
		    volume, GOOD_INODES);
	say(v, " then remove the export and add it, or restart the server");
}

void scale_gluster_judge(const char *volume, uint32_t seconds,
			 scale_gluster_get *get, void *arg,
			 struct scale_gluster_verdict *verdict)
{
	struct findings f = { .num_bricks = 0 };
	char *text;
	int rc;

	*verdict = (struct scale_gluster_verdict){ .tells = false };
	rc = get(arg, volume, &text);
	if (rc == 0) {
		read_volfile(&f, text, volume);
		free(text);
		f.upcalls = true;
		f.timeout = UINT32_MAX;
		f.inodes = UINT32_MAX;
		rc = f.num_bricks == 0 ? -ENOENT : read_bricks(&f, get, arg);
	}
	if (rc == 0)
		conclude(volume, seconds, &f, verdict);
	else
		say(verdict,
		    "its glusterd does not say whether volume %s tells of changes: %s",
		    volume, strerror(-rc));
	gsh_free(f.bricks);
}

/* --- The FSAL block ------------------------------------------------------ */

/** What FSAL GLUSTER reads there. */
struct block {
	char *host;
	char *volume;
	bool enable_upcall;
};

static struct config_item block_params[] = {
	CONF_ITEM_STR("hostname", 1, MAXPATHLEN, NULL, block, host),
	CONF_ITEM_STR("volume", 1, MAXPATHLEN, NULL, block, volume),
	CONF_ITEM_BOOL("enable_upcall", true, block, enable_upcall), CONFIG_EOL
};

static struct config_block block_desc = {
	.dbus_interface_name = "org.ganesha.nfsd.config.fsal.scale-gluster%d",
	.blk_desc.name = "FSAL",
	.blk_desc.type = CONFIG_BLOCK,
	.blk_desc.flags = CONFIG_RELAX,
	.blk_desc.u.blk.init = noop_conf_init,
	.blk_desc.u.blk.params = block_params,
	.blk_desc.u.blk.commit = noop_conf_commit
};

/* What is wrong with the block, FSAL GLUSTER says when it reads it. */
static bool read_block(void *node, struct block *block)
{
	struct config_error_type unheard;

	memset(&unheard, 0, sizeof(unheard));
	*block = (struct block){ .host = NULL };
	return load_config_from_node(node, &block_desc, block, true,
				     &unheard) == 0 &&
	       block->host != NULL && block->volume != NULL;
}

static void free_block(struct block *block)
{
	gsh_free(block->host);
	gsh_free(block->volume);
}

void scale_gluster_volume(void *backend_node, char *name, size_t size)
{
	struct block block;

	(void)read_block(backend_node, &block);
	copy(name, size, block.volume == NULL ? "" : block.volume);
	free_block(&block);
}

/* --- Settling ------------------------------------------------------------ */

static int get_from_glusterd(void *arg, const char *id, char **text)
{
	return gluster_spec_get(arg, id, text);
}

static void ask(void *backend_node, uint32_t seconds,
		struct scale_gluster_verdict *v)
{
	struct gluster_spec *spec = NULL;
	struct block block;
	int rc = 0;

	*v = (struct scale_gluster_verdict){ .tells = false };
	if (!read_block(backend_node, &block)) {
		say(v, "its FSAL block is incomplete");
	} else if (!block.enable_upcall) {
		say(v, "enable_upcall = false; take it out");
	} else {
		rc = gluster_spec_open(block.host, GLUSTERD_PORT, &spec);
		if (rc == 0)
			scale_gluster_judge(block.volume, seconds,
					    get_from_glusterd, spec, v);
		else
			say(v,
			    "glusterd on %s, which knows whether volume %s tells of changes, cannot be asked: %s",
			    block.host, block.volume, strerror(-rc));
	}
	gluster_spec_close(spec);
	free_block(&block);
}

static void announce(const struct scale_gluster_verdict *v)
{
	if (v->tells)
		LogEvent(
			COMPONENT_FSAL,
			"FSAL SCALE over GLUSTER: %s can be kept fresh by upcall: %s",
			CTX_FULLPATH(op_ctx), v->why);
	else
		LogWarn(COMPONENT_FSAL,
			"FSAL SCALE over GLUSTER: %s is kept fresh by ttl, not by upcall: %s",
			CTX_FULLPATH(op_ctx), v->why);
	if (v->tells && v->inodes < GOOD_INODES)
		LogWarn(COMPONENT_FSAL,
			"FSAL SCALE over GLUSTER: the bricks of %s keep %" PRIu32
			" objects each, and send an up-call for each one that they drop; with more in use set network.inode-lru-limit to %u",
			CTX_FULLPATH(op_ctx), v->inodes, GOOD_INODES);
}

/* Whoever wants what is known to live for ever does so at his own risk. */
static uint32_t longest_life(const struct scale_freshness *fresh)
{
	uint32_t ms = 0;

	if (fresh->attr_ms != MDX_FOREVER)
		ms = MAX(ms, fresh->attr_ms);
	if (fresh->name_ms != MDX_FOREVER)
		ms = MAX(ms, fresh->name_ms);
	if (fresh->negative_ms != MDX_FOREVER)
		ms = MAX(ms, fresh->negative_ms);
	return ms / 1000;
}

void scale_gluster_settle(const struct scale_freshness_config *cfg,
			  const char *backend, void *backend_node,
			  const struct scale_freshness *served,
			  struct scale_freshness *fresh)
{
	struct scale_gluster_verdict verdict = { .tells = false };

	if (strcasecmp(backend, "GLUSTER") != 0 ||
	    (cfg->mode != SCALE_AUTO && cfg->mode != SCALE_UPCALL))
		return;
	scale_freshness_ttl(cfg, SCALE_UPCALL, fresh);
	fresh->by_handle = true;
	if (served != NULL) {
		verdict.tells = served->mode == SCALE_UPCALL;
	} else {
		ask(backend_node, longest_life(fresh) + MARGIN_S, &verdict);
		announce(&verdict);
	}
	if (verdict.tells)
		return;
	scale_freshness_ttl(cfg, SCALE_TTL, fresh);
	fresh->by_handle = false;
}
