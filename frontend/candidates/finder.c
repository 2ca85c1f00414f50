/* finder.c - places by content: those of an earlier run, or the parser's. */
#include "finder.h"

#include "engine/base/program.h"
#include "engine/base/thread.h"
#include "frontend/cli/environment.h"
#include "frontend/inspect/kept/kept.h"
#include "inspect_base.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct myth_finder {
    myth_cli *cli;
    char worker[PATH_MAX];
    bool has_worker;
    myth_kept *kept; /* places of earlier runs; NULL = none */
    pthread_mutex_t mutex;
    char program[256]; /* in the key of everything that is kept: it decides the places of a text */
};

static myth_kept *open_kept(const void *base, size_t n_base, uint64_t most_bytes)
{
    myth_kept *k = NULL;
    if (myth_kept_open_file(&k, myth_env_cache_dir(), "candidates-1.db", base, n_base, NULL) == MYTH_OK)
        myth_kept_bound(k, most_bytes, MYTH_KEPT_SPARED_S);
    return k;
}

myth_status myth_finder_open(myth_finder **out, myth_cli *cli, bool keeps, uint64_t most_bytes, myth_error *err)
{
    *out = NULL;
    myth_finder *f = myth_alloc(cli->mem, MYTH_MEM_OTHER, "places", sizeof(*f));
    if (!f)
        return myth_fail(err, MYTH_ENOMEM, "places: no room for their finder");
    *f = (myth_finder){.cli = cli};
    f->has_worker = myth_program_start(f->worker, sizeof(f->worker));
    myth_cli_program(f->program, sizeof(f->program));
    if (keeps && f->has_worker)
        f->kept = open_kept(f->program, strlen(f->program), most_bytes);
    pthread_mutex_init(&f->mutex, NULL);
    *out = f;
    return MYTH_OK;
}

myth_kept *myth_finder_scores(myth_cli *cli, const myth_engine_flags *f, const myth_model *m, uint64_t most_bytes)
{
    myth_kept *k = open_kept("", 0, most_bytes);
    if (k && myth_base_scores(k, cli, f, m))
        return k;
    myth_kept_close(k); /* the plan says what is wrong with the options */
    return NULL;
}

void myth_finder_close(myth_finder *f)
{
    if (!f)
        return;
    myth_mem *mem = f->cli->mem;
    pthread_mutex_destroy(&f->mutex);
    const uint64_t n = f->kept ? myth_kept_n_refused(f->kept) : 0;
    if (n) {
        char line[192];
        snprintf(line, sizeof(line),
                 "the places of %llu file%s are not kept: the cache is full of what was used in the last days; "
                 "--cache-limit makes it larger",
                 (unsigned long long)n, myth_s(n));
        myth_term_note_once(f->cli->term, line);
    }
    myth_kept_close(f->kept);
    myth_free(mem, f);
}

myth_status myth_finder_chunker(myth_chunker **out, myth_finder *f, myth_error *err)
{
    return myth_chunker_open(out, f->cli->mem, f->has_worker ? f->worker : NULL, err);
}

/* What places are looked for in. before NULL: no change. */
typedef struct {
    const char *language, *name;
    const unsigned char *text, *before;
    uint64_t n_text, n_before;
} looked_at;

/* What was kept of a text; NULL = nothing. */
static unsigned char *take(myth_finder *f, myth_kept_key *key, size_t *n, const looked_at *at)
{
    pthread_mutex_lock(&f->mutex);
    myth_kept_begin(f->kept);
    myth_kept_add(f->kept, at->language, strlen(at->language));
    myth_kept_add(f->kept, at->text, at->n_text);
    if (at->before)
        myth_kept_add(f->kept, at->before, at->n_before);
    *key = myth_kept_end(f->kept);
    unsigned char *old = myth_kept_get_report(f->kept, key, n);
    pthread_mutex_unlock(&f->mutex);
    return old;
}

static myth_status find(myth_candidates *out, bool *is_kept, myth_finder *f, myth_chunker *chunker, const looked_at *at,
                        myth_error *err)
{
    myth_kept_key key = {0};
    myth_candidates_bytes bytes = {0};
    myth_status st = MYTH_OK;
    bool is_there = false;
    size_t n;
    unsigned char *old = f->kept ? take(f, &key, &n, at) : NULL;
    if (old)
        st = myth_candidates_take(out, &is_there, f->cli->mem, old, n, at->text, at->n_text, err);
    free(old);
    if (is_kept)
        *is_kept = is_there;
    if (is_there || st != MYTH_OK)
        return st;
    st = myth_candidates_change(out, &bytes, chunker, at->language, at->name, at->text, at->n_text, at->before,
                                at->n_before, err);
    if (f->kept && st == MYTH_OK && bytes.byte) {
        pthread_mutex_lock(&f->mutex);
        myth_kept_put_report(f->kept, &key, bytes.byte, bytes.n);
        pthread_mutex_unlock(&f->mutex);
    }
    myth_free(f->cli->mem, bytes.byte);
    return st;
}

myth_status myth_finder_find(myth_candidates *out, bool *is_kept, myth_finder *f, myth_chunker *chunker,
                             const char *language, const char *name, const unsigned char *text, uint64_t n_text,
                             myth_error *err)
{
    const looked_at at = {.language = language, .name = name, .text = text, .n_text = n_text};
    return find(out, is_kept, f, chunker, &at, err);
}

myth_status myth_finder_change(myth_candidates *out, myth_finder *f, myth_chunker *chunker, const char *language,
                               const char *name, const unsigned char *text, uint64_t n_text,
                               const unsigned char *before, uint64_t n_before, myth_error *err)
{
    const looked_at at = {language, name, text, before, n_text, n_before};
    return find(out, NULL, f, chunker, &at, err);
}

/* ---- many texts ---- */

uint32_t myth_finder_threads(const myth_cli *cli, uint32_t n)
{
    const long n_core = sysconf(_SC_NPROCESSORS_ONLN);
    const uint32_t n_thread = cli->global->n_threads ? cli->global->n_threads
                            : n_core > 0             ? (uint32_t)n_core
                                                     : 1,
                   most = n_thread < MYTH_FINDER_THREADS ? n_thread : MYTH_FINDER_THREADS;
    return most < n ? most : n;
}

/* Texts that are handed out one by one, in their order. */
typedef struct {
    myth_finder *finder;
    myth_finder_text *text;
    uint32_t n, next;
    const myth_cancel *cancel;
    pthread_mutex_t mutex;
} queue;

static bool is_cancelled(const myth_cancel *cancel) { return cancel && *cancel; }

static myth_finder_text *next_text(queue *q)
{
    pthread_mutex_lock(&q->mutex);
    myth_finder_text *t = q->next < q->n && !is_cancelled(q->cancel) ? &q->text[q->next++] : NULL;
    pthread_mutex_unlock(&q->mutex);
    return t;
}

static myth_status find_text(myth_finder *f, myth_chunker *chunker, myth_finder_text *t, myth_error *err)
{
    const myth_status st = myth_finder_find(&t->found, NULL, f, chunker, t->language, t->name, t->text, t->n_text, err);
    t->is_found = st == MYTH_OK;
    return st;
}

/* Finds until there is no text, or one fails. */
static void work_off(queue *q, myth_chunker *chunker)
{
    myth_finder_text *t;
    while ((t = next_text(q)) && find_text(q->finder, chunker, t, NULL) == MYTH_OK)
        ;
}

static void *help(void *arg)
{
    queue *q = arg;
    myth_chunker *chunker = NULL;
    if (myth_finder_chunker(&chunker, q->finder, NULL) == MYTH_OK)
        work_off(q, chunker);
    myth_chunker_close(chunker);
    return NULL;
}

myth_status myth_finder_all(myth_finder *f, myth_finder_text *text, uint32_t n, const myth_cancel *cancel,
                            myth_error *err)
{
    myth_thread thread[MYTH_FINDER_THREADS];
    queue q = {.finder = f, .text = text, .n = n, .cancel = cancel};
    const uint32_t n_thread = myth_finder_threads(f->cli, n);
    uint32_t running = 0;
    myth_chunker *chunker = NULL;
    myth_status st = myth_finder_chunker(&chunker, f, err);
    if (st != MYTH_OK)
        return st;
    pthread_mutex_init(&q.mutex, NULL);
    while (running + 1 < n_thread && myth_thread_start(&thread[running], help, &q))
        running++;
    if (running)
        work_off(&q, chunker);
    for (uint32_t i = 0; i < running; i++)
        myth_thread_join(&thread[i]);
    pthread_mutex_destroy(&q.mutex);
    for (uint32_t i = 0; i < n && st == MYTH_OK && !is_cancelled(cancel); i++)
        if (!text[i].is_found)
            st = find_text(f, chunker, &text[i], err);
    myth_chunker_close(chunker);
    return st;
}
