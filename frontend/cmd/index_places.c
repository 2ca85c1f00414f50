/* index_places.c - prints the indexes of a cache folder, the last used first, and deletes those that nobody needs. */
#include "index_places.h"

#include "engine/base/array.h"
#include "frontend/cli/environment.h"
#include "frontend/cli/json_out.h"
#include "retrieval/retrieval.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    char name[MYTH_INDEX_NAME];
    char *root; /* "" = unknown */
    bool is_gone;
    uint64_t bytes;
    int64_t used_s;
} row;

typedef struct {
    myth_mem *mem;
    row *row;
    size_t n, cap;
    bool is_out; /* of memory */
} rows;

static bool take_place(void *arg, const myth_index_place *p)
{
    rows *l = arg;
    const size_t len = strlen(p->root) + 1;
    char *root = myth_alloc(l->mem, MYTH_MEM_OTHER, "index list", len);
    if (!root || !MYTH_ARRAY_MORE(l->mem, MYTH_MEM_OTHER, "index list", &l->row, l->n, 1, &l->cap)) {
        myth_free(l->mem, root);
        l->is_out = true;
        return false;
    }
    memcpy(root, p->root, len);
    row *r = &l->row[l->n++];
    *r = (row){.root = root, .is_gone = p->is_gone, .bytes = p->bytes, .used_s = p->used_s};
    memcpy(r->name, p->name, sizeof(r->name));
    return true;
}

static int by_use(const void *a, const void *b)
{
    const row *x = a, *y = b;
    return x->used_s != y->used_s ? (x->used_s < y->used_s ? 1 : -1) : strcmp(x->name, y->name);
}

static void date_text(char dst[32], int64_t seconds)
{
    const time_t t = (time_t)seconds;
    struct tm tm;
    dst[0] = '\0';
    if (localtime_r(&t, &tm))
        strftime(dst, 32, "%Y-%m-%d %H:%M", &tm);
}

/* Why prune deletes an index; NULL = it stays. */
static const char *reason(const row *r, const myth_index_places_opts *o, int64_t now)
{
    enum { DAY_S = 24 * 3600 };
    return r->is_gone                                                ? "its tree is gone"
         : o->has_days && r->used_s < now - (int64_t)o->days * DAY_S ? "not used for so long"
                                                                     : NULL;
}

static void print_row(const row *r, const char *why, bool is_deleted, myth_json_out *j)
{
    char size[24], date[32];
    if (j) {
        myth_jout_object(j);
        myth_jout_key_str(j, "index", r->name);
        myth_jout_key(j, "tree");
        if (r->root[0])
            myth_jout_text(j, r->root, strlen(r->root));
        else
            myth_jout_null(j);
        myth_jout_key_bool(j, "gone", r->is_gone);
        myth_jout_key_u64(j, "bytes", r->bytes);
        myth_jout_key(j, "used_s");
        myth_jout_i64(j, r->used_s);
        if (why) {
            myth_jout_key_str(j, "why", why);
            myth_jout_key_bool(j, "deleted", is_deleted);
        }
        myth_jout_end(j);
        return;
    }
    date_text(date, r->used_s);
    printf("%10s  %s  ", myth_size_text(size, r->bytes), date);
    if (r->root[0])
        myth_term_path(stdout, r->root);
    else
        printf("%s: tree unknown until its next update", r->name);
    if (why)
        printf(" (%s)", why);
    else if (r->is_gone)
        fputs(" (gone)", stdout);
    putchar('\n');
}

static int print_list(const rows *l, myth_json_out *j)
{
    for (size_t i = 0; i < l->n; i++)
        print_row(&l->row[i], NULL, false, j);
    return MYTH_EXIT_CLEAN;
}

static int prune(myth_cli *cli, const rows *l, const myth_index_places_opts *o, myth_json_out *j)
{
    const int64_t now = (int64_t)time(NULL);
    uint64_t n = 0, bytes = 0;
    char size[24];
    int code = MYTH_EXIT_CLEAN;
    for (size_t i = 0; i < l->n; i++) {
        const row *r = &l->row[i];
        const char *why = reason(r, o, now);
        myth_error err = {0};
        if (!why)
            continue;
        const bool is_deleted = !o->is_dry && myth_index_drop(myth_env_cache_dir(), r->name, &err) == MYTH_OK;
        if (!o->is_dry && !is_deleted) {
            code = myth_exit_worse(code, myth_cli_fail(cli, &err));
            continue;
        }
        print_row(r, why, is_deleted, j);
        n++;
        bytes += r->bytes;
    }
    myth_term_note(cli->term, "%llu index%s of %s %s", (unsigned long long)n, n == 1 ? "" : "es",
                   myth_size_text(size, bytes), o->is_dry ? "would be deleted" : "deleted");
    return code;
}

int myth_index_places_run(myth_cli *cli, const myth_index_places_opts *o)
{
    rows l = {.mem = cli->mem};
    myth_error err = {0};
    myth_json_out j;
    int code;
    myth_status st = myth_index_list(myth_env_cache_dir(), take_place, &l, &err);
    if (st == MYTH_OK && l.is_out)
        st = myth_fail(&err, MYTH_ENOMEM, "out of memory for a list of %zu indexes", l.n + 1);
    if (st == MYTH_OK) {
        if (l.n)
            qsort(l.row, l.n, sizeof(*l.row), by_use);
        if (o->json) {
            myth_jout_start(&j, stdout);
            myth_jout_array(&j);
        }
        code = o->is_prune ? prune(cli, &l, o, o->json ? &j : NULL) : print_list(&l, o->json ? &j : NULL);
        if (o->json)
            myth_jout_end(&j);
    } else {
        code = myth_cli_fail(cli, &err);
    }
    while (l.n > 0)
        myth_free(cli->mem, l.row[--l.n].root);
    myth_free(cli->mem, l.row);
    return code;
}
