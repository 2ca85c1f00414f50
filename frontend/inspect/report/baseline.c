/* baseline.c - reads fingerprints from any JSON that has them, and writes a baseline that merges the old entries with
 * the report's findings. */
#include "baseline.h"

#include "frontend/cli/hints.h"
#include "frontend/cli/json_out.h"

#include "engine/base/chars.h"
#include "engine/base/json.h"
#include "engine/base/map.h"
#include "engine/base/outfile.h"
#include "engine/base/utf8.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    char fingerprint[MYTH_FINGERPRINT_LEN + 1], second[MYTH_FINGERPRINT_LEN + 1]; /* "" = the JSON has none */
    const char *rule, *file; /* point into room, NUL-terminated; "" = the JSON does not name it */
    bool is_taken, is_moved; /* some finding is known by it; by another path */
} entry;

struct myth_baseline {
    myth_mem *mem;
    entry *entry;
    uint32_t n_entry;
    entry **place; /* [n_entry] in the order of what the second fingerprints say of all but the path */
    char *room;
    const char *root; /* NULL = unknown */
    void (*looks)(void *user, const char *path);
    void *user;
};

/* ---- reading ---- */

/* The result of one walk over the text. With entry NULL the walk only counts. */
typedef struct {
    entry *entry;
    char *room;
    size_t room_used;
    uint32_t n_entry, n_bare;    /* n_bare: findings without a fingerprint */
    uint32_t n_object, n_scalar; /* a report of any form is an object; an empty list is one of nothing */
} reading;

enum { KEY_NONE, KEY_FINGERPRINT, KEY_SECOND, KEY_RULE, KEY_FILE, KEY_LINES, KEY_N };

typedef struct {
    myth_json_token text[KEY_N];
    bool has[KEY_N];
} object;

static int key_of(const myth_json_token *t)
{
    static const struct {
        const char *name;
        int key;
    } row[] = {
        {"fingerprint", KEY_FINGERPRINT},
        {"mythos/v1", KEY_FINGERPRINT},
        {"fingerprint_v2", KEY_SECOND},
        {"mythos/v2", KEY_SECOND},
        {"rule", KEY_RULE},
        {"file", KEY_FILE},
        {"lines", KEY_LINES},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        if (myth_json_is(t, row[i].name))
            return row[i].key;
    return KEY_NONE;
}

static const char *keep_text(reading *r, const object *o, int key)
{
    char *at = r->room ? r->room + r->room_used : NULL;
    size_t n = o->has[key] ? o->text[key].len : 0;
    if (at) {
        n = o->has[key] ? myth_json_text(at, &o->text[key]) : 0;
        at[n] = '\0';
    }
    r->room_used += (o->has[key] ? o->text[key].len : 0) + 1;
    return at;
}

/* Copies a fingerprint, if the object has one. */
static bool take_fingerprint(char dst[MYTH_FINGERPRINT_LEN + 1], const object *o, int key)
{
    const bool has = o->has[key] && o->text[key].len == MYTH_FINGERPRINT_LEN;
    if (has)
        memcpy(dst, o->text[key].span, MYTH_FINGERPRINT_LEN);
    return has;
}

static void end_object(reading *r, const object *o)
{
    entry e = {0};
    const bool has_first = take_fingerprint(e.fingerprint, o, KEY_FINGERPRINT),
               has_second = take_fingerprint(e.second, o, KEY_SECOND);
    if (has_first || has_second) {
        e.rule = keep_text(r, o, KEY_RULE);
        e.file = keep_text(r, o, KEY_FILE);
        if (r->entry) {
            r->entry[r->n_entry] = e;
        }
        r->n_entry++;
    } else if (o->has[KEY_RULE] && o->has[KEY_FILE] && o->has[KEY_LINES]) {
        r->n_bare++;
    }
}

static myth_status read_document(reading *r, const char *path, const unsigned char *text, size_t len, myth_error *err)
{
    static const object empty;
    myth_json j;
    myth_json_token t;
    object open[MYTH_JSON_DEPTH + 1];
    int key = KEY_NONE;
    myth_status st;
    myth_json_start(&j, text, len, path);
    for (;;) {
        if ((st = myth_json_next(&j, &t, err)) != MYTH_OK || t.type == MYTH_JSON_END)
            return st;
        int at = t.depth < MYTH_JSON_DEPTH ? t.depth : MYTH_JSON_DEPTH;
        object *around = at > 0 ? &open[at - 1] : NULL;
        if (t.type == MYTH_JSON_OBJECT) {
            open[at] = empty;
            r->n_object++;
        } else if (t.type == MYTH_JSON_STRING || t.type == MYTH_JSON_NUMBER) {
            r->n_scalar++;
        } else if (t.type == MYTH_JSON_OBJECT_END)
            end_object(r, &open[at]);
        if (t.type == MYTH_JSON_KEY) {
            key = key_of(&t);
            continue;
        }
        if (key != KEY_NONE && around &&
            (t.type == MYTH_JSON_STRING || (key == KEY_LINES && t.type == MYTH_JSON_ARRAY))) {
            around->text[key] = t;
            around->has[key] = true;
        }
        key = KEY_NONE;
    }
}

/* Reads one JSON document, or one on each line. */
static myth_status read_all(reading *r, const char *path, const unsigned char *text, size_t len, myth_error *err)
{
    const reading start = *r;
    myth_error first = {0};
    if (read_document(r, path, text, len, &first) == MYTH_OK)
        return MYTH_OK;
    *r = start;
    for (size_t at = 0, n; at < len; at += n + 1) {
        const unsigned char *end = memchr(text + at, '\n', len - at);
        n = end ? (size_t)(end - text) - at : len - at;
        if (n && read_document(r, path, text + at, n, NULL) != MYTH_OK) {
            if (err)
                *err = first;
            return MYTH_EFORMAT;
        }
    }
    return MYTH_OK;
}

static int by_fingerprint(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->fingerprint, ((const entry *)b)->fingerprint);
}

static void sort(const myth_baseline *b, int (*order)(const void *, const void *))
{
    if (b->n_entry)
        qsort(b->entry, b->n_entry, sizeof(entry), order);
}

static int compare_place(const entry *a, const char *second)
{
    return strcmp(a->second[0] ? a->second + MYTH_FINGERPRINT_PATH : "", second + MYTH_FINGERPRINT_PATH);
}

static int by_second(const void *a, const void *b)
{
    static const char none[MYTH_FINGERPRINT_LEN + 1];
    const entry *x = *(entry *const *)a, *y = *(entry *const *)b;
    const int c = compare_place(x, y->second[0] ? y->second : none);
    return c ? c : strcmp(x->second, y->second);
}

/* Lists the entries for searches by the second fingerprint. */
static void list_places(const myth_baseline *b)
{
    for (uint32_t i = 0; i < b->n_entry; i++)
        b->place[i] = &b->entry[i];
    if (b->n_entry)
        qsort(b->place, b->n_entry, sizeof(*b->place), by_second);
}

myth_status myth_baseline_open(myth_baseline **out, myth_mem *mem, const char *path, bool may_be_missing,
                               myth_error *err)
{
    unsigned char *text = NULL;
    size_t len = 0;
    myth_status st;
    reading r = {0};
    myth_baseline *b = myth_alloc(mem, MYTH_MEM_STAGING, "baseline", sizeof(*b));
    if (!b)
        return myth_fail(err, MYTH_ENOMEM, "%s: no room for %zu bytes", path, sizeof(*b));
    b->mem = mem;
    if (may_be_missing && access(path, F_OK) != 0 && errno == ENOENT) {
        *out = b;
        return MYTH_OK;
    }
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        char hint[128];
        myth_hint_missing(hint, sizeof(hint), path);
        MYTH_TRY(myth_fail(err, MYTH_ENOTFOUND, "%.80s: no such file (--update-baseline makes it)%s", path, hint));
    }
    MYTH_TRY(myth_file_read(&text, &len, mem, path, MYTH_BASELINE_MAX, err));
    size_t n_blank = 0;
    while (n_blank < len && myth_is_white(text[n_blank]))
        n_blank++;
    if (n_blank < len && !strchr("{[", text[n_blank]))
        MYTH_TRY(
            myth_fail(err, MYTH_EFORMAT, "%.120s: no report in it; give one of --format json, jsonl or sarif", path));
    MYTH_TRY(read_all(&r, path, text, len, err));
    if (r.n_scalar && !r.n_object)
        MYTH_TRY(
            myth_fail(err, MYTH_EFORMAT, "%.120s: no report in it; give one of --format json, jsonl or sarif", path));
    if (r.n_bare && !r.n_entry)
        MYTH_TRY(myth_fail(err, MYTH_EFORMAT,
                           "%s: its findings carry no fingerprints; make it anew with --update-baseline", path));
    b->entry = myth_alloc_n(mem, MYTH_MEM_STAGING, "baseline", r.n_entry ? r.n_entry : 1, sizeof(entry));
    b->room = myth_alloc(mem, MYTH_MEM_STAGING, "baseline", r.room_used ? r.room_used : 1);
    b->place = myth_alloc_n(mem, MYTH_MEM_STAGING, "baseline", r.n_entry ? r.n_entry : 1, sizeof(*b->place));
    if (!b->entry || !b->room || !b->place)
        MYTH_TRY(myth_fail(err, MYTH_ENOMEM, "%s: no room for %u findings", path, r.n_entry));
    b->n_entry = r.n_entry;
    r = (reading){.entry = b->entry, .room = b->room};
    MYTH_TRY(read_all(&r, path, text, len, err));
    sort(b, by_fingerprint);
    list_places(b);
    *out = b;
fail:
    myth_free(mem, text);
    if (st != MYTH_OK)
        myth_baseline_close(b);
    return st;
}

void myth_baseline_close(myth_baseline *b)
{
    if (!b)
        return;
    myth_free(b->mem, b->entry);
    myth_free(b->mem, b->room);
    myth_free(b->mem, b->place);
    myth_free(b->mem, b);
}

uint32_t myth_baseline_count(const myth_baseline *b) { return b->n_entry; }

/* The entry with that first fingerprint; NULL when there is none. */
static entry *find_first(const myth_baseline *b, const char *fingerprint)
{
    uint32_t lo = 0, hi = b->n_entry;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (strcmp(b->entry[mid].fingerprint, fingerprint) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < b->n_entry && !strcmp(b->entry[lo].fingerprint, fingerprint) ? &b->entry[lo] : NULL;
}

bool myth_baseline_has(const myth_baseline *b, const char *fingerprint) { return find_first(b, fingerprint) != NULL; }

/* The first entry in the order of places whose second fingerprint says the same of all but the path; n_entry when there
 * is none. */
static uint32_t first_like(const myth_baseline *b, const char *second)
{
    uint32_t lo = 0, hi = b->n_entry;
    while (lo < hi) {
        const uint32_t mid = (lo + hi) / 2;
        if (compare_place(b->place[mid], second) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool is_like(const myth_baseline *b, uint32_t i, const char *second)
{
    return i < b->n_entry && compare_place(b->place[i], second) == 0;
}

/* The entry with either fingerprint of a finding. */
static entry *find(const myth_baseline *b, const myth_fingerprint *f)
{
    entry *e = find_first(b, f->text);
    for (uint32_t i = first_like(b, f->second); !e && is_like(b, i, f->second); i++)
        e = strcmp(b->place[i]->second, f->second) == 0 ? b->place[i] : NULL;
    return e;
}

/* Whether the file of an entry is not there any more. */
static bool is_gone(const myth_baseline *b, const entry *e)
{
    char path[PATH_MAX];
    struct stat sb;
    if (!b->root || !e->file[0] || e->file[0] == '/' ||
        (size_t)snprintf(path, sizeof(path), "%s/%s", b->root, e->file) >= sizeof(path))
        return false;
    if (b->looks)
        b->looks(b->user, path);
    return lstat(path, &sb) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

/* The entry that a finding has from where its file was before it was moved. */
static entry *find_moved(const myth_baseline *b, const myth_fingerprint *f)
{
    for (uint32_t i = first_like(b, f->second); is_like(b, i, f->second); i++)
        if (!b->place[i]->is_taken && is_gone(b, b->place[i]))
            return b->place[i];
    return NULL;
}

void myth_baseline_root(myth_baseline *b, const char *root, void (*looks)(void *user, const char *path), void *user)
{
    if (!b)
        return;
    b->root = root;
    b->looks = looks;
    b->user = user;
}

void myth_baseline_mark(const myth_baseline *b, myth_mark *mark, uint32_t n)
{
    for (uint32_t i = 0; i < b->n_entry; i++)
        b->entry[i].is_taken = b->entry[i].is_moved = false;
    for (uint32_t i = 0; i < n; i++) {
        entry *e = find(b, &mark[i].fingerprint);
        if ((mark[i].is_known = e != NULL))
            e->is_taken = true;
    }
    for (uint32_t i = 0; i < n; i++) {
        entry *e = mark[i].is_known ? NULL : find_moved(b, &mark[i].fingerprint);
        if (e)
            mark[i].is_known = e->is_taken = e->is_moved = true;
    }
}

/* ---- writing ---- */

/* The character of a path at *p as JSON shows it, U+FFFD for a byte that is not UTF-8; moves *p behind it. */
static const char *next_shown(const char **p, size_t *n)
{
    uint32_t cp;
    const char *at = *p;
    const int len = myth_utf8_decode((const unsigned char *)at, strnlen(at, 4), &cp);
    *p += len ? len : 1;
    *n = len ? (size_t)len : 3;
    return len ? at : "\xef\xbf\xbd";
}

/* Compares two paths as a baseline shows them. */
static int compare_paths(const char *a, const char *b)
{
    while (*a && *b) {
        size_t n, m;
        const char *x = next_shown(&a, &n), *y = next_shown(&b, &m);
        const int c = memcmp(x, y, n < m ? n : m);
        if (c)
            return c;
    }
    return (*a != '\0') - (*b != '\0');
}

static int compare(const entry *a, const entry *b)
{
    int c = compare_paths(a->file, b->file);
    c = c ? c : strcmp(a->rule, b->rule);
    return c ? c : strcmp(a->fingerprint, b->fingerprint);
}

static int by_place(const void *a, const void *b) { return compare(a, b); }

static int by_path(const void *a, const void *b) { return compare_paths(*(char *const *)a, *(char *const *)b); }

/* What of a report goes into a baseline. */
typedef struct {
    entry *finding; /* in the order of places */
    uint32_t n_finding;
    const char *
        *looked_at; /* the paths of files of which every line was inspected, in order: entries of such a file that
                               the report did not find are obsolete */
    uint32_t n_looked_at;
} news;

static void news_free(news *w, myth_mem *mem)
{
    myth_free(mem, w->finding);
    myth_free(mem, w->looked_at);
}

static myth_status read_report(news *w, myth_mem *mem, const char *path, const myth_report *r, myth_error *err)
{
    *w = (news){.finding = myth_alloc_n(mem, MYTH_MEM_STAGING, "baseline", (size_t)r->n_finding + 1, sizeof(entry)),
                .looked_at = myth_alloc_n(mem, MYTH_MEM_STAGING, "baseline", (size_t)r->n_file + 1, sizeof(char *))};
    if (!w->finding || !w->looked_at) {
        news_free(w, mem);
        return myth_fail(err, MYTH_ENOMEM, "%.160s: no room for %u findings", path, r->n_finding);
    }
    for (uint32_t i = 0; i < r->n_finding; i++) {
        if (r->mark[i].suppression)
            continue;
        entry *e = &w->finding[w->n_finding++];
        *e = (entry){.rule = myth_rules[r->finding[i].rule].id, .file = r->block[r->finding[i].block].src->path};
        memcpy(e->fingerprint, r->mark[i].fingerprint.text, sizeof(e->fingerprint));
        memcpy(e->second, r->mark[i].fingerprint.second, sizeof(e->second));
    }
    qsort(w->finding, w->n_finding, sizeof(*w->finding), by_place);
    if (!r->complete || r->n_unwanted)
        return MYTH_OK;
    for (uint32_t i = 0; i < r->n_file; i++)
        if (r->file[i].is_whole)
            w->looked_at[w->n_looked_at++] = r->file[i].src->path;
    if (!r->n_file)
        w->looked_at[w->n_looked_at++] = r->path;
    qsort(w->looked_at, w->n_looked_at, sizeof(*w->looked_at), by_path);
    return MYTH_OK;
}

static bool is_obsolete(const news *w, const entry *e)
{
    return e->is_moved || bsearch(&e->file, w->looked_at, w->n_looked_at, sizeof(*w->looked_at), by_path);
}

/* Merges the old entries that remain, from *at on, with the report's findings from *next on: *out is the smallest entry
 * behind *last. Of two that are equal it is the new one, which has both fingerprints. Returns false when there is none.
 * */
static bool next_entry(entry *out, const myth_baseline *b, uint32_t *at, const news *w, uint32_t *next,
                       const entry *last)
{
    while (*at < b->n_entry && ((last && compare(&b->entry[*at], last) <= 0) || is_obsolete(w, &b->entry[*at])))
        ++*at;
    while (*next < w->n_finding && last && compare(&w->finding[*next], last) <= 0)
        ++*next;
    const bool has_old = *at < b->n_entry, has_new = *next < w->n_finding;
    if (has_new && (!has_old || compare(&w->finding[*next], &b->entry[*at]) <= 0))
        *out = w->finding[*next];
    else if (has_old)
        *out = b->entry[*at];
    return has_old || has_new;
}

static void put_entry(FILE *f, const entry *e)
{
    myth_json_out j;
    myth_jout_start(&j, f);
    myth_jout_object(&j);
    myth_jout_key_str(&j, "rule", e->rule);
    myth_jout_key_str(&j, "file", e->file);
    myth_jout_key_str(&j, "fingerprint", e->fingerprint);
    if (e->second[0])
        myth_jout_key_str(&j, "fingerprint_v2", e->second);
    myth_jout_end(&j);
}

myth_status myth_baseline_write(const myth_baseline *b, const char *path, const myth_report *r, myth_error *err)
{
    FILE *f;
    myth_out o;
    entry e, last;
    news w;
    uint32_t at = 0, next = 0, n = 0;
    myth_status st = read_report(&w, b->mem, path, r, err);
    if (st != MYTH_OK)
        return st;
    MYTH_TRY(myth_out_print_open(&o, &f, path, err));
    sort(b, by_place);
    fputs("{\"version\":1,\"findings\":[", f);
    for (; next_entry(&e, b, &at, &w, &next, n ? &last : NULL); last = e) {
        fputs(n++ ? "," : "\n", f);
        put_entry(f, &e);
    }
    fputs("]}\n", f);
    sort(b, by_fingerprint);
    list_places(b);
    st = myth_out_print_close(&o, f, MYTH_OK, err);
fail:
    news_free(&w, b->mem);
    return st;
}
