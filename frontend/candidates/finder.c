/* finder.c - places by content: those of an earlier run, or the parser's. */
#include "finder.h"

#include "engine/base/thread.h"
#include "frontend/cli/environment.h"
#include "frontend/inspect/kept/kept.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct myth_finder {
    myth_cli *cli;
    char worker[PATH_MAX];
    bool has_worker;
    myth_kept *kept; /* places of earlier runs; NULL = none */
    pthread_mutex_t mutex;
    char program[256]; /* in the key of everything that is kept: it decides the places of a text */
};

myth_status myth_finder_open(myth_finder **out, myth_cli *cli, bool keeps, myth_error *err)
{
    *out = NULL;
    myth_finder *f = myth_alloc(cli->mem, MYTH_MEM_OTHER, "places", sizeof(*f));
    if (!f)
        return myth_fail(err, MYTH_ENOMEM, "places: no room for their finder");
    *f = (myth_finder){.cli = cli};
    f->has_worker = myth_cli_self(f->worker, sizeof(f->worker));
    myth_cli_program(f->program, sizeof(f->program));
    if (keeps && f->has_worker)
        myth_kept_open_file(&f->kept, myth_env_cache_dir(), "candidates-1.db", f->program, strlen(f->program), NULL);
    pthread_mutex_init(&f->mutex, NULL);
    *out = f;
    return MYTH_OK;
}

void myth_finder_close(myth_finder *f)
{
    if (!f)
        return;
    myth_mem *mem = f->cli->mem;
    pthread_mutex_destroy(&f->mutex);
    myth_kept_close(f->kept);
    myth_free(mem, f);
}

myth_status myth_finder_chunker(myth_chunker **out, myth_finder *f, myth_error *err)
{
    return myth_chunker_open(out, f->cli->mem, f->has_worker ? f->worker : NULL, err);
}

/* What was kept of a text; NULL = nothing. */
static unsigned char *take(myth_finder *f, myth_kept_key *key, size_t *n, const char *language,
                           const unsigned char *text, uint64_t n_text)
{
    pthread_mutex_lock(&f->mutex);
    myth_kept_begin(f->kept);
    myth_kept_add(f->kept, language, strlen(language));
    myth_kept_add(f->kept, text, n_text);
    *key = myth_kept_end(f->kept);
    unsigned char *old = myth_kept_get_report(f->kept, key, n);
    pthread_mutex_unlock(&f->mutex);
    return old;
}

myth_status myth_finder_find(myth_candidates *out, bool *is_kept, myth_finder *f, myth_chunker *chunker,
                             const char *language, const char *name, const unsigned char *text, uint64_t n_text,
                             myth_error *err)
{
    myth_kept_key key = {0};
    myth_candidates_bytes bytes = {0};
    myth_status st = MYTH_OK;
    bool is_there = false;
    size_t n;
    unsigned char *old = f->kept ? take(f, &key, &n, language, text, n_text) : NULL;
    if (old)
        st = myth_candidates_take(out, &is_there, f->cli->mem, old, n, text, n_text, err);
    free(old);
    if (is_kept)
        *is_kept = is_there;
    if (is_there || st != MYTH_OK)
        return st;
    st = myth_candidates_ask(out, &bytes, chunker, language, name, text, n_text, err);
    if (f->kept && st == MYTH_OK && bytes.byte) {
        pthread_mutex_lock(&f->mutex);
        myth_kept_put_report(f->kept, &key, bytes.byte, bytes.n);
        pthread_mutex_unlock(&f->mutex);
    }
    myth_free(f->cli->mem, bytes.byte);
    return st;
}
