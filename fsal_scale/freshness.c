// SPDX-License-Identifier: LGPL-3.0-or-later
#include "freshness.h"

#include "scale.h"

#include "export_mgr.h"
#include "nfs_exports.h"

/** Of a file's age, the part that it may be told of without being asked for. */
#define ALEX_SHARE 10

/** Ganesha's own default of Attr_Expiration_Time, seconds. */
#define DEFAULT_TTL 60

const char *scale_freshness_mode_name(enum scale_freshness_mode mode)
{
	static const char *const names[] = { "auto",   "off", "ttl",
					     "upcall", "ask", "notify" };

	return names[mode];
}

/* What the export itself says; EXPORT_DEFAULTS are not ours to see. */
static bool export_expiry(int32_t *seconds)
{
	const struct export_perms *perms = &op_ctx->ctx_export->export_perms;

	if ((perms->set & EXPORT_OPTION_EXPIRE_SET) == 0)
		return false;
	*seconds = perms->expire_time_attr;
	return true;
}

static uint32_t to_ms(int32_t ttl, int32_t otherwise)
{
	if (ttl == SCALE_TTL_DEFAULT)
		ttl = otherwise;
	if (ttl < 0)
		return MDX_FOREVER;
	return (uint32_t)MIN((uint64_t)ttl * 1000, MDX_FOREVER - 1);
}

static enum scale_freshness_mode best(const struct scale_freshness_config *cfg,
				      const char *backend, bool always_asked)
{
	/* libcephfs's capabilities make its own answers cheap and right. */
	if (strcasecmp(backend, "CEPH") == 0 && always_asked)
		return SCALE_ASK;
	if (strcasecmp(backend, "VFS") == 0 && cfg->attr_ttl != 0)
		return SCALE_NOTIFY;
	return SCALE_TTL;
}

/* Those that send invalidations of attributes; another stackable FSAL may pass
 * on what comes from below it.
 */
static bool sends_upcalls(const char *backend)
{
	static const char *const silent[] = { "VFS",	  "XFS",      "LUSTRE",
					      "PROXY_V3", "PROXY_V4", "CEPH",
					      "RGW" };

	return !scale_is_one_of(backend, silent,
				sizeof(silent) / sizeof(silent[0]));
}

void scale_freshness_ttl(const struct scale_freshness_config *cfg,
			 enum scale_freshness_mode mode,
			 struct scale_freshness *fresh)
{
	int32_t expiry;

	/* Whoever is told of changes does without MDCACHE, too. */
	if (!export_expiry(&expiry) ||
	    (expiry == 0 && (mode == SCALE_UPCALL || mode == SCALE_NOTIFY)))
		expiry = DEFAULT_TTL;
	fresh->mode = mode;
	fresh->attr_ms = to_ms(cfg->attr_ttl, expiry);
	fresh->name_ms = to_ms(cfg->name_ttl, expiry);
	fresh->negative_ms = to_ms(cfg->negative_ttl, expiry);
}

bool scale_freshness_settle(const struct scale_freshness_config *cfg,
			    const char *backend, void *node,
			    struct config_error_type *err_type,
			    struct scale_freshness *fresh)
{
	int32_t expiry;
	bool always_asked = export_expiry(&expiry) && expiry == 0;

	*fresh = (struct scale_freshness){
		.mode = cfg->mode,
		.automatic = cfg->mode == SCALE_AUTO,
	};
	if (fresh->automatic)
		fresh->mode = best(cfg, backend, always_asked);
	if (!always_asked &&
	    (fresh->mode == SCALE_ASK ||
	     (fresh->mode == SCALE_TTL && cfg->attr_ttl == 0))) {
		scale_config_error(
			node, err_type,
			"FSAL SCALE: %s asks the backend each time, "
			"but Ganesha's own cache above it would "
			"answer first: add Attr_Expiration_Time = 0; "
			"to the EXPORT block",
			fresh->mode == SCALE_ASK ? "Freshness = ask" :
						   "Attr_TTL = 0");
		err_type->invalid = true;
		return false;
	}
	if (fresh->mode == SCALE_UPCALL && !sends_upcalls(backend)) {
		scale_config_error(
			node, err_type,
			"FSAL SCALE: Freshness = upcall, but FSAL %s "
			"tells nobody of changes: write ttl",
			backend);
		err_type->invalid = true;
		return false;
	}
	if (fresh->mode == SCALE_NOTIFY && strcasecmp(backend, "VFS") != 0) {
		scale_config_error(
			node, err_type,
			"FSAL SCALE: Freshness = notify, but the kernel tells "
			"of changes in local file systems (FSAL VFS) only, not "
			"of those of FSAL %s: write auto",
			backend);
		err_type->invalid = true;
		return false;
	}
	if (fresh->mode == SCALE_NOTIFY && cfg->attr_ttl == 0) {
		scale_config_error(
			node, err_type,
			"FSAL SCALE: Freshness = notify with Attr_TTL = 0: "
			"leave Attr_TTL out, or, to ask each time, write ttl");
		err_type->invalid = true;
		return false;
	}
	switch (fresh->mode) {
	case SCALE_UPCALL:
	case SCALE_ASK:
		fresh->attr_ms = MDX_FOREVER;
		fresh->name_ms = MDX_FOREVER;
		fresh->negative_ms = MDX_FOREVER;
		break;
	default:
		scale_freshness_ttl(cfg, fresh->mode, fresh);
	}
	return true;
}

bool scale_freshness_alike(const struct scale_freshness *a,
			   const struct scale_freshness *b)
{
	return a->mode == b->mode && (a->attr_ms == 0) == (b->attr_ms == 0);
}

bool scale_freshness_announced(const struct scale_export *exp,
			       const fsal_fsid_t *fsid)
{
	unsigned int n;

	if (exp->fresh.mode != SCALE_NOTIFY)
		return exp->fresh.mode == SCALE_UPCALL && !exp->fresh.by_handle;
	n = atomic_load_explicit(&exp->fs_count, memory_order_acquire);
	for (unsigned int i = 0; i < n; i++) {
		if (exp->fs[i].fsid.major == fsid->major &&
		    exp->fs[i].fsid.minor == fsid->minor)
			return atomic_load_explicit(&exp->fs[i].watched,
						    memory_order_acquire);
	}
	return false;
}

/*
 * See notify.h: a tenth of the time that it has not been modified; or, for what
 * was copied here with its times, that it has been here.
 */
static uint32_t unannounced_ms(const struct scale_export *exp,
			       const struct mdx_attrs *attrs)
{
	struct timespec now;
	int64_t age;

	if (!(attrs->valid & MDX_MTIME) || exp->fresh.attr_ms == MDX_FOREVER)
		return exp->fresh.attr_ms;
	clock_gettime(CLOCK_REALTIME, &now);
	age = now.tv_sec - attrs->mtime.tv_sec;
	if (attrs->valid & MDX_CTIME)
		age = MIN(age, now.tv_sec - attrs->ctime.tv_sec);
	if (age >= (int64_t)(MDX_FOREVER / (1000 / ALEX_SHARE)))
		return MDX_FOREVER - 1;
	return MAX(exp->fresh.attr_ms,
		   (uint32_t)(MAX(age, 0) * (1000 / ALEX_SHARE)));
}

uint32_t scale_freshness_attrs(const struct scale_export *exp,
			       const struct mdx_attrs *attrs)
{
	const fsal_fsid_t fsid = { attrs->fsid_major, attrs->fsid_minor };

	if (exp->fresh.mode != SCALE_NOTIFY ||
	    !scale_freshness_announced(exp, &fsid))
		return exp->fresh.attr_ms;
	return attrs->type == REGULAR_FILE ? unannounced_ms(exp, attrs) :
					     MDX_FOREVER;
}

uint32_t scale_freshness_name_ms(const struct scale_export *exp,
				 const fsal_fsid_t *fsid, bool exists)
{
	uint32_t own = exists ? exp->fresh.name_ms : exp->fresh.negative_ms;

	if (exp->fresh.mode != SCALE_NOTIFY ||
	    !scale_freshness_announced(exp, fsid))
		return own;
	return MDX_FOREVER;
}
