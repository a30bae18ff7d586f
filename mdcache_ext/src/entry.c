/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "entry.h"

#include <errno.h>

#include "cache.h"
#include "names.h"

static const unsigned int aside_words[] = { 5, 11, 17 };
static const unsigned int blob_sizes[] = { 56, 120, 248, 632 };

static uint32_t load32(const _Atomic uint32_t *p)
{
	return atomic_load_explicit(p, memory_order_acquire);
}

static void store32(_Atomic uint32_t *p, uint32_t v)
{
	atomic_store_explicit(p, v, memory_order_release);
}

static struct entry *entry_at(const struct mdx *c, uint32_t ref)
{
	return arena_ptr(&c->arena, ref);
}

/* --- Reading ------------------------------------------------------------- */

static bool stable(const struct entry *e, uint32_t seq)
{
	return atomic_load_explicit(&e->seq, memory_order_relaxed) == seq;
}

/* Copies what is aside. The references were verified before they are followed;
 * what they lead to is verified by the caller. */
static bool read_aside(const struct mdx *c, const struct entry *e,
		       struct snap *s)
{
	const struct aside *a;
	unsigned int n = 0;

	s->aside = snap_hang(s);
	s->wide = 0;
	s->blobs = 0;
	if (s->aside && s->state & ENTRY_FILE) {
		const struct ext *x = arena_ptr(&c->arena, s->aside);

		s->aside = load32(&x->aside);
		if (!stable(e, s->seq))
			return false;
	}
	if (!s->aside)
		return true;
	a = arena_ptr(&c->arena, s->aside);
	s->blobs = (load32(&a->link) ? MDX_LINK : 0) |
		   (load32(&a->parent) ? MDX_PARENT : 0);
	if (!(snap_flags(s) & PACKED_WIDE))
		return true;
	s->wide = load32(&a->wide);
	for (unsigned int i = 0; i < WIDE_COUNT; i++)
		if (s->wide & 1u << i)
			s->words[i] = atomic_load_explicit(
				&a->words[n++], memory_order_acquire);
	return true;
}

enum read_result entry_read(const struct mdx *c, uint32_t ref,
			    const struct mdx_key *key, uint32_t gen,
			    struct snap *s)
{
	const struct entry *e = entry_at(c, ref);
	unsigned int words;

#ifdef __clang_analyzer__
	/* It does not see that the loop below fills in all words used. */
	memset(s, 0, sizeof(*s));
#endif
	s->ref = ref;
	s->seq = load32(&e->seq);
	s->gen = load32(&e->gen);
	s->key_len = atomic_load_explicit(&e->key_len, memory_order_acquire);
	s->backend = atomic_load_explicit(&e->backend, memory_order_acquire);
	if (!key && s->gen != gen)
		return READ_OTHER; /* for ever: generations do not return */
	if (s->seq & 1)
		return READ_BUSY;
	if (key && (s->key_len != key->len || s->backend != key->backend))
		return stable(e, s->seq) ? READ_OTHER : READ_BUSY;
	s->state = atomic_load_explicit(&e->state, memory_order_acquire);
	s->epoch = load32(&e->epoch);
	words = entry_words(s->key_len);
	for (unsigned int i = 0; i < words; i++)
		s->w[i] = atomic_load_explicit(&e->w[i], memory_order_acquire);
	if (!stable(e, s->seq))
		return READ_BUSY;
	if (key && memcmp(snap_key(s), key->bytes, key->len) != 0)
		return READ_OTHER;
	if (snap_hang(s) && (!read_aside(c, e, s) || !stable(e, s->seq)))
		return READ_BUSY;
	if (!snap_hang(s)) {
		s->aside = 0;
		s->wide = 0;
		s->blobs = 0;
	}
	return READ_OK;
}

bool entry_unchanged(const struct mdx *c, const struct snap *s)
{
	return stable(entry_at(c, s->ref), s->seq);
}

void entry_copy(const struct mdx *c, uint32_t ref, struct snap *s)
{
	/* Under the lock nobody writes: the first attempt succeeds. */
	entry_read(c, ref, NULL, block_generation(entry_at(c, ref)), s);
}

uint64_t entry_hash(const struct mdx *c, uint32_t ref)
{
	struct snap s;

	entry_copy(c, ref, &s);
	return hash_of(c,
		       (struct mdx_key){ snap_key(&s), s.key_len, s.backend });
}

void snap_attrs(const struct mdx *c, const struct snap *s,
		struct mdx_attrs *attrs)
{
	struct packed p = {
		.fileid = s->w[W_FILEID],
		.atime = s->w[W_ATIME],
		.mtime = s->w[W_MTIME],
		.ctime = s->w[W_CTIME],
		.size_ident = s->w[W_SIZE_IDENT],
		.mode_nlink_space_valid = s->w[W_MODE_NLINK_SPACE_VALID],
		.flags = snap_flags(s),
		.wide = (uint16_t)s->wide,
	};

	if (p.wide)
		memcpy(p.words, s->words, sizeof(p.words));
	attrs_unpack(&c->idents, &p, attrs);
}

/* --- Writing ------------------------------------------------------------- */

struct ext *entry_ext(const struct mdx *c, uint32_t ref)
{
	const struct entry *e = entry_at(c, ref);
	uint64_t w = atomic_load_explicit(&e->w[W_FRESH_ASIDE],
					  memory_order_relaxed);

	return arena_ptr(&c->arena, (uint32_t)(w >> 32));
}

static void set_hang(struct entry *e, uint32_t hang)
{
	uint64_t w = atomic_load_explicit(&e->w[W_FRESH_ASIDE],
					  memory_order_relaxed);

	atomic_store_explicit(&e->w[W_FRESH_ASIDE],
			      (uint64_t)hang << 32 | (uint32_t)w,
			      memory_order_release);
}

static uint32_t get_hang(const struct entry *e)
{
	return (uint32_t)(atomic_load_explicit(&e->w[W_FRESH_ASIDE],
					       memory_order_relaxed) >>
			  32);
}

static uint32_t get_aside(const struct mdx *c, const struct entry *e)
{
	uint32_t hang = get_hang(e);

	if (hang && entry_in_file_tier(e)) {
		const struct ext *x = arena_ptr(&c->arena, hang);

		return load32(&x->aside);
	}
	return hang;
}

/* Within seq_begin and seq_end. */
static void set_aside(struct mdx *c, struct entry *e, uint32_t aside)
{
	if (entry_in_file_tier(e)) {
		struct ext *x = arena_ptr(&c->arena, get_hang(e));

		store32(&x->aside, aside);
	} else {
		set_hang(e, aside);
	}
}

static unsigned int entry_class(unsigned int key_len)
{
	unsigned int bytes = sizeof(struct entry) + BYTE_KEY + key_len;

	return CLASS_ENTRY_FIRST + (bytes <= 96 ? 0 : (bytes - 96 + 15) / 16);
}

uint32_t entry_new(struct mdx *c, struct shard *sh, const struct mdx_key *key,
		   uint32_t epoch)
{
	unsigned int class = entry_class(key->len);
	uint32_t ref = arena_alloc(&c->arena, class);
	uint64_t w[WORDS_MAX] = { [W_FRESH_ASIDE] = TICK_FOREVER };
	struct entry *e;

	if (!ref) {
		sh->need = (uint8_t) class;
		return 0;
	}
	e = entry_at(c, ref);
	memcpy((uint8_t *)w + BYTE_KEY, key->bytes, key->len);
	entry_new_generation(c, ref); /* the number stays odd */
	e->next = 0;
	e->prev = 0;
	atomic_store_explicit(&e->uses, 0, memory_order_relaxed);
	atomic_store_explicit(&e->state, 0, memory_order_release);
	atomic_store_explicit(&e->key_len, key->len, memory_order_release);
	atomic_store_explicit(&e->backend, key->backend, memory_order_release);
	store32(&e->epoch, epoch);
	for (unsigned int i = 0; i < entry_words(key->len); i++)
		atomic_store_explicit(&e->w[i], w[i], memory_order_release);
	seq_end(&e->seq);
	return ref;
}

static uint32_t entry_acl(const struct entry *e)
{
	uint64_t w = atomic_load_explicit(&e->w[W_BYTES], memory_order_relaxed);
	uint32_t acl;

	memcpy(&acl, &w, sizeof(acl));
	return acl;
}

static void free_if(struct mdx *c, uint32_t ref)
{
	if (ref)
		arena_free(&c->arena, ref);
}

/* Frees a block of aside with what it refers to. */
static void free_aside(struct mdx *c, uint32_t ref)
{
	struct aside *a;

	if (!ref)
		return;
	a = arena_ptr(&c->arena, ref);
	free_if(c, load32(&a->link));
	free_if(c, load32(&a->parent));
	attach_drop(c, load32(&a->other));
	arena_free(&c->arena, ref);
}

void entry_delete(struct mdx *c, uint32_t ref)
{
	struct entry *e = entry_at(c, ref);
	uint32_t aside = get_aside(c, e);

	if (entry_in_file_tier(e))
		entry_drop_ext(c, ref);
	seq_begin(&e->seq);
	entry_new_generation(c, ref);
	attach_drop(c, entry_acl(e));
	set_hang(e, 0);
	free_aside(c, aside);
	arena_free(&c->arena, ref);
}

void entry_new_generation(struct mdx *c, uint32_t ref)
{
	struct entry *e = entry_at(c, ref);

	store32(&e->gen, block_generation(e) + 1);
}

static unsigned int count_words(uint32_t wide)
{
	return (unsigned int)__builtin_popcount(wide);
}

static unsigned int room_of(const struct mdx *c, uint32_t aside)
{
	return aside_words[arena_class_of(&c->arena, aside) - CLASS_ASIDE_FIRST];
}

/* An aside with room for so many words, with the references of the old one. */
static uint32_t new_aside(struct mdx *c, struct shard *sh, uint32_t owner,
			  uint32_t old, unsigned int words)
{
	unsigned int class = CLASS_ASIDE_FIRST;
	const struct aside *from = old ? arena_ptr(&c->arena, old) : NULL;
	struct aside *a;
	uint32_t ref;

	while (class < CLASS_ASIDE_LAST &&
	       aside_words[class - CLASS_ASIDE_FIRST] < words)
		class ++;
	ref = arena_alloc(&c->arena, class);
	if (!ref) {
		sh->need = (uint8_t) class;
		return 0;
	}
	a = arena_ptr(&c->arena, ref);
	store32(&a->owner, owner);
	store32(&a->link, from ? load32(&from->link) : 0);
	store32(&a->parent, from ? load32(&from->parent) : 0);
	store32(&a->other, from ? load32(&from->other) : 0);
	store32(&a->wide, 0);
	return ref;
}

static bool aside_is_bare(const struct aside *a)
{
	return !load32(&a->link) && !load32(&a->parent) && !load32(&a->other);
}

int entry_store(struct mdx *c, struct shard *sh, uint32_t ref, struct snap *old,
		const struct mdx_attrs *attrs, uint8_t known, uint32_t acl,
		uint32_t other, uint32_t fresh, uint32_t epoch)
{
	struct entry *e = entry_at(c, ref);
	uint32_t aside = old->aside, gone = 0;
	struct aside *a = aside ? arena_ptr(&c->arena, aside) : NULL;
	uint32_t old_acl = snap_acl(old);
	uint32_t old_other = a ? load32(&a->other) : 0;
	struct packed p;
	uint8_t flags;
	unsigned int n;

	attrs_pack(&c->idents, attrs, &p);
	n = count_words(p.wide);
	if ((n || other) && (!a || room_of(c, aside) < n)) {
		uint32_t fresh_aside = new_aside(c, sh, ref, aside, n);

		if (!fresh_aside)
			return -EAGAIN;
		gone = aside;
		aside = fresh_aside;
		a = arena_ptr(&c->arena, aside);
	}
	/* From here on nothing fails. */
	if (acl && acl != old_acl)
		attach_hold(attach_by_number(c, acl));
	if (other && other != old_other)
		attach_hold(attach_by_number(c, other));
	seq_begin(&e->seq);
	if (a) {
		unsigned int at = 0;

		store32(&a->other, other);
		store32(&a->wide, p.wide);
		for (unsigned int i = 0; i < WIDE_COUNT; i++)
			if (p.wide & 1u << i)
				atomic_store_explicit(&a->words[at++],
						      p.words[i],
						      memory_order_release);
		if (!n && aside_is_bare(a)) {
			gone = aside;
			aside = 0;
		}
	}
	set_aside(c, e, aside);
	old->w[W_FRESH_ASIDE] = (uint64_t)get_hang(e) << 32 | fresh;
	old->w[W_FILEID] = p.fileid;
	old->w[W_ATIME] = p.atime;
	old->w[W_MTIME] = p.mtime;
	old->w[W_CTIME] = p.ctime;
	old->w[W_SIZE_IDENT] = p.size_ident;
	old->w[W_MODE_NLINK_SPACE_VALID] = p.mode_nlink_space_valid;
	memcpy(snap_bytes(old) + BYTE_ACL, &acl, sizeof(acl));
	flags = p.flags | known;
	memcpy(snap_bytes(old) + BYTE_FLAGS, &flags, 1);
	for (unsigned int i = 0; i <= W_BYTES; i++)
		atomic_store_explicit(&e->w[i], old->w[i],
				      memory_order_release);
	store32(&e->epoch, epoch);
	seq_end(&e->seq);
	if (old_acl != acl)
		attach_drop(c, old_acl);
	if (old_other != other)
		attach_drop(c, old_other);
	free_if(c, gone);
	return 0;
}

/* --- Blobs --------------------------------------------------------------- */

static _Atomic uint32_t *blob_place(struct aside *a, uint32_t which)
{
	return which == MDX_LINK ? &a->link : &a->parent;
}

void entry_drop_blobs(struct mdx *c, uint32_t ref, uint32_t mask)
{
	struct entry *e = entry_at(c, ref);
	uint32_t aside = get_aside(c, e);
	struct aside *a;
	uint32_t link = 0, parent = 0, gone = 0;

	if (!aside)
		return;
	a = arena_ptr(&c->arena, aside);
	seq_begin(&e->seq);
	if (mask & MDX_LINK) {
		link = load32(&a->link);
		store32(&a->link, 0);
	}
	if (mask & MDX_PARENT) {
		parent = load32(&a->parent);
		store32(&a->parent, 0);
	}
	if (!load32(&a->wide) && aside_is_bare(a)) {
		set_aside(c, e, 0);
		gone = aside;
	}
	seq_end(&e->seq);
	free_if(c, link);
	free_if(c, parent);
	free_if(c, gone);
}

int entry_set_blob(struct mdx *c, struct shard *sh, uint32_t ref,
		   uint32_t which, const void *bytes, size_t len)
{
	struct entry *e = entry_at(c, ref);
	uint32_t aside = get_aside(c, e), blob, old;
	unsigned int class = CLASS_BLOB_FIRST;
	uint64_t w[(MDX_BLOB_MAX + 7) / 8] = { 0 };
	struct aside *a;
	struct blob *b;

	while (blob_sizes[class - CLASS_BLOB_FIRST] < len)
		class ++;
	blob = arena_alloc(&c->arena, class);
	if (!blob) {
		sh->need = (uint8_t) class;
		return -EAGAIN;
	}
	b = arena_ptr(&c->arena, blob);
	memcpy(w, bytes, len);
	store32(&b->owner, ref);
	store32(&b->len, (uint32_t)len);
	for (size_t i = 0; i < (len + 7) / 8; i++)
		atomic_store_explicit(&b->words[i], w[i], memory_order_release);
	if (!aside) {
		aside = new_aside(c, sh, ref, 0, 0);
		if (!aside) {
			arena_free(&c->arena, blob);
			return -EAGAIN;
		}
	}
	a = arena_ptr(&c->arena, aside);
	seq_begin(&e->seq);
	old = load32(blob_place(a, which));
	store32(blob_place(a, which), blob);
	set_aside(c, e, aside);
	seq_end(&e->seq);
	free_if(c, old);
	return 0;
}

int entry_read_blob(const struct mdx *c, const struct snap *s, uint32_t which,
		    void *buf, size_t size)
{
	uint64_t w[(MDX_BLOB_MAX + 7) / 8];
	const struct blob *b;
	struct aside *a;
	uint32_t ref, len;

	if (!s->aside)
		return -ENOENT;
	a = arena_ptr(&c->arena, s->aside);
	ref = load32(blob_place(a, which));
	if (!entry_unchanged(c, s))
		return -EAGAIN;
	if (!ref)
		return -ENOENT;
	b = arena_ptr(&c->arena, ref);
	len = load32(&b->len);
	/* A length that belongs to another blob is found out below. */
	for (size_t i = 0; i < (len + 7) / 8 && i < sizeof(w) / 8; i++)
		w[i] = atomic_load_explicit(&b->words[i], memory_order_acquire);
	if (!entry_unchanged(c, s))
		return -EAGAIN;
	if (size) /* without a buffer, only the length is asked for */
		memcpy(buf, w, len < size ? len : size);
	return (int)len;
}

/* --- Ext ----------------------------------------------------------------- */

int entry_add_ext(struct mdx *c, struct shard *sh, uint32_t ref)
{
	struct entry *e = entry_at(c, ref);
	uint32_t hang = arena_alloc(&c->arena, CLASS_EXT);
	struct ext *x;

	if (!hang) {
		sh->need = CLASS_EXT;
		return -EAGAIN;
	}
	x = arena_ptr(&c->arena, hang);
	seq_begin(&e->seq);
	store32(&x->owner, ref);
	store32(&x->aside, get_hang(e));
	store32(&x->root, 0);
	store32(&x->names_until, 0);
	store32(&x->absent_until, 0);
	store32(&x->changed, 0);
	atomic_store_explicit(&x->names_state, ticket_advance(c) << NAMES_FLAGS,
			      memory_order_release);
	x->population = 0;
	x->hand = 0;
	x->names = 0;
	x->leaves = 0;
	x->pins = 0;
	x->holes = false;
	x->doubted = 0;
	atomic_store_explicit(&x->probed, false, memory_order_release);
	store32(&x->pages, 0);
	atomic_fetch_or_explicit(&e->state, ENTRY_FILE, memory_order_release);
	set_hang(e, hang);
	seq_end(&e->seq);
	return 0;
}

void entry_drop_ext(struct mdx *c, uint32_t ref)
{
	struct entry *e = entry_at(c, ref);
	uint32_t hang = get_hang(e);
	struct ext *x = arena_ptr(&c->arena, hang);

	names_drop(c, ref);
	seq_begin(&e->seq);
	atomic_fetch_and_explicit(&e->state, (uint8_t)~ENTRY_FILE,
				  memory_order_release);
	set_hang(e, load32(&x->aside));
	seq_end(&e->seq);
	store32(&x->owner, 0);
	attach_drop(c, load32(&x->pages));
	arena_free(&c->arena, hang);
}

void entry_set_pages(struct mdx *c, uint32_t ref, struct mdx_attachment *pages)
{
	struct entry *e = entry_at(c, ref);
	struct ext *x = entry_ext(c, ref);
	uint32_t before = load32(&x->pages);

	if (pages)
		attach_hold(pages);
	seq_begin(&e->seq);
	store32(&x->pages, pages ? pages->number : 0);
	seq_end(&e->seq);
	attach_drop(c, before);
}
