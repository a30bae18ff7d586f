// SPDX-License-Identifier: LGPL-3.0-or-later
#include "freshness.h"

#include "scale.h"

#include "export_mgr.h"
#include "nfs_exports.h"

/** Ganesha's own default of Attr_Expiration_Time, seconds. */
#define DEFAULT_TTL 60

const char *scale_freshness_name(enum scale_freshness_mode mode)
{
	static const char *const names[] = { "auto", "off", "ttl", "upcall",
					     "ask" };

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

static enum scale_freshness_mode best(const char *backend, bool always_asked)
{
	/* libcephfs's capabilities make its own answers cheap and right. */
	if (strcasecmp(backend, "CEPH") == 0 && always_asked)
		return SCALE_ASK;
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

	for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
		if (strcasecmp(backend, silent[i]) == 0)
			return false;
	}
	return true;
}

bool scale_freshness_settle(const struct scale_freshness_config *cfg,
			    const char *backend, void *node,
			    struct config_error_type *err_type,
			    struct scale_freshness *fresh)
{
	int32_t expiry = DEFAULT_TTL;
	bool always_asked = export_expiry(&expiry) && expiry == 0;

	fresh->mode = cfg->mode;
	if (fresh->mode == SCALE_AUTO)
		fresh->mode = best(backend, always_asked);
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
	switch (fresh->mode) {
	case SCALE_UPCALL:
	case SCALE_ASK:
		fresh->attr_ms = MDX_FOREVER;
		fresh->name_ms = MDX_FOREVER;
		fresh->negative_ms = MDX_FOREVER;
		break;
	default:
		fresh->attr_ms = to_ms(cfg->attr_ttl, expiry);
		fresh->name_ms = to_ms(cfg->name_ttl, expiry);
		fresh->negative_ms = to_ms(cfg->negative_ttl, expiry);
	}
	return true;
}

bool scale_freshness_alike(const struct scale_freshness *a,
			   const struct scale_freshness *b)
{
	return a->mode == b->mode && (a->attr_ms == 0) == (b->attr_ms == 0);
}

unsigned int scale_freshness_change_flags(const struct scale_export *exp)
{
	if (exp->fresh.mode == SCALE_UPCALL ||
	    (exp->fresh.mode == SCALE_TTL &&
	     exp->fresh.name_ms == MDX_FOREVER &&
	     exp->fresh.negative_ms == MDX_FOREVER))
		return 0;
	return MDX_DROP_COMPLETE;
}
