/* residual_run.c - see residual_run.h. */
#include "residual_run.h"

#include "engine/base/clock.h"
#include "batch_size.h"
#include "frontend/rates/expect.h"
#include "residual_sums.h"
#include "shares.h"

#include <math.h>
#include <string.h>

enum { LINE_BYTES = 4096 };

typedef struct {
    uint32_t label, first, n; /* its tokens in the batch */
    uint64_t row, n_row;      /* its first row, and how many it has */
    uint64_t index, line;     /* of the prompt */
} item;

struct myth_residual_run {
    myth_cli *cli;
    myth_engine *e;
    myth_seq *seq;
    myth_prompts *prompts;
    myth_journal *journal;
    const myth_residual_opts *o;
    uint32_t n_ubatch, most, dim, n_layer; /* rows of a step; prompts of a batch; of the model */
    bool is_host, has_committed, has_sums; /* committed: block has a state; sums: and the device's sums */
    bool is_behind;                        /* batches were done since the last commit: the next one is not cut short */
    /* the state and the sums are one block, which is what the journal keeps */
    unsigned char *block, *before; /* before: the sums without the prompts under way, or a device's with them */
    size_t n_block;
    myth_residual_state st;
    myth_residual_sums sums;
    myth_residual_rows rows;
    uint32_t n_share; /* whose sums the journal has; 0 = one process */
    uint64_t n_all, row_of_share[MYTH_JOURNAL_SHARES], index_of_share[MYTH_JOURNAL_SHARES];
    int32_t idx_of[MYTH_ROW_FILE_MAX]; /* place of a residual in the list of layers, -1 = not wanted */
    /* the batch */
    myth_job_prompt pending;
    bool has_pending;
    myth_batch_size size;
    uint32_t n_item, n_row;
    uint32_t first_row;  /* of the forward under way, in the batch */
    unsigned char *took; /* [n_layer of the options, n_ubatch] a bit each: the row of a token was taken */
    item *item;
    myth_batch_run *run;
    int32_t *ids, *label;
    uint32_t *item_of; /* [n_ubatch] */
    uint8_t *want;
    double *sum; /* of the rows of one prompt */
    float *row, *scratch;
    myth_error failure;          /* inside a forward */
    double committed_at, sync_s; /* when, and how long the last sync took */
};

#define ROW_SUMS "rows sums" /* the state of the journal that has them */

static size_t sums_bytes(const myth_residual_run *r) { return (r->o->n_layer + 1) * sizeof(uint64_t); }

bool myth_residual_on_host(const myth_residual_opts *o)
{
    return o->position == MYTH_POSITION_MEAN || o->winsorize < 1.0 || o->rows || o->stats;
}

void myth_residual_needs(myth_engine_opts *eo, const myth_residual_opts *o)
{
    eo->no_cache = true;
    eo->n_seq = 1;
    eo->want_hidden = myth_residual_on_host(o);
    if (!eo->want_hidden) {
        eo->capture_layer = o->layer;
        eo->n_capture_layer = o->n_layer;
        eo->n_capture_label = o->n_label;
    }
}

static uint32_t batch_most(const myth_residual_opts *o, uint32_t n_ubatch)
{
    const uint32_t most = o->batch ? o->batch : n_ubatch;
    return most < MYTH_RESIDUAL_BATCH_MAX ? most : MYTH_RESIDUAL_BATCH_MAX;
}

static myth_residual_shape shape_of(const myth_residual_opts *o, uint32_t dim)
{
    return (myth_residual_shape){.n_label = o->n_label, .n_layer = o->n_layer, .dim = dim, .stats = o->stats};
}

/* At most what the engine's sums or the host's take, with what stands before them. */
static uint64_t block_bytes(const myth_residual_opts *o, uint32_t dim)
{
    const myth_residual_shape is = shape_of(o, dim);
    return sizeof(myth_residual_state) + myth_residual_sums_bytes(&is) + 64 + 16 * (uint64_t)o->n_layer;
}

static size_t took_bytes(const myth_residual_opts *o, uint32_t n_ubatch)
{
    return myth_residual_on_host(o) ? ((size_t)o->n_layer * n_ubatch + 7) / 8 : 0;
}

uint64_t myth_residual_run_bytes(const myth_residual_opts *o, const myth_config *c, uint32_t n_ubatch)
{
    const uint64_t n = n_ubatch, most = batch_most(o, n_ubatch), d = c->d_model;
    return sizeof(myth_residual_run) + block_bytes(o, c->d_model) * 2 + most * (sizeof(item) + sizeof(myth_batch_run)) +
           n * (4 + 4 + 4 + 1) + d * (8 + 4 + 4) + took_bytes(o, n_ubatch);
}

/* ---- rows that come to the host ---- */

/* A row of an item, as it is summed and kept. */
static void take_row(myth_residual_run *r, const item *it, uint32_t idx, uint64_t row, const float *data)
{
    if (r->o->winsorize < 1.0) {
        memmove(r->row, data, 4 * (size_t)r->dim);
        myth_residual_winsorize(r->row, r->dim, r->o->winsorize, r->scratch);
        data = r->row;
    }
    myth_residual_sums_add(&r->sums, it->label, idx, data);
    if (r->rows.is_open && r->failure.code == MYTH_OK)
        myth_residual_rows_put(&r->rows, idx, row, data, &r->failure);
}

/* Whether a forward that failed later has brought this row already; from now on it has. */
static bool was_taken(myth_residual_run *r, uint32_t idx, uint32_t tok)
{
    const size_t bit = (size_t)idx * r->n_ubatch + tok;
    const bool was = r->took[bit / 8] >> bit % 8 & 1;
    r->took[bit / 8] |= (unsigned char)(1u << bit % 8);
    return was;
}

/* Rows come layer by layer, and in a layer token by token: those of one prompt stand together. */
static void on_hidden(void *user, uint32_t in_forward, uint32_t layer, const float *data, uint32_t d)
{
    myth_residual_run *r = user;
    const uint32_t tok = r->first_row + in_forward;
    const item *it = &r->item[r->item_of[tok]];
    const int32_t idx = r->idx_of[layer];
    const uint32_t at = tok - it->first;
    if (idx < 0 || (r->o->position != MYTH_POSITION_MEAN && was_taken(r, (uint32_t)idx, tok)))
        return;
    if (r->o->position != MYTH_POSITION_MEAN) {
        take_row(r, it, (uint32_t)idx, it->row + (r->o->position == MYTH_POSITION_EVERY ? at : 0), data);
        return;
    }
    for (uint32_t i = 0; i < d; i++)
        r->sum[i] = (at ? r->sum[i] : 0.0) + (double)data[i];
    if (at + 1 < it->n || was_taken(r, (uint32_t)idx, tok))
        return;
    for (uint32_t i = 0; i < d; i++)
        r->row[i] = (float)(r->sum[i] / it->n);
    take_row(r, it, (uint32_t)idx, it->row, r->row);
}

/* ---- a batch ---- */

static uint32_t label_of(const myth_residual_run *r, myth_str label)
{
    for (uint32_t k = 0; k < r->o->n_label && label.text; k++)
        if (strlen(r->o->label[k]) == label.len && memcmp(r->o->label[k], label.text, label.len) == 0)
            return k;
    return r->o->unlabelled;
}

/* The token of a prompt that gives its row; n or more when it has none. */
static uint32_t token_at(const myth_residual_opts *o, uint32_t n)
{
    const int64_t at = o->at < 0 ? (int64_t)n + o->at : o->at;
    return at < 0 || at >= n ? n : (uint32_t)at;
}

bool myth_residual_has_row(const myth_residual_opts *o, uint32_t n, char fault[MYTH_PROMPT_FAULT_BYTES])
{
    if (o->position != MYTH_POSITION_AT || token_at(o, n) < n)
        return true;
    snprintf(fault, MYTH_PROMPT_FAULT_BYTES, "%u token%s, none at position %d", n, myth_s(n), o->at);
    return false;
}

static myth_status end_part(myth_jout_block *block, size_t *len, const myth_job_prompt *it, myth_error *err)
{
    const myth_status st = myth_jout_block_end(block, len);
    if (st == MYTH_ENOMEM)
        return myth_fail(err, st, "out of memory for a line of rows.jsonl");
    return st == MYTH_OK
             ? MYTH_OK
             : myth_fail(err, st, "line %llu: too long for a line of rows.jsonl", (unsigned long long)it->line);
}

/* Says in the index which rows an item has. The id, which may have any length, stands between two parts. */
static myth_status index_item(myth_residual_run *r, const myth_job_prompt *it, const char *fault, uint64_t n,
                              myth_error *err)
{
    static const char id[] = ",\"id\":";
    char first[LINE_BYTES], last[LINE_BYTES] = "}\n";
    myth_jout_block block;
    size_t n_first, n_last = 2;
    myth_status st = MYTH_OK;
    if (!r->rows.is_open)
        return MYTH_OK;
    myth_json_out *j = myth_jout_block_begin(&block, first, sizeof(first));
    myth_jout_object(j);
    myth_jout_key_u64(j, "index", it->index);
    if (fault) {
        myth_jout_key_str(j, "fault", fault);
    } else {
        myth_jout_key_u64(j, "row", r->st.row);
        myth_jout_key_u64(j, "n", n);
    }
    myth_jout_end(j);
    MYTH_TRY(end_part(&block, &n_first, it, err));
    if (it->label.text && it->label.len < MYTH_LABEL_BYTES) {
        j = myth_jout_block_begin(&block, last, sizeof(last));
        myth_jout_object(j);
        myth_jout_key(j, "label");
        myth_jout_text(j, it->label.text, it->label.len);
        myth_jout_end(j);
        MYTH_TRY(end_part(&block, &n_last, it, err));
        last[0] = ','; /* it goes on with the members of the first part, whose "}" and newline are left out */
    }
    MYTH_TRY(myth_residual_rows_index(&r->rows, &r->st.index_at, first, n_first - 2, err));
    if (it->n_id) {
        MYTH_TRY(myth_residual_rows_index(&r->rows, &r->st.index_at, id, sizeof(id) - 1, err));
        MYTH_TRY(myth_residual_rows_index(&r->rows, &r->st.index_at, it->id, it->n_id, err));
    }
    st = myth_residual_rows_index(&r->rows, &r->st.index_at, last, n_last, err);
fail:
    return st;
}

/* The item is done, and has no row but one of NaN where every item has one. */
static myth_status add_fault(myth_residual_run *r, const myth_job_prompt *it, const char *fault, myth_error *err)
{
    char text[MYTH_PROMPT_FAULT_BYTES + 40];
    const int n =
        snprintf(text, sizeof(text), "line %llu: %.*s", (unsigned long long)it->line, MYTH_PROMPT_FAULT_BYTES, fault);
    myth_status st = myth_journal_put(r->journal, it->index, text, (size_t)n, err);
    if (st == MYTH_OK)
        st = index_item(r, it, fault, 0, err);
    for (uint32_t i = 0; i < r->o->n_layer && st == MYTH_OK && r->rows.is_open; i++)
        if (r->o->position != MYTH_POSITION_EVERY)
            st = myth_residual_rows_put(&r->rows, i, r->st.row, NULL, err);
    r->st.row += r->o->position != MYTH_POSITION_EVERY;
    r->st.n_fault++;
    r->st.next = it->index + 1;
    return st;
}

static myth_status add_prompt(myth_residual_run *r, const myth_job_prompt *it, myth_error *err)
{
    const uint32_t n = it->n_ids, first = r->n_row, one = token_at(r->o, n);
    const bool is_at = r->o->position == MYTH_POSITION_AT;
    const uint64_t n_own = r->o->position == MYTH_POSITION_EVERY ? n : 1;
    char fault[MYTH_PROMPT_FAULT_BYTES];
    if (!myth_residual_has_row(r->o, n, fault))
        return add_fault(r, it, fault, err);
    const myth_status st = index_item(r, it, NULL, n_own, err);
    if (st != MYTH_OK)
        return st;
    item *own = &r->item[r->n_item];
    *own = (item){.label = label_of(r, it->label), .first = first, .n = n, .row = r->st.row, .n_row = n_own};
    own->index = it->index;
    own->line = it->line;
    r->run[r->n_item] = (myth_batch_run){.seq = r->seq, .token = r->ids + first, .n = n, .is_ephemeral = true};
    memcpy(r->ids + first, it->ids, n * sizeof(*it->ids));
    for (uint32_t t = 0; t < n; t++) {
        const bool is_wanted = !is_at || t == one;
        r->label[first + t] = is_wanted ? (int32_t)own->label : -1;
        r->want[first + t] = is_wanted ? MYTH_WANT_HIDDEN : 0;
        r->item_of[first + t] = r->n_item;
    }
    r->n_item++;
    r->n_row += n;
    r->st.row += n_own;
    r->st.n_done++;
    r->st.n_token += n;
    r->st.next = it->index + 1;
    return MYTH_OK;
}

/* Takes prompts until the next one does not fit; that one waits. */
static myth_status fill(myth_residual_run *r, bool *has_more, myth_error *err)
{
    myth_status st = MYTH_OK;
    r->n_item = r->n_row = 0;
    for (;;) {
        if (!r->has_pending)
            MYTH_TRY(myth_prompts_next(r->prompts, &r->pending, &r->has_pending, err));
        *has_more = r->has_pending;
        if (!r->has_pending)
            return MYTH_OK;
        if (r->pending.ids && r->n_item && (r->n_item == r->most || r->n_row + r->pending.n_ids > r->size.now))
            return MYTH_OK;
        r->has_pending = false;
        if (r->pending.ids)
            MYTH_TRY(add_prompt(r, &r->pending, err));
        else
            MYTH_TRY(add_fault(r, &r->pending, r->pending.fault, err));
        if (myth_cancelled(r->cli->cancel)) /* many lines may be faults */
            return MYTH_OK;
    }
fail:
    return st;
}

myth_status myth_residual_run_commit(myth_residual_run *r, myth_error *err)
{
    const size_t head = sizeof(r->st);
    myth_status st = MYTH_OK;
    const double begin = myth_seconds();
    MYTH_TRY(myth_lines_check(myth_prompts_lines(r->prompts), err));
    memcpy(r->block, &r->st, head);
    if (r->rows.is_open) {
        MYTH_TRY(myth_residual_rows_sync(&r->rows, r->st.row, r->st.index_at, err));
        MYTH_TRY(myth_journal_put_state(r->journal, ROW_SUMS, r->rows.sum, sums_bytes(r), err));
    }
    r->sync_s = myth_seconds() - begin;
    if (!r->is_host && !r->has_sums) /* of no prompt yet */
        MYTH_TRY(myth_capture_save(r->e, r->block + head, r->n_block - head, err));
    MYTH_TRY(myth_journal_put_state(r->journal, "sums", r->block, r->n_block, err));
    MYTH_TRY(myth_journal_commit(r->journal, err));
    r->committed_at = myth_seconds();
    r->has_committed = true;
    r->is_behind = false;
fail:
    return st;
}

/* Runs items from `from` on, behind `end` none, at most `most` rows of them but at least one item; *from is then the
 * next. */
static myth_status forward(myth_residual_run *r, uint32_t *from, uint32_t end, uint32_t most, uint32_t *n_row,
                           myth_error *err)
{
    const uint32_t first = *from;
    *n_row = 0;
    do
        *n_row += r->item[(*from)++].n;
    while (*from < end && *n_row + r->item[*from].n <= most);
    r->first_row = r->item[first].first;
    return myth_forward(r->e,
                        &(myth_batch){
                            .run = r->run + first,
                            .n_run = *from - first,
                            .want = r->is_host ? r->want + r->first_row : NULL,
                            .capture_label = r->is_host ? NULL : r->label + r->first_row,
                            .hook = r->o->hook,
                            .on_hidden = on_hidden,
                            .user = r,
                            .cancel = r->is_behind ? NULL : r->cli->cancel,
                        },
                        NULL, err);
}

/* The device's sums as they were before the items under way. Rows of the host are known one by one. */
static myth_status take_back(myth_residual_run *r, myth_error *err)
{
    const size_t head = sizeof(r->st);
    if (r->is_host)
        return MYTH_OK;
    return r->has_sums ? myth_capture_restore(r->e, r->block + head, r->n_block - head, err)
                       : myth_capture_reset(r->e, err);
}

static myth_status run_items(myth_residual_run *r, uint32_t first, uint32_t end, myth_error *err)
{
    myth_status st = MYTH_OK;
    uint32_t n_row;
    if (r->took)
        memset(r->took, 0, took_bytes(r->o, r->n_ubatch));
    for (uint32_t from = first; from < end && st == MYTH_OK;) {
        st = forward(r, &from, end, r->size.now, &n_row, err);
        if (myth_batch_size_again(&r->size, st, n_row)) {
            st = take_back(r, err);
            from = first;
        }
    }
    if (st == MYTH_OK)
        myth_batch_size_done(&r->size);
    return st == MYTH_OK && r->failure.code != MYTH_OK ? myth_fail_as(err, &r->failure) : st;
}

/* ---- sums ---- */

/* The first layer of which a value could not be summed; -1 = none. */
static int32_t bad_layer(const myth_residual_run *r)
{
    const size_t head = sizeof(r->st);
    if (!r->is_host)
        return myth_capture_saved_bad(r->before + head, r->n_block - head);
    for (uint32_t i = 0; i < r->o->n_layer; i++)
        if (r->sums.bad[i])
            return (int32_t)r->o->layer[i];
    return -1;
}

/* Runs items and adds them up; *bad >= 0: a value of that layer could not be summed, and the sums are as before. */
static myth_status sum_items(myth_residual_run *r, uint32_t first, uint32_t end, int32_t *bad, myth_error *err)
{
    const size_t head = sizeof(r->st), n = r->n_block - head;
    myth_status st = MYTH_OK;
    if (r->is_host)
        memcpy(r->before + head, r->block + head, n);
    MYTH_TRY(run_items(r, first, end, err));
    if (!r->is_host) {
        st = myth_capture_save(r->e, r->before + head, n, err);
        if (st == MYTH_ENOMEM) /* it only reads */
            st = myth_capture_save(r->e, r->before + head, n, err);
        MYTH_TRY(st);
    }
    *bad = bad_layer(r);
    if (*bad >= 0 && !r->is_host)
        return take_back(r, err);
    if (r->is_host == (*bad >= 0))
        memcpy(r->block + head, r->before + head, n);
    r->has_sums = true;
    for (uint32_t k = first; k < end && r->is_host && *bad < 0; k++)
        r->sums.count[r->item[k].label] += r->item[k].n_row;
fail:
    return st;
}

/* A prompt whose residuals cannot be summed is a fault. Its rows in files stay as they came. */
static myth_status leave_out(myth_residual_run *r, const item *it, int32_t layer, myth_error *err)
{
    char text[160];
    const int n = snprintf(text, sizeof(text),
                           "line %llu: layer %d: its residual is infinite or NaN, or too large to be summed (2^38)",
                           (unsigned long long)it->line, layer);
    r->st.n_done--;
    r->st.n_fault++;
    return myth_journal_put(r->journal, it->index, text, (size_t)n, err);
}

/* Adds up the batch. Sums do not tell whose value they could not take: then each prompt by itself. */
static myth_status run_batch(myth_residual_run *r, myth_error *err)
{
    int32_t bad = -1, own;
    myth_status st = MYTH_OK;
    MYTH_TRY(sum_items(r, 0, r->n_item, &bad, err));
    for (uint32_t k = 0; k < r->n_item && bad >= 0; k++) {
        MYTH_TRY(sum_items(r, k, k + 1, &own, err));
        if (own >= 0)
            MYTH_TRY(leave_out(r, &r->item[k], own, err));
    }
fail:
    return st;
}

myth_status myth_residual_run_step(myth_residual_run *r, bool *has_more, uint32_t *n_tok, double *seconds,
                                   myth_error *err)
{
    myth_status st = MYTH_OK;
    *n_tok = 0;
    MYTH_TRY(fill(r, has_more, err));
    const double begin = myth_seconds();
    if (r->n_item)
        MYTH_TRY(run_batch(r, err));
    *n_tok = r->n_row;
    *seconds = myth_seconds() - begin;
    if (!r->rows.is_open || !*has_more || myth_seconds() - r->committed_at >= MYTH_RESIDUAL_SYNC_SHARE * r->sync_s)
        MYTH_TRY(myth_residual_run_commit(r, err));
    else
        r->is_behind = true;
fail:
    if (st == MYTH_ECANCEL) {
        if (r->has_committed)
            memcpy(&r->st, r->block, sizeof(r->st));
        else
            r->st = (myth_residual_state){0};
    }
    return st;
}

/* ---- open, close ---- */

/* The sums of n_share shares, added up; each has its own items alone. */
static myth_status add_shares(myth_residual_run *r, uint32_t n_share, const myth_prompts_survey *survey,
                              myth_error *err)
{
    const size_t head = sizeof(r->st);
    const myth_residual_shape is = shape_of(r->o, r->dim);
    unsigned char *one = myth_alloc(r->cli->mem, MYTH_MEM_STAGING, "sums", r->n_block);
    myth_residual_state all = {.next = survey->n_item}, part;
    myth_residual_sums sums;
    bool has;
    myth_status st = MYTH_OK;
    if (!one)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for the sums of a share");
    for (uint32_t k = 0; k < n_share; k++) {
        char name[32];
        snprintf(name, sizeof(name), "sums %u", k);
        MYTH_TRY(myth_journal_get_state(r->journal, name, k ? one : r->block, r->n_block, &has, err));
        if (!has)
            MYTH_TRY(myth_fail(err, MYTH_EARG, "share %u of %u has no sums: compute it first", k + 1, n_share));
        memcpy(&part, k ? one : r->block, head);
        all.n_done += part.n_done;
        all.n_fault += part.n_fault;
        all.n_token += part.n_token;
        all.row += part.row;
        r->row_of_share[k] = part.row;
        r->index_of_share[k] = part.index_at;
        if (k && !r->is_host)
            MYTH_TRY(myth_capture_add_saved(r->block + head, one + head, r->n_block - head, err));
        if (k && r->is_host) {
            myth_residual_sums_at(&sums, one + head, &is);
            myth_residual_sums_merge(&r->sums, &sums);
        }
    }
    if (all.n_done + all.n_fault != survey->n_item)
        MYTH_TRY(myth_fail(err, MYTH_EARG,
                           "the shares have %llu of %llu prompts: one was interrupted; begin anew with --resume off",
                           (unsigned long long)(all.n_done + all.n_fault), (unsigned long long)survey->n_item));
    memcpy(r->block, &all, head);
fail:
    myth_free(r->cli->mem, one);
    return st;
}

/* The sums of the files of rows, which the journal keeps with the state of this process, or of a share. */
static myth_status get_row_sums(myth_residual_run *r, const char *name, uint64_t sum[MYTH_ROW_FILE_MAX + 1],
                                myth_error *err)
{
    bool has;
    const myth_status st = myth_journal_get_state(r->journal, name, sum, sums_bytes(r), &has, err);
    return st != MYTH_OK || has ? st
                                : myth_fail(err, MYTH_EFORMAT,
                                            "the journal has no sums of the rows: it was begun by another version of "
                                            "mythos; go on with that, or begin anew with --resume off");
}

/* The number of a job is in the journal as soon as anything else is. */
static myth_status open_rows(myth_residual_run *r, bool goes_on, bool is_whole, myth_error *err)
{
    char folder[PATH_MAX];
    uint64_t sum[MYTH_ROW_FILE_MAX + 1];
    const myth_residual_rows_done done = {.n_row = r->st.row, .at = r->st.index_at, .sum = sum, .is_whole = is_whole};
    myth_residual_rows_job job = {.journal = r->o->job};
    bool has = false;
    myth_status st = goes_on ? get_row_sums(r, ROW_SUMS, sum, err) : MYTH_OK;
    if (st != MYTH_OK)
        return st;
    if (goes_on)
        st = myth_journal_get_state(r->journal, "rows job", &job.number, sizeof(job.number), &has, err);
    else
        job.number = myth_residual_rows_number();
    if (st == MYTH_OK && !goes_on)
        st = myth_journal_put_state(r->journal, "rows job", &job.number, sizeof(job.number), err);
    if (st != MYTH_OK)
        return st;
    const char *dir = myth_shares_is_part(r->cli)
                        ? myth_residual_rows_folder(folder, r->o->rows, r->cli->share, r->cli->n_share)
                        : r->o->rows;
    return myth_residual_rows_open(&r->rows, dir, r->o->layer, r->o->n_layer, r->o->n_row, r->dim, &job,
                                   goes_on ? &done : NULL, err);
}

/* Sums and state of an earlier run, or of shares of one, else of none. */
static myth_status go_on(myth_residual_run *r, const myth_prompts_survey *survey, myth_error *err)
{
    const size_t head = sizeof(r->st);
    bool has = false;
    myth_status st = MYTH_OK;
    MYTH_TRY(myth_journal_get_state(r->journal, "shares", &r->n_share, sizeof(r->n_share), &has, err));
    if (has && (r->n_share == 0 || r->n_share > MYTH_JOURNAL_SHARES))
        MYTH_TRY(myth_fail(err, MYTH_EFORMAT, "the journal is damaged: begin anew with --resume off"));
    if (has)
        MYTH_TRY(add_shares(r, r->n_share, survey, err));
    else
        MYTH_TRY(myth_journal_get_state(r->journal, "sums", r->block, r->n_block, &has, err));
    r->has_committed = r->has_sums = has;
    if (has)
        memcpy(&r->st, r->block, head);
    if (has && r->st.next > survey->n_item)
        MYTH_TRY(myth_fail(err, MYTH_EFORMAT, "the journal is damaged: begin anew with --resume off"));
    if (has && !r->is_host)
        MYTH_TRY(myth_capture_restore(r->e, r->block + head, r->n_block - head, err));
    else if (!r->is_host)
        MYTH_TRY(myth_capture_reset(r->e, err));
    if (r->o->rows && !r->n_share)
        MYTH_TRY(open_rows(r, has, has && r->st.next == survey->n_item, err));
fail:
    return st;
}

myth_status myth_residual_run_open(myth_residual_run **out, myth_cli *cli, myth_engine *e, myth_prompts *p,
                                   myth_journal *j, const myth_residual_opts *o, const myth_prompts_survey *survey,
                                   myth_error *err)
{
    const myth_config *c = &myth_engine_model(e)->config;
    const uint32_t n_ubatch = myth_engine_plan(e)->n_ubatch, most = batch_most(o, n_ubatch), d = c->d_model;
    const myth_residual_shape is = shape_of(o, d);
    myth_mem *mem = cli->mem;
    myth_status st = MYTH_OK;
    myth_residual_run *r = myth_alloc(mem, MYTH_MEM_STAGING, "residuals", sizeof(*r));
    if (!r)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for %zu bytes", sizeof(*r));
    r->cli = cli;
    r->e = e;
    r->prompts = p;
    r->journal = j;
    r->o = o;
    r->n_ubatch = n_ubatch;
    r->most = most;
    r->dim = d;
    r->n_layer = c->n_layer;
    r->n_all = survey->n_item;
    r->is_host = myth_residual_on_host(o);
    r->size = myth_batch_size_of(n_ubatch);
    r->n_block = sizeof(r->st) + (size_t)(r->is_host ? myth_residual_sums_bytes(&is) : myth_capture_state_bytes(e));
    r->block = myth_alloc(mem, MYTH_MEM_STAGING, "sums", r->n_block);
    if (!o->adds_shares) /* which runs none */
        r->before = myth_alloc(mem, MYTH_MEM_STAGING, "sums", r->n_block);
    r->item = myth_alloc_n(mem, MYTH_MEM_STAGING, "batch", most, sizeof(*r->item));
    r->run = myth_alloc_n(mem, MYTH_MEM_STAGING, "batch", most, sizeof(*r->run));
    r->ids = myth_alloc_n(mem, MYTH_MEM_STAGING, "batch", n_ubatch, sizeof(*r->ids));
    r->label = myth_alloc_n(mem, MYTH_MEM_STAGING, "batch", n_ubatch, sizeof(*r->label));
    r->item_of = myth_alloc_n(mem, MYTH_MEM_STAGING, "batch", n_ubatch, sizeof(*r->item_of));
    r->want = myth_alloc(mem, MYTH_MEM_STAGING, "batch", n_ubatch);
    if (r->is_host)
        r->took = myth_alloc(mem, MYTH_MEM_STAGING, "batch", took_bytes(o, n_ubatch));
    r->sum = myth_alloc_n(mem, MYTH_MEM_STAGING, "row", d, sizeof(*r->sum));
    r->row = myth_alloc_n(mem, MYTH_MEM_STAGING, "row", d, sizeof(*r->row));
    r->scratch = myth_alloc_n(mem, MYTH_MEM_STAGING, "row", d, sizeof(*r->scratch));
    if (!r->block || (!o->adds_shares && !r->before) || !r->item || !r->run || !r->ids || !r->label || !r->item_of ||
        !r->want || !r->sum || (r->is_host && !r->took) || !r->row || !r->scratch)
        MYTH_TRY(myth_fail(err, MYTH_ENOMEM, "out of memory for a batch of %u rows", n_ubatch));
    for (uint32_t l = 0; l < MYTH_ROW_FILE_MAX; l++)
        r->idx_of[l] = -1;
    for (uint32_t i = 0; i < o->n_layer; i++)
        r->idx_of[o->layer[i]] = (int32_t)i;
    if (r->is_host)
        myth_residual_sums_at(&r->sums, r->block + sizeof(r->st), &is);
    MYTH_TRY(myth_seq_open(&r->seq, e, err));
    MYTH_TRY(go_on(r, survey, err));
    r->committed_at = myth_seconds();
    *out = r;
    return MYTH_OK;
fail:
    myth_residual_run_close(r);
    return st;
}

void myth_residual_run_close(myth_residual_run *r)
{
    if (!r)
        return;
    myth_mem *mem = r->cli->mem;
    myth_residual_rows_close(&r->rows);
    if (r->seq)
        myth_seq_close(r->seq);
    myth_free(mem, r->scratch);
    myth_free(mem, r->row);
    myth_free(mem, r->sum);
    myth_free(mem, r->took);
    myth_free(mem, r->want);
    myth_free(mem, r->item_of);
    myth_free(mem, r->label);
    myth_free(mem, r->ids);
    myth_free(mem, r->run);
    myth_free(mem, r->item);
    myth_free(mem, r->before);
    myth_free(mem, r->block);
    myth_free(mem, r);
}

const myth_residual_state *myth_residual_run_state(const myth_residual_run *r) { return &r->st; }

/* Reads what each share wrote, before any of it is put together. */
static myth_status check_shares(myth_residual_run *r, myth_error *err)
{
    uint64_t sum[MYTH_ROW_FILE_MAX + 1];
    char name[MYTH_JOURNAL_NAME_BYTES];
    myth_status st = MYTH_OK;
    for (uint32_t k = 0; k < r->n_share && st == MYTH_OK && !myth_cancelled(r->cli->cancel); k++) {
        const myth_residual_rows_done done = {.n_row = r->row_of_share[k], .at = r->index_of_share[k], .sum = sum};
        snprintf(name, sizeof(name), ROW_SUMS " %u", k);
        st = get_row_sums(r, name, sum, err);
        if (st == MYTH_OK)
            st = myth_residual_rows_check_share(&r->rows, k, r->n_share, &done, err);
    }
    return st;
}

/* The journal notes that the rows of all shares are together: only then are their folders removed. */
static myth_status finish_shares(myth_residual_run *r, myth_error *err)
{
    myth_status st = MYTH_OK;
    char is;
    bool has;
    MYTH_TRY(myth_journal_get_state(r->journal, "rows", &is, 1, &has, err));
    if (!has) {
        MYTH_TRY(open_rows(r, false, false, err));
        MYTH_TRY(check_shares(r, err));
        MYTH_TRY(myth_residual_rows_merge(&r->rows, r->n_share, r->row_of_share, r->n_all,
                                          r->o->position != MYTH_POSITION_EVERY, r->cli->cancel, &r->st.index_at, err));
        MYTH_TRY(myth_residual_rows_finish(&r->rows, r->st.index_at, err));
        MYTH_TRY(myth_journal_put_state(r->journal, "rows", "1", 1, err));
        MYTH_TRY(myth_journal_commit(r->journal, err));
    }
    myth_residual_rows_remove(r->o->rows, r->n_share);
fail:
    return st;
}

myth_status myth_residual_run_finish(myth_residual_run *r, myth_error *err)
{
    if (r->o->rows && r->n_share)
        return finish_shares(r, err);
    return r->rows.is_open ? myth_residual_rows_finish(&r->rows, r->st.index_at, err) : MYTH_OK;
}

myth_status myth_residual_run_mean(void *user, uint32_t label, uint32_t idx, double *mean, uint64_t *n, myth_error *err)
{
    const myth_residual_run *r = user;
    const uint32_t layer = r->o->layer[idx];
    if (r->is_host)
        return myth_residual_sums_mean(&r->sums, label, idx, layer, mean, n, err);
    myth_status st = myth_capture_read(r->e, label, layer, mean, n, err);
    if (st == MYTH_ENOMEM)
        st = myth_capture_read(r->e, label, layer, mean, n, err);
    for (uint32_t i = 0; st == MYTH_OK && *n == 0 && i < r->dim; i++)
        mean[i] = NAN;
    return st;
}

const myth_residual_sums *myth_residual_run_sums(const myth_residual_run *r) { return &r->sums; }
