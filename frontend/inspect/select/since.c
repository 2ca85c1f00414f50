/* since.c - says whether lines changed since a revision. The diff of a file is computed when it is first asked about,
 * then kept. */
#include "since.h"

#include "diff.h"
#include "engine/base/array.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const myth_source *src;
    myth_diff diff; /* has one file, or none when nothing changed */
    bool is_new;    /* every line counts as new */
} compared;

struct myth_since {
    myth_mem *mem;
    myth_revision *side;
    bool is_rooted;
    compared *file;
    uint32_t n_file, cap_file, n_failed;
    char why[256], id[MYTH_REVISION_ID];
};

/* Writes the spec of the comparison with REV: "REV..B" when the inspected side is "A..B", else REV alone. */
static myth_status spec_of(char *dst, size_t cap, const myth_revision_opts *side, const char *rev, myth_error *err)
{
    const char *dots = side->spec && !side->is_staged ? strstr(side->spec, "..") : NULL;
    int n;
    if (!*rev || strstr(rev, ".."))
        return myth_fail(err, MYTH_EARG, "--since: got '%.100s', expected one revision", rev);
    if (dots) {
        dots += strspn(dots, ".");
        n = snprintf(dst, cap, "%s..%s", rev, *dots ? dots : "HEAD");
    } else {
        n = snprintf(dst, cap, "%s", rev);
    }
    return n < (int)cap ? MYTH_OK : myth_fail(err, MYTH_EARG, "--since: a revision of %d bytes", n);
}

/* Writes the folder of a file's path. */
static void folder_of(char dst[PATH_MAX], const char *path)
{
    const char *slash = strrchr(path, '/');
    snprintf(dst, PATH_MAX, "%.*s", slash ? (int)(slash - path) + (slash == path) : 1, slash ? path : ".");
}

myth_status myth_since_open(myth_since **out, const myth_revision_opts *side, const char *path, const char *rev,
                            myth_error *err)
{
    char spec[512], folder[PATH_MAX], top[PATH_MAX];
    myth_mem *mem;
    myth_error own = {0};
    myth_status st = myth_mem_open(&mem, 0, err);
    *out = NULL;
    if (st != MYTH_OK)
        return st;
    myth_since *s = myth_alloc(mem, MYTH_MEM_OTHER, "since", sizeof(*s));
    if (!s) {
        myth_mem_close(mem);
        return myth_fail(err, MYTH_ENOMEM, "--since: no memory");
    }
    s->mem = mem;
    s->is_rooted = side->root != NULL;
    MYTH_TRY(spec_of(spec, sizeof(spec), side, rev, err));
    if (!s->is_rooted && strcmp(path, "-") == 0)
        MYTH_TRY(myth_fail(err, MYTH_EARG, "--since: standard input has no history; give the file's name"));
    if (!s->is_rooted)
        folder_of(folder, path);
    const myth_revision_opts ro = {
        .root = s->is_rooted ? side->root : folder,
        .spec = spec,
        .is_staged = side->is_staged,
    };
    if ((st = myth_revision_open(&s->side, mem, &ro, &own)) != MYTH_OK) {
        if (own.code == MYTH_ENOTFOUND)
            myth_fail(err, st,
                      "--since %.60s: %.120s is in no git repository, so nothing is known of it; leave --since out",
                      rev, path);
        else
            myth_fail_option(err, st, own.option, "--since: %.240s", own.msg);
        goto fail;
    }
    if (!s->is_rooted)
        MYTH_TRY(myth_revision_locate(s->side, top, sizeof(top), path, err));
    myth_revision_old_id(s->side, s->id);
    *out = s;
    return MYTH_OK;
fail:
    myth_since_close(s);
    return st;
}

void myth_since_close(myth_since *s)
{
    if (!s)
        return;
    myth_mem *mem = s->mem;
    for (uint32_t i = 0; i < s->n_file; i++)
        myth_diff_free(&s->file[i].diff);
    myth_free(mem, s->file);
    myth_revision_close(s->side);
    myth_free(mem, s);
    myth_mem_close(mem);
}

const char *myth_since_id(const myth_since *s) { return s->id; }

uint32_t myth_since_n_failed(const myth_since *s, const char **why)
{
    *why = s->why;
    return s->n_failed;
}

static myth_status compare(myth_since *s, compared *c, myth_error *err)
{
    char path[PATH_MAX];
    char *text = NULL;
    size_t n = 0;
    myth_status st = MYTH_OK;
    if (!s->is_rooted)
        MYTH_TRY(myth_revision_locate(s->side, path, sizeof(path), c->src->path, err));
    else if (snprintf(path, sizeof(path), "%s%s", myth_revision_prefix(s->side), c->src->path) >= (int)sizeof(path))
        MYTH_TRY(myth_fail(err, MYTH_EARG, "%.160s: too long a path", c->src->path));
    MYTH_TRY(myth_revision_diff_file(s->side, &text, &n, path, c->src->bytes, c->src->len, err));
    MYTH_TRY(myth_diff_parse(&c->diff, s->mem, text, n, err));
    c->is_new = c->diff.n_file > 0 && (c->diff.file[0].is_binary || c->diff.file[0].skipped);
fail:
    myth_free(s->mem, text);
    return st;
}

static const compared *compared_with(myth_since *s, const myth_source *src)
{
    for (uint32_t i = 0; i < s->n_file; i++)
        if (s->file[i].src == src)
            return &s->file[i];
    if (!MYTH_ARRAY_ROOM(s->mem, MYTH_MEM_OTHER, "since", &s->file, s->n_file, &s->cap_file))
        return NULL;
    myth_error err = {0};
    compared *c = &s->file[s->n_file];
    *c = (compared){.src = src};
    if (compare(s, c, &err) != MYTH_OK) {
        c->is_new = true;
        s->n_failed++;
        snprintf(s->why, sizeof(s->why), "%s", err.msg);
    }
    s->n_file++;
    return c;
}

bool myth_since_touches(myth_since *s, const myth_source *src, uint32_t first, uint32_t last)
{
    const compared *c = compared_with(s, src);
    if (!c || c->is_new)
        return true;
    for (uint32_t i = 0; i < c->diff.n_file; i++) {
        const myth_diff_file *f = &c->diff.file[i];
        for (uint32_t k = 0; k < f->n_added; k++)
            if (f->added[k].first <= last && f->added[k].last >= first)
                return true;
        for (uint32_t k = 0; k < f->n_removed; k++)
            if (f->removed[k].before > first && f->removed[k].before <= last)
                return true;
    }
    return false;
}

bool myth_since_has_changed(myth_since *s, const myth_material *m)
{
    for (uint32_t i = 0; s && i < myth_material_n_piece(m); i++) {
        const myth_piece *p = myth_material_piece(m, i);
        if (p->is_subject && myth_since_touches(s, myth_material_of(m, p->source), p->first, p->last))
            return true;
    }
    return !s;
}
