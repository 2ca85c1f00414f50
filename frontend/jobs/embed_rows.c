/* embed_rows.c - from the journal into the file. */
#include "embed_rows.h"

#include "engine/base/outfile.h"
#include "frontend/cli/npy.h"

#include <errno.h>
#include <string.h>

myth_status myth_embed_rows_open(myth_embed_rows *v, myth_cli *cli, const char *output, uint32_t dim,
                                 const myth_journal_fact *fact, size_t n_fact, bool goes_on, myth_error *err)
{
    *v = (myth_embed_rows){.output = output, .dim = dim};
    const myth_status st = myth_journal_open(&v->journal, output, fact, n_fact, goes_on, err);
    const uint64_t n = st == MYTH_OK ? myth_journal_n_done(v->journal) : 0;
    if (n)
        myth_term_note(cli->term, "%s: goes on, %llu text%s are done", output, (unsigned long long)n, myth_s(n));
    return st;
}

void myth_embed_rows_close(myth_embed_rows *v)
{
    if (v->journal)
        myth_journal_commit(v->journal, NULL);
    if (v->is_of_stream)
        myth_journal_remove(v->journal);
    else
        myth_journal_close(v->journal);
    *v = (myth_embed_rows){0};
}

typedef struct {
    const myth_embed_rows *v;
    FILE *f;
    myth_npy npy;
    uint64_t n;
} writing;

static myth_status put_line(void *user, uint64_t index, const void *row, size_t n, myth_error *err)
{
    writing *w = user;
    if (index != w->n++)
        return myth_fail(err, MYTH_EIO, "%s.journal: text %llu is missing; begin anew with --resume off", w->v->output,
                         (unsigned long long)(w->n - 1));
    if (fwrite(row, 1, n, w->f) != n || fputc('\n', w->f) == EOF)
        return myth_fail(err, MYTH_EIO, "%s: cannot write: %s", w->v->output, strerror(errno));
    return MYTH_OK;
}

static myth_status put_row(void *user, uint64_t index, const void *row, size_t n, myth_error *err)
{
    writing *w = user;
    if (index != w->n++ || n != w->v->dim * sizeof(float))
        return myth_fail(err, MYTH_EIO, "%s.journal: text %llu is missing; begin anew with --resume off", w->v->output,
                         (unsigned long long)(w->n - 1));
    return myth_npy_write_row(&w->npy, index, row, err);
}

myth_status myth_embed_rows_finish(myth_embed_rows *v, uint64_t n, myth_error *err)
{
    myth_out out = {0};
    writing w = {.v = v};
    myth_status st = myth_journal_commit(v->journal, err);
    if (st != MYTH_OK)
        return st;
    if (v->dim) {
        MYTH_TRY(myth_npy_create_rows(&w.npy, v->output, v->dim, err));
        MYTH_TRY(myth_journal_each(v->journal, put_row, &w, err));
        MYTH_TRY(myth_npy_finish_rows(&w.npy, n, err));
    } else {
        MYTH_TRY(myth_out_print_open(&out, &w.f, v->output, err));
        st = myth_journal_each(v->journal, put_line, &w, err);
        MYTH_TRY(myth_out_print_close(&out, w.f, st, err));
    }
    myth_journal_remove(v->journal);
    v->journal = NULL;
fail:
    myth_npy_abandon(&w.npy);
    return st;
}
