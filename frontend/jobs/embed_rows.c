/* embed_rows.c - from the journal into the file. */
#include "embed_rows.h"

#include "shares.h"

#include "engine/base/outfile.h"
#include "frontend/cli/npy.h"
#include "frontend/cli/safetensors.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { FAULT_BYTES = 256 };

myth_status myth_embed_rows_open(myth_embed_rows *v, myth_cli *cli, const char *output, myth_embed_form form,
                                 uint32_t dim, const myth_journal_fact *fact, size_t n_fact, bool goes_on,
                                 myth_error *err)
{
    char path[PATH_MAX];
    *v = (myth_embed_rows){.cli = cli, .output = output, .form = form, .dim = dim};
    myth_status st = myth_journal_open(&v->journal, myth_shares_output(path, cli, output), fact, n_fact,
                                       goes_on || cli->goes_on, err);
    if (st == MYTH_OK)
        st = myth_journal_get_count(v->journal, "faults", &v->n_fault, err);
    const uint64_t n = st == MYTH_OK ? myth_journal_n_done(v->journal) : 0;
    cli->has_journal = st == MYTH_OK;
    if (n && !cli->merges_shares)
        myth_term_note(cli->term, "%s: goes on, %llu text%s are done", output, (unsigned long long)n, myth_s(n));
    return st;
}

/* The journal has the words alone. Their number of bytes is none that whole floats have: that tells them apart. */
static bool is_fault(size_t n) { return n % sizeof(float) != 0; }

myth_status myth_embed_rows_fault(myth_embed_rows *v, uint64_t row, const char *fault, myth_error *err)
{
    char text[FAULT_BYTES];
    size_t n = (size_t)snprintf(text, sizeof(text), "%.*s ", FAULT_BYTES - 2, fault);
    n -= is_fault(n - 1);
    return myth_journal_put(v->journal, row, text, n, err);
}

myth_status myth_embed_rows_commit(myth_embed_rows *v, myth_error *err)
{
    const myth_status st = myth_journal_put_state(v->journal, "faults", &v->n_fault, sizeof(v->n_fault), err);
    return st == MYTH_OK ? myth_journal_commit(v->journal, err) : st;
}

void myth_embed_rows_close(myth_embed_rows *v)
{
    if (v->journal)
        myth_embed_rows_commit(v, NULL);
    if (v->cli)
        v->cli->has_journal = 0;
    if (v->is_of_stream || (v->journal && !myth_shares_is_part(v->cli) && myth_journal_n_done(v->journal) == 0))
        myth_journal_remove(v->journal); /* there is nothing to go on from */
    else
        myth_journal_close(v->journal);
    *v = (myth_embed_rows){0};
}

typedef struct {
    const myth_embed_rows *v;
    FILE *f;
    myth_npy npy;
    myth_safetensors tensors;
    uint64_t n;
    float absent[MYTH_EMBED_DIM_MAX];
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

static myth_status put_values(writing *w, uint64_t index, const void *row, myth_error *err)
{
    if (w->v->form == MYTH_EMBED_NPY)
        return myth_npy_write_row(&w->npy, index, row, err);
    myth_safetensors_put(&w->tensors, row, w->v->dim * sizeof(float));
    return MYTH_OK;
}

static myth_status put_row(void *user, uint64_t index, const void *row, size_t n, myth_error *err)
{
    writing *w = user;
    const myth_embed_rows *v = w->v;
    if (index == w->n && is_fault(n)) {
        w->n++;
        myth_term_note(v->cli->term, "%.*s; its row, %llu, is NaN", (int)n - (((const char *)row)[n - 1] == ' '),
                       (const char *)row, (unsigned long long)index);
        return put_values(w, index, w->absent, err);
    }
    if (index != w->n++ || n != v->dim * sizeof(float))
        return myth_fail(err, MYTH_EIO, "%s.journal: text %llu is missing; begin anew with --resume off", v->output,
                         (unsigned long long)(w->n - 1));
    return put_values(w, index, row, err);
}

myth_status myth_embed_rows_finish(myth_embed_rows *v, uint64_t n, myth_error *err)
{
    myth_out out = {0};
    writing w = {.v = v};
    myth_status st = myth_embed_rows_commit(v, err);
    if (st == MYTH_OK && myth_shares_is_part(v->cli))
        return myth_journal_complete(v->journal, err);
    if (st != MYTH_OK)
        return st;
    for (uint32_t i = 0; i < v->dim && v->form != MYTH_EMBED_JSONL; i++)
        w.absent[i] = NAN;
    if (v->form == MYTH_EMBED_NPY) {
        MYTH_TRY(myth_npy_create_rows(&w.npy, v->output, v->dim, err));
        MYTH_TRY(myth_journal_each(v->journal, put_row, &w, err));
        MYTH_TRY(myth_npy_finish_rows(&w.npy, n, err));
    } else if (v->form == MYTH_EMBED_SAFETENSORS) {
        const myth_safetensor t = {.name = "embeddings", .dtype = "F32", .n_dim = 2, .shape = {n, v->dim}};
        MYTH_TRY(myth_safetensors_begin(&w.tensors, v->output, &t, 1, NULL, 0, err));
        MYTH_TRY(myth_journal_each(v->journal, put_row, &w, err));
        MYTH_TRY(myth_safetensors_end(&w.tensors, err));
    } else {
        MYTH_TRY(myth_out_print_open(&out, &w.f, v->output, err));
        st = myth_journal_each(v->journal, put_line, &w, err);
        MYTH_TRY(myth_out_print_close(&out, w.f, st, err));
    }
    myth_journal_remove(v->journal);
    v->journal = NULL;
fail:
    myth_npy_abandon(&w.npy);
    myth_safetensors_abandon(&w.tensors);
    return st;
}
