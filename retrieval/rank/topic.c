/* topic.c - see topic.h. */
#include "topic.h"
#include "retrieval/store/fts_tokenizer.h"
#include "retrieval/index/index_impl.h"
#include "rank.h"
#include "retrieval/names/resolve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CANDIDATES = 100, /* chunks that the search gives: eight times what is shown at most */
    FILES = 6,        /* files that are chosen for their own evidence, at most */
    LINKED = 1,       /* files that are chosen because a chosen file imports them, at most */
    HEAD_LINES = 8,   /* a chunk without a definition and with fewer lines is a head */
    TOGETHER = 2,     /* two words at most this far apart, counted in words, say one thing */
    NEAR = 4,         /* two words at most this far apart may say one thing: they count half */
    APART = 1 << 20   /* the distance of two words that do not stand in one text */
};

/* The share of the best file's evidence that a file needs, that a file of tests needs, and the share of the best
 * chunk's score that a further chunk needs. They were found on the questions of tests/corpus/shop and checked on 254
 * others over 13 repositories (bench/results/search_questions_dev.csv): little changes while cut is between 0.5 and 0.6
 * and test_cut between 0.6 and 0.8. */
static const double cut = 0.55, test_cut = 0.75, chunk_cut = 0.5;
/* How much of a file's evidence depends on words that stand together, and the power of the share of words that it has.
 * Without the first, precision on those 254 questions falls by 2.5 points [1.3, 3.8]. */
static const double near_share = 0.3, cover_power = 0.3;
/* The share of the best file's evidence that an imported file needs. With imported files, 1.6 points more of the files
 * that those 254 questions ask for are found [0.4, 3.2], and no loss of precision is seen (-0.1 [-0.4, +0.2]). On 853
 * commit subjects of 22 repositories 0.7 points more are found [0.2, 1.3], and precision falls by 0.3 [0.1, 0.5]. */
static const double linked_cut = 0.2;

typedef struct {
    const char *path;
    char language[24];
    int64_t id;
    uint32_t idx;    /* its place in the order of the search */
    uint64_t groups; /* one bit for each group of the question's words that one of its chunks has */
    double score, cover, near, evidence, best;
    bool is_test, is_chosen, is_linked;
    bool is_copy; /* the search sets it back for what it is: vendored, superseded, a manual */
} file;

typedef struct {
    uint32_t hit, file;
    double score, match;
    bool is_first, is_head, is_test, is_taken;
} entry;

/* A word of the question as it stands in texts. */
typedef struct {
    char text[MYTH_WORD_BYTES];
    size_t n;
    uint32_t at; /* its place among the words of the question; other forms of a word have the same place */
} word;

typedef struct {
    myth_mem *mem;
    myth_hits *hits;
    file *file;
    entry *entry;
    word *word;
    double *apart; /* [file][pair]: the least distance of two neighbouring words of the question, counted in words */
    uint32_t n_file, n_word, n_pair;
    bool wants_tests, is_report;
} topic;

static double part_of(const myth_hit *h, const char *name)
{
    for (uint32_t i = 0; i < h->n_part; i++)
        if (strcmp(h->part[i].name, name) == 0)
            return h->part[i].value;
    return 0;
}

/* ---- words that stand together ---- */

/* Takes the groups of the question that say something, in their order. Every form and alternative of a word stands for
 * its group. */
static myth_status take_words(topic *t, const myth_query *q, myth_error *err)
{
    uint32_t at = 0;
    if (!(t->word = myth_alloc_n(t->mem, MYTH_MEM_OTHER, "topic", q->n_term + 1, sizeof(*t->word))))
        return myth_fail(err, MYTH_ENOMEM, "search: no memory for the words of a question");
    for (uint32_t g = 0; g < q->n_group && !t->is_report; g++) {
        double weight = 0;
        for (uint32_t i = 0; i < q->n_term; i++)
            if (q->term[i].group == g && q->term[i].weight > weight)
                weight = q->term[i].weight;
        if (weight < 0.5) /* a word that only frames the question, or the name of a language */
            continue;
        for (uint32_t i = 0; i < q->n_term; i++) {
            word *w = &t->word[t->n_word];
            if (q->term[i].group != g || !(w->n = myth_fts_token(w->text, q->term[i].text, strlen(q->term[i].text))))
                continue;
            w->at = at;
            t->n_word++;
        }
        at++;
    }
    t->n_pair = at > 1 ? at - 1 : 0;
    return MYTH_OK;
}

/* Returns the place among the question's words that a token has, or UINT32_MAX if it is none of them. */
static uint32_t word_at(const topic *t, const char *s, size_t n)
{
    for (uint32_t i = 0; i < t->n_word; i++)
        if (t->word[i].n == n && memcmp(t->word[i].text, s, n) == 0)
            return t->word[i].at;
    return UINT32_MAX;
}

/* Notes that the word `at` stands at a place of a text, and how far that is from its two neighbours in the question. */
static void see(const topic *t, double *apart, int64_t *last, uint32_t at, int64_t place)
{
    last[at] = place;
    if (at > 0 && (double)(place - last[at - 1]) < apart[at - 1])
        apart[at - 1] = (double)(place - last[at - 1]);
    if (at < t->n_pair && (double)(place - last[at + 1]) < apart[at])
        apart[at] = (double)(place - last[at + 1]);
}

/* Lowers the distances of the pairs where a text has them nearer than the texts before it. last has room for one place
 * per word of the question. */
static void read_text(const topic *t, double *apart, int64_t *last, const char *text, size_t n)
{
    myth_word w;
    int64_t place = 0;
    char stem[MYTH_WORD_BYTES];
    for (uint32_t i = 0; i <= t->n_pair; i++)
        last[i] = -APART;
    for (size_t pos = 0; myth_word_next(&w, text, n, &pos);) {
        bool is_compound = myth_word_is_compound(&w);
        uint32_t at = is_compound ? word_at(t, w.whole, w.n_whole) : UINT32_MAX;
        place++;
        if (at != UINT32_MAX)
            see(t, apart, last, at, place);
        for (unsigned i = 0; i < w.n_part; i++) {
            size_t m = myth_word_stem(stem, w.whole + w.part[i].off, w.part[i].bytes);
            place += i > 0;
            if ((at = word_at(t, stem, m)) != UINT32_MAX)
                see(t, apart, last, at, place);
        }
    }
}

static myth_status measure_near(topic *t, myth_error *err)
{
    double best = 0;
    int64_t *last;
    if (t->n_pair == 0)
        return MYTH_OK;
    t->apart = myth_alloc_n(t->mem, MYTH_MEM_OTHER, "topic", (size_t)t->n_file * t->n_pair, sizeof(*t->apart));
    last = myth_alloc_n(t->mem, MYTH_MEM_OTHER, "topic", t->n_pair + 1, sizeof(*last));
    if (!t->apart || !last) {
        myth_free(t->mem, last);
        return myth_fail(err, MYTH_ENOMEM, "search: no memory for %u files", t->n_file);
    }
    for (size_t i = 0; i < (size_t)t->n_file * t->n_pair; i++)
        t->apart[i] = APART;
    for (uint32_t i = 0; i < t->hits->n_hit; i++) {
        const myth_hit *h = &t->hits->hit[i];
        double *apart = t->apart + (size_t)t->entry[i].file * t->n_pair;
        read_text(t, apart, last, h->text, h->n_text);
        if (t->entry[i].is_first)
            read_text(t, apart, last, h->path, strlen(h->path));
    }
    for (uint32_t f = 0; f < t->n_file; f++) {
        const double *apart = t->apart + (size_t)f * t->n_pair;
        t->file[f].near = 0;
        for (uint32_t p = 0; p < t->n_pair; p++)
            t->file[f].near += (apart[p] <= TOGETHER ? 1 : apart[p] <= NEAR ? 0.5 : 0) / t->n_pair;
        if ((!t->file[f].is_test || t->wants_tests) && t->file[f].near > best)
            best = t->file[f].near;
    }
    for (uint32_t f = 0; f < t->n_file; f++)
        t->file[f].near = best > 0 && t->file[f].near < best ? t->file[f].near / best : 1;
    myth_free(t->mem, last);
    return MYTH_OK;
}

/* ---- files ---- */

/* A head says what its file is for, but there is no code in it to inspect. */
static bool is_head(const myth_hit *h)
{
    return h->kind == MYTH_CHUNK_IMPORTS || (!h->symbol[0] && h->line1 - h->line0 < HEAD_LINES);
}

/* Puts the hits of the search together by file. */
static void gather(topic *t)
{
    for (uint32_t i = 0; i < t->hits->n_hit; i++) {
        const myth_hit *h = &t->hits->hit[i];
        const double share = part_of(h, "share"), decay = part_of(h, "decay");
        uint32_t f = 0;
        while (f < t->n_file && strcmp(t->file[f].path, h->path) != 0)
            f++;
        if (f == t->n_file) {
            t->file[f] = (file){
                .path = h->path,
                .id = h->file_id,
                .idx = f,
                .near = 1,
                .is_copy = part_of(h, "kind") < 1,
                .is_test = (h->file_kinds >> MYTH_KIND_TEST & 1) && !t->wants_tests,
                .score = share > 0 && decay > 0 ? h->score / (share * decay) : h->score,
            };
            t->n_file++;
        }
        t->file[f].groups |= h->groups;
        t->entry[i] =
            (entry){.hit = i, .file = f, .match = share, .is_first = t->file[f].best == 0, .is_head = is_head(h)};
        t->file[f].best = share > t->file[f].best ? share : t->file[f].best;
    }
}

static int by_evidence(const void *a, const void *b)
{
    const file *x = *(const file *const *)a, *y = *(const file *const *)b;
    if (x->evidence != y->evidence)
        return x->evidence > y->evidence ? -1 : 1;
    return x->idx < y->idx ? -1 : x->idx > y->idx;
}

/* Chooses the files with enough evidence of their own and puts all files in order. Returns the evidence of the best. */
static double choose(topic *t, file **order)
{
    double all = 0, cover = 0, top = -1;
    uint32_t n = 0, n_source = 0;
    file *test = NULL;
    for (int i = 0; i < MYTH_MATCH_GROUPS; i++)
        all += t->hits->weight[i];
    for (uint32_t f = 0; f < t->n_file; f++) {
        file *x = &t->file[f];
        for (int i = 0; i < MYTH_MATCH_GROUPS; i++)
            x->cover += all > 0 && x->groups >> i & 1 ? t->hits->weight[i] / all : 0;
        x->evidence = x->score * pow(x->cover, cover_power) * (1 - near_share + near_share * x->near);
        order[f] = x;
    }
    qsort(order, t->n_file, sizeof(*order), by_evidence);
    bool only_tests = true;
    for (uint32_t i = 0; i < t->n_file; i++)
        only_tests &= order[i]->is_test;
    for (uint32_t i = 0; i < t->n_file; i++)
        order[i]->is_test &= !only_tests;
    for (uint32_t i = 0; i < t->n_file && n_source < 3; i++)
        if (!order[i]->is_test) {
            top = top < 0 ? order[i]->evidence : top;
            cover = order[i]->cover > cover ? order[i]->cover : cover;
            n_source++;
        }
    for (uint32_t i = 0; i < t->n_file && n < FILES && order[i]->evidence >= cut * (t->is_report ? 1 : cover) * top;
         i++)
        if (!order[i]->is_test) {
            order[i]->is_chosen = true;
            n++;
        }
    for (uint32_t i = 0; i < t->n_file && !test; i++)
        if (order[i]->is_test && order[i]->evidence >= test_cut * top)
            test = order[i];
    if (test)
        test->is_chosen = true;
    return top;
}

/* ---- files that chosen ones import ---- */

typedef struct {
    topic *t;
    const myth_resolver *resolver;
    uint32_t from;
} linker;

/* Marks the candidates that a chosen file's import means. */
static bool take_import(void *arg, const myth_store_ref *ref)
{
    linker *l = arg;
    uint32_t found[MYTH_RESOLVE_MAX];
    const uint32_t n = ref->kind == MYTH_REF_IMPORT ? myth_resolve(l->resolver, l->from, ref->name, found) : 0;
    for (uint32_t i = 0; i < n; i++)
        l->t->file[found[i]].is_linked = true;
    return true;
}

static myth_status read_languages(topic *t, myth_store *store, myth_error *err)
{
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(myth_store_db(store), "SELECT language FROM files WHERE id=?1", -1, &s, NULL);
    for (uint32_t f = 0; f < t->n_file && (rc == SQLITE_OK || rc == SQLITE_ROW || rc == SQLITE_DONE); f++) {
        sqlite3_reset(s);
        sqlite3_bind_int64(s, 1, t->file[f].id);
        if ((rc = sqlite3_step(s)) == SQLITE_ROW)
            snprintf(t->file[f].language, sizeof(t->file[f].language), "%.23s",
                     sqlite3_column_text(s, 0) ? (const char *)sqlite3_column_text(s, 0) : "");
    }
    sqlite3_finalize(s);
    return myth_store_fail(store, rc, err);
}

/* Returns whether a word of the question is part of a file's name. Its folders do not count. */
static bool is_named(const topic *t, const file *f)
{
    const char *name = strrchr(f->path, '/') ? strrchr(f->path, '/') + 1 : f->path;
    char stem[MYTH_WORD_BYTES];
    myth_word w;
    for (size_t pos = 0; myth_word_next(&w, name, strlen(name), &pos);)
        for (unsigned i = 0; i < w.n_part; i++)
            if (word_at(t, stem, myth_word_stem(stem, w.whole + w.part[i].off, w.part[i].bytes)) != UINT32_MAX)
                return true;
    return false;
}

/* The file that a question describes often leaves the work to a file that it imports, and this one has few of the
 * question's words. So the best candidate that a chosen file imports and that has a word of the question in its name is
 * chosen too. A file of tests or one that the search sets back is not. */
static myth_status choose_linked(topic *t, file *const *order, double top, myth_store *store, myth_error *err)
{
    myth_resolver *resolver = NULL;
    uint32_t n = 0;
    myth_resolve_file *rf = myth_alloc_n(t->mem, MYTH_MEM_OTHER, "topic", t->n_file, sizeof(*rf));
    myth_status st =
        rf ? read_languages(t, store, err) : myth_fail(err, MYTH_ENOMEM, "search: no memory for %u files", t->n_file);
    if (st != MYTH_OK)
        goto fail;
    for (uint32_t f = 0; f < t->n_file; f++)
        rf[f] = (myth_resolve_file){t->file[f].path, t->file[f].language};
    MYTH_TRY(myth_resolver_open(&resolver, t->mem, rf, t->n_file, err));
    for (uint32_t f = 0; f < t->n_file; f++)
        if (t->file[f].is_chosen)
            MYTH_TRY(myth_store_refs(store, t->file[f].id, take_import, &(linker){t, resolver, f}, err));
    for (uint32_t i = 0; i < t->n_file && n < LINKED && order[i]->evidence >= linked_cut * top; i++)
        if (order[i]->is_linked && !order[i]->is_chosen && !order[i]->is_test && !order[i]->is_copy &&
            is_named(t, order[i])) {
            order[i]->is_chosen = true;
            n++;
        }
fail:
    myth_resolver_close(resolver);
    myth_free(t->mem, rf);
    return st;
}

/* ---- chunks ---- */

static int by_score(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->is_taken != y->is_taken)
        return x->is_taken ? -1 : 1;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    if (x->is_test != y->is_test)
        return x->is_test ? 1 : -1;
    return x->hit < y->hit ? -1 : x->hit > y->hit;
}

/* What an entry must be to be taken. */
typedef bool (*entry_test)(const topic *t, const entry *e, double least);
static bool is_best(const topic *t, const entry *e, double least)
{
    (void)t;
    (void)least;
    return e->is_first;
}
static bool is_much(const topic *t, const entry *e, double least)
{
    (void)t;
    return !e->is_head && e->score >= least;
}
static bool is_body(const topic *t, const entry *e, double least)
{
    (void)t;
    (void)least;
    return !e->is_head;
}
static bool is_any(const topic *t, const entry *e, double least)
{
    (void)t;
    (void)e;
    (void)least;
    return true;
}

/* Takes the entries of chosen files that pass the test, in their order, until `most` are taken. n are taken already.
 * Returns how many are taken then. */
static uint32_t take(topic *t, uint32_t n, uint32_t most, entry_test test, double least)
{
    for (uint32_t i = 0; i < t->hits->n_hit && n < most; i++) {
        entry *e = &t->entry[i];
        if (e->is_taken || !t->file[e->file].is_chosen || !test(t, e, least))
            continue;
        e->is_taken = true;
        n++;
    }
    return n;
}

/* Scores the chunks and takes those that are shown, first the one that stands for each file: the best that is no head,
 * or the best head where a file has nothing else. Returns how many are taken. */
static uint32_t take_chunks(topic *t, uint32_t most, double top)
{
    uint32_t n;
    for (uint32_t f = 0; f < t->n_file; f++) {
        double best = 0;
        entry *first = NULL;
        for (uint32_t i = 0; i < t->hits->n_hit; i++) {
            entry *e = &t->entry[i];
            if (e->file != f)
                continue;
            e->is_first = false;
            if (!first || (first->is_head && !e->is_head) || (first->is_head == e->is_head && e->match > best)) {
                first = e;
                best = e->match;
            }
        }
        first->is_first = true;
        const double strength = top > 0 && t->file[f].evidence < top ? t->file[f].evidence / top : 1;
        for (uint32_t i = 0; i < t->hits->n_hit; i++) {
            entry *e = &t->entry[i];
            if (e->file != f)
                continue;
            e->is_test = t->file[f].is_test;
            e->score = strength * strength * (best > 0 ? e->match / (e->is_head ? t->file[f].best : best) : 1);
        }
    }
    qsort(t->entry, t->hits->n_hit, sizeof(*t->entry), by_score);
    n = take(t, 0, most, is_best, 0);
    n = take(t, n, most, is_much, chunk_cut);
    n = take(t, n, most < MYTH_TOPIC_MIN ? most : MYTH_TOPIC_MIN, is_body, 0);
    n = take(t, n, most < MYTH_TOPIC_MIN ? most : MYTH_TOPIC_MIN, is_any, 0);
    qsort(t->entry, t->hits->n_hit, sizeof(*t->entry), by_score);
    return n;
}

static void free_hit(myth_mem *mem, myth_hit *h)
{
    myth_free(mem, (char *)h->path);
    myth_free(mem, (char *)h->symbol);
    myth_free(mem, (char *)h->text);
    myth_free(mem, (char *)h->name);
    myth_free(mem, (char *)h->parent);
}

static void add_part(myth_hit *h, const char *name, double value)
{
    if (h->n_part < MYTH_SCORE_PART_N)
        h->part[h->n_part++] = (myth_score_part){name, value};
}

/* Puts the hits in the order of the entries and drops those past MYTH_TOPIC_KEPT. */
static myth_status put_in_order(topic *t, myth_error *err)
{
    myth_hits *hits = t->hits;
    myth_hit *to = myth_alloc_n(hits->mem, MYTH_MEM_OTHER, "hits", hits->n_hit + 1, sizeof(*to));
    uint32_t n = 0;
    if (!to)
        return myth_fail(err, MYTH_ENOMEM, "search: no memory for %u hits", hits->n_hit);
    for (uint32_t i = 0; i < hits->n_hit; i++) {
        const entry *e = &t->entry[i];
        myth_hit *h = &hits->hit[e->hit];
        if (n == MYTH_TOPIC_KEPT) {
            free_hit(hits->mem, h);
            continue;
        }
        add_part(h, "cover", t->file[e->file].cover);
        add_part(h, "near", t->file[e->file].near);
        add_part(h, "evidence", t->file[e->file].evidence);
        h->score = e->score;
        to[n++] = *h;
    }
    myth_free(hits->mem, hits->hit);
    hits->hit = to;
    hits->n_hit = n;
    return MYTH_OK;
}

/* ---- the whole ---- */

static myth_status judge(topic *t, uint32_t *n_taken, myth_store *store, uint32_t most, myth_error *err)
{
    myth_status st = MYTH_OK;
    const uint32_t n = t->hits->n_hit;
    file **order = myth_alloc_n(t->mem, MYTH_MEM_OTHER, "topic", n, sizeof(*order));
    t->file = myth_alloc_n(t->mem, MYTH_MEM_OTHER, "topic", n, sizeof(*t->file));
    t->entry = myth_alloc_n(t->mem, MYTH_MEM_OTHER, "topic", n, sizeof(*t->entry));
    if (!order || !t->file || !t->entry) {
        st = myth_fail(err, MYTH_ENOMEM, "search: no memory for %u hits", n);
        goto fail;
    }
    gather(t);
    MYTH_TRY(measure_near(t, err));
    const double top = choose(t, order);
    MYTH_TRY(choose_linked(t, order, top, store, err));
    *n_taken = take_chunks(t, most, top);
    MYTH_TRY(put_in_order(t, err));
fail:
    myth_free(t->mem, order);
    return st;
}

myth_status myth_topic(myth_hits *out, uint32_t *n_taken, myth_index *x, const myth_search_opts *opts, uint32_t most,
                       myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_search_opts o = *opts;
    myth_weights_search w;
    myth_query q = {0};
    topic t = {.mem = x->mem, .hits = out};
    const size_t n = strlen(MYTH_TOPIC_WEIGHTS) + (opts->weights ? strlen(opts->weights) + 1 : 0) + 1;
    char *weights = myth_alloc(x->mem, MYTH_MEM_OTHER, "topic", n);
    *out = (myth_hits){0};
    *n_taken = 0;
    if (!weights)
        return myth_fail(err, MYTH_ENOMEM, "search: no memory for weights");
    snprintf(weights, n, "%s%s%s", MYTH_TOPIC_WEIGHTS, opts->weights ? "," : "", opts->weights ? opts->weights : "");
    o.weights = weights;
    o.k = CANDIDATES;
    o.by_file = false;
    o.with_text = true;
    MYTH_TRY(myth_weights_search_set(&w, weights, err));
    MYTH_TRY(myth_search(out, x, &o, err));
    if (out->n_hit > 0) {
        MYTH_TRY(myth_query_parse(&q, t.mem, o.query, o.n_query ? o.n_query : strlen(o.query), &w, err));
        t.wants_tests = q.wants_tests;
        t.is_report = q.kind == MYTH_QUERY_ISSUE;
        MYTH_TRY(take_words(&t, &q, err));
        MYTH_TRY(judge(&t, n_taken, myth_index_store(x), most, err));
    }
fail:
    myth_free(x->mem, t.file);
    myth_free(x->mem, t.entry);
    myth_free(x->mem, t.word);
    myth_free(x->mem, t.apart);
    myth_query_free(&q);
    myth_free(x->mem, weights);
    if (st != MYTH_OK)
        myth_hits_free(out);
    return st;
}
