/* token_sets.c - see token_sets.h. */
#include "token_sets.h"

#include <math.h>
#include <string.h>

const myth_option myth_options_token_sets[MYTH_N_OPTIONS_TOKEN_SETS] = {
    {"parallel-threshold", NULL, MYTH_OPT_F32, "P", offsetof(myth_token_set_flags, threshold), "0", 0, 1,
     "keep all tokens of at least this probability at a position, beside each other; 0: the best one alone"},
    {"max-parallel-tokens", NULL, MYTH_OPT_U32, "N", offsetof(myth_token_set_flags, most), "8", 1, MYTH_SET_MEMBERS,
     "tokens beside each other at most; fewer where the context has no rows left for them"},
    {"set-mode", NULL, MYTH_OPT_CHOICE, "isolated|visible", offsetof(myth_token_set_flags, mode), "isolated", 0, 0,
     "whether the tokens of a position see each other"},
    {"combine", NULL, MYTH_OPT_CHOICE, "mixture|top|branches", offsetof(myth_token_set_flags, combine), "mixture", 0, 0,
     "what comes next: by all tokens of the position, each with its weight, or by the best one; or each goes on apart, "
     "as "
     "an answer of its own"},
    {"prune", NULL, MYTH_OPT_F32, "SHARE", offsetof(myth_token_set_flags, prune), "0", 0, 1,
     "take tokens out again that got less than this share of their position's mean attention; 0: keep all"},
    {"prune-after", NULL, MYTH_OPT_U32, "N", offsetof(myth_token_set_flags, prune_after), "4", 1, MYTH_SET_PRUNE_MOST,
     "positions whose attention decides that"},
};

myth_status myth_token_sets_check(const myth_cli *cli, const myth_token_set_flags *f, myth_error *err)
{
    for (int i = 1; i < MYTH_N_OPTIONS_TOKEN_SETS && !(f->threshold > 0.0f); i++)
        if (myth_args_is_flag(cli->parsed, myth_options_token_sets[i].name))
            return myth_fail(err, MYTH_EARG, "--%s is about several tokens a position; add --parallel-threshold P",
                             myth_options_token_sets[i].name);
    static const char *const within[] = {"set-mode", "prune", "prune-after"};
    for (size_t i = 0; i < sizeof(within) / sizeof(within[0]) && f->combine == MYTH_COMBINE_APART; i++)
        if (myth_args_is_flag(cli->parsed, within[i]))
            return myth_fail(err, MYTH_EARG,
                             "--%s is about tokens beside each other; leave it out with --combine branches", within[i]);
    if (myth_args_is_flag(cli->parsed, "prune-after") && !(f->prune > 0.0f))
        return myth_fail(err, MYTH_EARG, "--prune-after says when tokens are taken out; add --prune SHARE");
    return MYTH_OK;
}

void myth_token_sets_opts(myth_sets_opts *out, const myth_token_set_flags *f)
{
    *out = (myth_sets_opts){
        .n_member = f->most,
        .threshold = f->threshold,
        .kind = f->mode == 0 ? MYTH_SET_ISOLATED : MYTH_SET_VISIBLE,
        .combine = f->combine == 0 ? MYTH_COMBINE_MIXTURE : MYTH_COMBINE_TOP,
        .prune = f->prune,
        .prune_after = f->prune_after,
    };
}

void myth_token_sets_plan_json(myth_json_out *j, const myth_sets_opts *o, bool are_branches, const myth_model *m,
                               const myth_plan *p, uint32_t n_prompt)
{
    const myth_sets_most most = myth_sets_at_most(o, m, p, n_prompt);
    myth_jout_key(j, "sets");
    myth_jout_object(j);
    if (are_branches) {
        myth_jout_key_u64(j, "branches", o->n_member);
    } else {
        myth_jout_key_u64(j, "members", most.n_member);
        myth_jout_key_u64(j, "rows_per_position", most.n_member - 1);
        myth_jout_key_u64(j, "rows", most.n_row);
        myth_jout_key_u64(j, "row_bytes", most.row_bytes);
    }
    myth_jout_end(j);
}

void myth_token_sets_plan_text(FILE *f, const myth_sets_opts *o, bool are_branches, const myth_model *m,
                               const myth_plan *p, uint32_t n_prompt)
{
    const myth_sets_most most = myth_sets_at_most(o, m, p, n_prompt);
    if (are_branches)
        fprintf(f, "up to %u branches, each a sequence of the plan\n", o->n_member);
    else
        fprintf(f,
                "sets of up to %u tokens: %u row%s more a position at most, %llu in all, of %llu bytes; the keys and "
                "values above have them\n",
                most.n_member, most.n_member - 1, myth_s(most.n_member - 1), (unsigned long long)most.n_row,
                (unsigned long long)most.row_bytes);
}

void myth_token_sets_print(myth_term *term, FILE *out, const myth_set_member *set, uint32_t n, myth_detok *d,
                           char *piece)
{
    const myth_detok before = *d;
    if (n > 1)
        fputc('{', out);
    for (uint32_t i = 0; i < n; i++) {
        myth_detok one = before; /* each goes on from the best tokens before it */
        if (i)
            fputc('|', out);
        myth_term_data(term, out, piece, myth_detok_push(&one, set[i].id, piece));
        if (i == 0)
            *d = one;
    }
    if (n > 1)
        fputc('}', out);
    fflush(out);
}

/* The number of a member's row, or of the position after which it was taken out. */
static void print_where(myth_json_out *j, const char *key, bool is_there, int64_t number)
{
    myth_jout_key(j, key);
    if (is_there)
        myth_jout_i64(j, number);
    else
        myth_jout_null(j);
}

static void print_member(myth_json_out *j, const myth_set_member *m, const char *text, size_t n_text)
{
    myth_jout_object(j);
    myth_jout_key(j, "id");
    myth_jout_i64(j, m->id);
    if (text) {
        myth_jout_key(j, "text");
        myth_jout_text(j, text, n_text);
    }
    myth_jout_key_f64(j, "probability", (double)m->p);
    myth_jout_key_f64(j, "weight", (double)m->weight);
    myth_jout_key_f64(j, "attention", (double)m->mass);
    print_where(j, "row", m->is_fed && m->removed_at < 0, m->row);
    print_where(j, "removed_after", m->removed_at >= 0, m->removed_at);
    myth_jout_end(j);
}

void myth_token_sets_json(myth_json_out *j, const myth_sets_result *r, uint32_t n_prompt, const myth_tokenizer *t,
                          char *piece)
{
    myth_detok d = {0};
    uint64_t n_row = n_prompt, n_fed = 0;
    if (t)
        myth_detok_start(&d, t, false);
    myth_jout_key(j, "sets");
    myth_jout_array(j);
    for (uint32_t i = 0, end; i < r->n_member; i = end) {
        const myth_detok before = d;
        const uint32_t position = r->member[i].position;
        myth_jout_object(j);
        myth_jout_key_u64(j, "position", position);
        myth_jout_key_u64(j, "place", (uint64_t)n_prompt + position);
        myth_jout_key(j, "members");
        myth_jout_array(j);
        for (end = i; end < r->n_member && r->member[end].position == position; end++) {
            const myth_set_member *m = &r->member[end];
            myth_detok one = before;
            const size_t n = t ? myth_detok_push(&one, m->id, piece) : 0;
            print_member(j, m, t ? piece : NULL, n);
            if (end == i)
                d = one;
            n_row += m->is_fed && m->removed_at < 0;
        }
        n_fed += r->member[i].is_fed;
        myth_jout_end(j);
        myth_jout_end(j);
    }
    myth_jout_end(j);
    myth_jout_key(j, "layout");
    myth_jout_object(j);
    myth_jout_key_u64(j, "positions", n_prompt + n_fed);
    myth_jout_key_u64(j, "rows", n_row);
    myth_jout_key_u64(j, "row_bytes", r->row_bytes);
    myth_jout_key_u64(j, "removed", r->n_removed);
    myth_jout_key_u64(j, "bytes_freed", r->n_removed * r->row_bytes);
    myth_jout_end(j);
    myth_jout_key(j, "limits");
    myth_jout_object(j);
    myth_jout_key_u64(j, "sets_cut_by_context", r->n_cut_by_context);
    myth_jout_key_u64(j, "sets_cut_by_window", r->n_cut_by_window);
    myth_jout_key_u64(j, "sets_cut_by_max_parallel_tokens", r->n_cut_by_most);
    myth_jout_end(j);
}

static void say(char *dst, size_t cap, uint32_t n, const char *what)
{
    const size_t len = strlen(dst);
    if (n)
        snprintf(dst + len, cap - len, "%s%u %s fewer tokens than they could: %s", len ? "; " : "", n,
                 n == 1 ? "position has" : "positions have", what);
}

void myth_token_sets_note(char *dst, size_t cap, const myth_sets_result *r, const myth_token_set_flags *f)
{
    char freed[24], most[64];
    dst[0] = '\0';
    if (r->n_removed)
        snprintf(dst, cap, "%u of %u tokens %s taken out again, %s of the cache", r->n_removed, r->n_member,
                 r->n_removed == 1 ? "was" : "were", myth_size_text(freed, r->n_removed * r->row_bytes));
    snprintf(most, sizeof most, "raise --max-parallel-tokens %u", f->most);
    say(dst, cap, r->n_cut_by_most, most);
    say(dst, cap, r->n_cut_by_context, "raise -c");
    say(dst, cap, r->n_cut_by_window, "the local layers keep no more rows of their window");
}

/* Writes the text of a branch's ids: as data to `out`, or into j. */
static void branch_text(myth_json_out *j, myth_term *term, FILE *out, const myth_branch *b, const myth_tokenizer *t,
                        char *piece)
{
    myth_detok d;
    myth_detok_start(&d, t, j == NULL);
    for (uint32_t i = 0; i <= b->n; i++) {
        const size_t n = i < b->n ? myth_detok_push(&d, b->ids[i], piece) : myth_detok_finish(&d, piece);
        if (j)
            myth_jout_text_part(j, piece, n);
        else
            myth_term_data(term, out, piece, n);
    }
}

void myth_branches_print(myth_term *term, FILE *out, const myth_branches_result *r, const myth_tokenizer *t,
                         char *piece)
{
    for (uint32_t i = 0; i < r->n_branch; i++) {
        const myth_branch *b = &r->branch[i];
        fprintf(out, "%.3g\t", exp(b->logprob));
        for (uint32_t k = 0; k < b->n && !t; k++)
            fprintf(out, "%s%d", k ? "," : "", b->ids[k]);
        if (t)
            branch_text(NULL, term, out, b, t, piece);
        fputc('\n', out);
    }
}

void myth_branches_json(myth_json_out *j, const myth_branches_result *r, const myth_tokenizer *t, char *piece)
{
    myth_jout_key(j, "branches");
    myth_jout_array(j);
    for (uint32_t i = 0; i < r->n_branch; i++) {
        const myth_branch *b = &r->branch[i];
        myth_jout_object(j);
        myth_jout_key(j, "ids");
        myth_jout_ids(j, b->ids, b->n);
        if (t) {
            myth_jout_key(j, "text");
            myth_jout_text_begin(j);
            branch_text(j, NULL, NULL, b, t, piece);
            myth_jout_text_end(j);
        }
        myth_jout_key_f64(j, "logprob", b->logprob);
        myth_jout_key_f64(j, "probability", exp(b->logprob));
        myth_jout_key_str(j, "finish_reason", myth_finish_name(b->why));
        myth_jout_key_u64(j, "parent", b->parent);
        myth_jout_key_u64(j, "from", b->from);
        myth_jout_end(j);
    }
    myth_jout_end(j);
    myth_jout_key_u64(j, "not_followed", r->n_not_followed);
}
