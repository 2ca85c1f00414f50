/* judge.c - builds the prompts of a function's places, computes what they share once, and reads the two answers' logits
 * behind each question. */
#include "judge.h"

#include "calibration.h"
#include "engine/base/array.h"
#include "engine/base/clock.h"
#include "frontend/inspect/prompt/comments.h"
#include "frontend/inspect/select/rerank.h"
#include "judge_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    N_ANSWER = 2,
    STEP_CTX = 64,
    QUESTION = 64, /* most tokens of a question behind what all share */
    FIRST_TEXT = 4096,
    NEAR = 30, /* fewer lines around several places than this: they are asked about in two prompts */
};

static const char *const answers[N_ANSWER] = {"Yes", "No"};

/* The end of the prompt about one place. */
typedef struct {
    uint32_t n_prompt, n; /* tokens of the whole prompt; of them, the last that all places do not share */
    int32_t last[QUESTION];
} tail;

struct myth_judge {
    myth_mem *mem;
    const myth_model *model;
    myth_judge_opts o;
    myth_judge_form form;
    bool shows_removed; /* the prompts have what a change removed */
    myth_calibration calibration;
    int32_t answer[N_ANSWER];
    char *user; /* the text of a prompt */
    size_t n_user;
    size_t most_text; /* bytes of a text that may fit a prompt: a longer one has more tokens, however it is cut */
    int32_t *ids;     /* the ids of a prompt */
    int32_t *shared;  /* what all prompts of a list share */
    size_t n_ids, n_shared;
    tail *question; /* of a list's places */
    size_t n_question;
    float *score; /* what was said of a list's places */
    size_t n_score;
    uint32_t n_fed;        /* lists that were asked about */
    const uint32_t *index; /* of the places of the function that is judged, by their number in it */
    myth_judge_counts count;
};

static myth_status no_room(const char *what, myth_error *err)
{
    return myth_fail(err, MYTH_ENOMEM, "judge: no room for %s", what);
}

/* ---- prompts ---- */

/* Encodes the prompt about place `ask` into j->ids. Of one that cannot fit *n_ids is UINT32_MAX. */
static myth_status encode(myth_judge *j, const myth_sheet *s, uint32_t ask, size_t *n_ids, myth_error *err)
{
    const size_t need = myth_judge_text(j->user, j->n_user, j->form, s, ask) + 1;
    if (need > j->n_user) {
        if (!MYTH_ARRAY_MORE(j->mem, MYTH_MEM_STAGING, "judge prompt", &j->user, 0, need, &j->n_user))
            return no_room("a prompt", err);
        myth_judge_text(j->user, j->n_user, j->form, s, ask);
    }
    if (need > j->most_text) {
        *n_ids = UINT32_MAX;
        return MYTH_OK;
    }
    const myth_message msg[2] = {{MYTH_ROLE_SYSTEM, myth_judge_system(j->form)}, {MYTH_ROLE_USER, {j->user, need - 1}}};
    if (!MYTH_ARRAY_MORE(j->mem, MYTH_MEM_STAGING, "judge ids", &j->ids, 0, myth_chat_bound(msg, 2), &j->n_ids))
        return no_room("a prompt's ids", err);
    const size_t first = msg[0].text.len == 0; /* a form without a system text has one turn */
    return myth_chat_encode(j->model->tokenizer, j->mem, myth_chat_form_of(&j->model->config, j->model->tokenizer),
                            msg + first, 2 - first, j->ids, j->n_ids, n_ids, err);
}

/* ---- asking ---- */

/* Asks about n places behind the shared ids, which the sequence holds. */
static myth_status ask_batch(myth_judge *j, myth_engine *e, myth_seq *seq, const tail *q, uint32_t n, float *score,
                             myth_error *err)
{
    myth_batch_run run[MYTH_JUDGE_AT_ONCE];
    int32_t ask[MYTH_JUDGE_AT_ONCE * N_ANSWER];
    myth_result out;
    for (uint32_t i = 0; i < n; i++) {
        run[i] = (myth_batch_run){
            .seq = seq,
            .token = q[i].last + QUESTION - q[i].n,
            .n = q[i].n,
            .want_last = MYTH_WANT_LOGITS,
            .is_ephemeral = true,
        };
        memcpy(ask + i * N_ANSWER, j->answer, sizeof(j->answer));
    }
    const myth_batch b = {
        .run = run,
        .n_run = n,
        .top_k = 1,
        .ask_id = ask,
        .n_ask = N_ANSWER,
        .cancel = j->o.cancel,
    };
    const double begin = myth_seconds();
    myth_status st = myth_forward(e, &b, &out, err);
    j->count.question_s += myth_seconds() - begin;
    for (uint32_t i = 0; i < n && st == MYTH_OK; i++) {
        const float *logit = out.ask_logit + (size_t)i * N_ANSWER;
        score[i] = logit[0] - logit[1];
        j->count.n_question_tok += q[i].n;
    }
    return st;
}

/* Encodes the prompts about all places of the list: what they share goes to j->shared, the rest to j->question. */
static myth_status encode_list(myth_judge *j, const myth_sheet *s, uint32_t *n_shared, myth_error *err)
{
    if (!MYTH_ARRAY_MORE(j->mem, MYTH_MEM_STAGING, "judge questions", &j->question, 0, s->n, &j->n_question))
        return no_room("questions", err);
    *n_shared = UINT32_MAX;
    for (uint32_t i = 0; i < s->n; i++) {
        tail *q = &j->question[i];
        size_t n;
        uint32_t same = 0;
        myth_status st = encode(j, s, i, &n, err);
        if (st != MYTH_OK)
            return st;
        if (i == 0) {
            if (!MYTH_ARRAY_MORE(j->mem, MYTH_MEM_STAGING, "judge ids", &j->shared, 0, n, &j->n_shared))
                return no_room("a prompt's ids", err);
            memcpy(j->shared, j->ids, n * sizeof(*j->ids));
        }
        /* a question keeps at least the token whose logits are read */
        while (same + 1 < n && same < *n_shared && j->ids[same] == j->shared[same])
            same++;
        *n_shared = same;
        q->n_prompt = (uint32_t)n;
        for (size_t k = 0; k < QUESTION && k < n; k++)
            q->last[QUESTION - 1 - k] = j->ids[n - 1 - k];
    }
    for (uint32_t i = 0; i < s->n; i++) {
        j->question[i].n = j->question[i].n_prompt - *n_shared;
        if (j->question[i].n > QUESTION)
            return myth_fail(err, MYTH_EUNSUPPORTED, "judge: a question has %u tokens, at most %d", j->question[i].n,
                             (int)QUESTION);
    }
    return MYTH_OK;
}

/* Gives the prompts about the places of the list, which are encoded, to the caller. */
static myth_status show_list(myth_judge *j, const myth_sheet *s, uint32_t n_shared, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < s->n && st == MYTH_OK; i++) {
        const tail *q = &j->question[i]; /* j->ids has room for the longest */
        memcpy(j->ids, j->shared, n_shared * sizeof(*j->ids));
        memcpy(j->ids + n_shared, q->last + QUESTION - q->n, q->n * sizeof(*j->ids));
        st = j->o.on_prompt(j->o.user, j->index[s->first + i], j->ids, q->n_prompt, err);
    }
    return st;
}

/* The key of what is said of the list, whose prompts are encoded. */
static myth_kept_key key_of(const myth_judge *j, uint32_t n_shared, uint32_t n)
{
    myth_kept_begin(j->o.kept);
    myth_kept_add(j->o.kept, j->shared, n_shared * sizeof(*j->shared));
    for (uint32_t i = 0; i < n; i++)
        myth_kept_add(j->o.kept, j->question[i].last + QUESTION - j->question[i].n,
                      j->question[i].n * sizeof(*j->question[i].last));
    return myth_kept_end(j->o.kept);
}

/* Takes what an earlier run was told of the list into j->score; false: nothing. */
static bool take_scores(myth_judge *j, const myth_kept_key *key, uint32_t n)
{
    size_t bytes = 0;
    unsigned char *old = myth_kept_get_report(j->o.kept, key, &bytes);
    bool is_there = old && bytes == n * sizeof(*j->score);
    if (is_there)
        memcpy(j->score, old, bytes);
    for (uint32_t i = 0; i < n && is_there; i++)
        is_there = isfinite(j->score[i]);
    free(old);
    return is_there;
}

/* Scores the places of the list: score[i] becomes the larger of what it is and what the model says. */
static myth_status ask_list(myth_judge *j, myth_engine *e, myth_seq *seq, const myth_sheet *s, float *score,
                            myth_error *err)
{
    const uint32_t ubatch = j->o.is_dry ? UINT32_MAX : myth_engine_plan(e)->n_ubatch;
    uint32_t n_shared = 0, n_fed = 0;
    myth_status st = encode_list(j, s, &n_shared, err);
    if (st != MYTH_OK)
        return st;
    if (!MYTH_ARRAY_MORE(j->mem, MYTH_MEM_STAGING, "judge scores", &j->score, 0, s->n, &j->n_score))
        return no_room("scores", err);
    const bool keeps = j->o.kept && !j->o.is_dry;
    const myth_kept_key key = keeps ? key_of(j, n_shared, s->n) : (myth_kept_key){0};
    if (keeps && take_scores(j, &key, s->n)) {
        for (uint32_t i = 0; i < s->n; i++)
            score[i] = fmaxf(score[i], j->score[i]);
        return MYTH_OK;
    }
    j->n_fed++;
    for (uint32_t i = 0; i < s->n; i++)
        j->score[i] = NAN;
    const double begin = myth_seconds();
    n_fed = n_shared; /* in a dry run; what the list before shares with it may be fewer to feed */
    if (!j->o.is_dry)
        st = myth_seq_sync(seq, j->shared, n_shared, &n_fed, err);
    j->count.prefix_s += myth_seconds() - begin;
    j->count.n_prefix_tok += n_fed;
    j->count.n_prompt++;
    for (uint32_t i = 0; i < s->n && st == MYTH_OK && j->o.is_dry; i++)
        j->count.n_question_tok += j->question[i].n;
    if (j->o.is_dry)
        return st == MYTH_OK && j->o.on_prompt ? show_list(j, s, n_shared, err) : st;
    for (uint32_t from = 0, n; from < s->n && st == MYTH_OK; from += n) {
        const tail *q = j->question + from;
        uint32_t n_tok = q->n;
        for (n = 1; n < j->o.n_at_once && from + n < s->n && n_tok + q[n].n <= ubatch; n++)
            n_tok += q[n].n;
        st = ask_batch(j, e, seq, q, n, j->score + from, err);
    }
    for (uint32_t i = 0; i < s->n && st == MYTH_OK; i++)
        score[i] = fmaxf(score[i], j->score[i]); /* of a number and NAN, the number */
    if (keeps && st == MYTH_OK)
        myth_kept_put_report(j->o.kept, &key, j->score, s->n * sizeof(*j->score));
    return st;
}

/* ---- windows ---- */

/* Whether the prompts of the list fit when it is shown with so many lines. */
static myth_status try_lines(myth_judge *j, myth_sheet *s, uint32_t low, uint32_t high, uint32_t near, bool *fits,
                             myth_error *err)
{
    size_t n;
    myth_sheet_lines(s, low, high, near);
    myth_status st = encode(j, s, s->n - 1, &n, err); /* the last number is the longest */
    *fits = st == MYTH_OK && n <= j->o.n_tok;
    return st;
}

/* Adds to the list what its context tells, as far as the prompts fit and the context has its share of their tokens. */
static myth_status choose_context(myth_judge *j, myth_sheet *s, myth_error *err)
{
    size_t n = 0, n_alone = 0;
    myth_status st = MYTH_OK;
    s->n_context = 0;
    if (!s->context || !s->context->n)
        return MYTH_OK;
    MYTH_TRY(encode(j, s, s->n - 1, &n_alone, err));
    for (s->n_context = s->context->n; s->n_context; s->n_context--) {
        MYTH_TRY(encode(j, s, s->n - 1, &n, err));
        if (n <= j->o.n_tok && n - n_alone <= MYTH_JUDGE_CONTEXT_TOKENS)
            break;
    }
fail:
    return st;
}

/* Chooses the lines that the list is shown with: the whole function if it fits, else as many around its places as fit.
 * *n_near = how many lines around them: those of the function where all of it is shown, -1 where not even the places
 * fit. */
static myth_status choose_lines(myth_judge *j, myth_sheet *s, int64_t *n_near, myth_error *err)
{
    const myth_shown_place *p = &s->f->place[s->first];
    const uint32_t all = s->f->src.n_line;
    uint32_t low = all, high = 1;
    for (uint32_t i = 0; i < s->n; i++) {
        low = p[i].line0 < low ? p[i].line0 : low;
        high = p[i].line1 > high ? p[i].line1 : high;
    }
    int64_t fit = -1, over = all;
    bool fits = false;
    myth_status st = try_lines(j, s, low, high, all, &fits, err);
    for (fit = fits ? (int64_t)all : -1; st == MYTH_OK && fit + 1 < over;) {
        const int64_t middle = fit + (over - fit) / 2;
        st = try_lines(j, s, low, high, (uint32_t)middle, &fits, err);
        fit = fits ? middle : fit;
        over = fits ? over : middle;
    }
    if (fit >= 0) /* the last that was tried may be another */
        myth_sheet_lines(s, low, high, (uint32_t)fit);
    *n_near = fit;
    return st;
}

/* Scores places [first, first + n) of a function, in one prompt or in two halves; in the short form in one each. */
static myth_status judge_places(myth_judge *j, myth_engine *e, myth_seq *seq, const myth_sheet *of, uint32_t first,
                                uint32_t n, float *score, myth_error *err)
{
    myth_sheet s = *of;
    int64_t n_near = 0;
    s.first = first;
    s.n = n;
    if (n > 1 && j->form == MYTH_JUDGE_SHORT) {
        myth_status each = MYTH_OK;
        for (uint32_t i = 0; i < n && each == MYTH_OK; i++)
            each = judge_places(j, e, seq, of, first + i, 1, score, err);
        return each;
    }
    myth_status st = choose_lines(j, &s, &n_near, err);
    if (st == MYTH_OK && myth_cancelled(j->o.cancel))
        st = myth_fail(err, MYTH_ECANCEL, "judge: stopped");
    if (st != MYTH_OK)
        return st;
    if (n > 1 && n_near < NEAR && n_near < of->f->src.n_line) {
        st = judge_places(j, e, seq, of, first, n / 2, score, err);
        return st == MYTH_OK ? judge_places(j, e, seq, of, first + n / 2, n - n / 2, score, err) : st;
    }
    st = n_near < 0 ? MYTH_OK : choose_context(j, &s, err);
    return n_near < 0 || st != MYTH_OK ? st : ask_list(j, e, seq, &s, score + first, err);
}

/* ---- a function as it is shown ---- */

static void close_shown(myth_shown *f, myth_mem *mem)
{
    myth_source_close(&f->src);
    myth_free(mem, f->place);
    myth_free(mem, f->removed);
    myth_free(mem, f->gone);
    myth_free(mem, f->text);
    myth_free(mem, f->number);
}

/* Copies lines line0 .. line1 of the file from `bytes`, which are the file's own or those without comments. */
static myth_status copy_lines(myth_shown *f, myth_mem *mem, const myth_source *file, const unsigned char *bytes,
                              uint32_t line0, uint32_t line1, myth_error *err)
{
    const uint32_t n = line1 - line0 + 1;
    uint32_t number = 0;
    f->n_text = 0;
    if (!MYTH_ARRAY_MORE(mem, MYTH_MEM_STAGING, "judge lines", &f->number, 0, n, &f->room_number))
        return no_room("a function", err);
    for (uint32_t i = 0; i < n; i++) {
        const myth_line *line = &file->line[line0 - 1 + i];
        const unsigned char *from = bytes + line->off;
        const uint32_t len = myth_comments_line(from, line->len);
        const bool is_comment = len == 0 && myth_comments_line(file->bytes + line->off, line->len) > 0;
        if (is_comment) {
            f->number[i] = number ? number : 1;
            continue;
        }
        if (!MYTH_ARRAY_MORE(mem, MYTH_MEM_STAGING, "judge lines", &f->text, f->n_text, len + 1, &f->room_text))
            return no_room("a function", err);
        memcpy(f->text + f->n_text, from, len);
        f->text[f->n_text + len] = '\n';
        f->n_text += len + 1;
        f->number[i] = ++number;
    }
    if (number == 0) { /* nothing but comments: one empty line, which all numbers are about */
        if (!MYTH_ARRAY_MORE(mem, MYTH_MEM_STAGING, "judge lines", &f->text, 0, 1, &f->room_text))
            return no_room("a function", err);
        f->text[f->n_text++] = '\n';
    }
    return MYTH_OK;
}

/* Whether lines were removed inside of the function, and not before or behind it. */
static bool is_gone_from(const myth_removed *r, uint32_t line0, uint32_t line1)
{
    return !r->path && r->before > line0 && r->before <= line1;
}

/* Copies a removed text without the blanks at its lines' ends; with is_bare also without comments, and without the
 * lines that held nothing else. Returns the bytes written, which are at most r->len + 1. Sets *has_comments where
 * comments are left in it. */
static size_t copy_gone(char *dst, const myth_removed *r, bool is_bare, const myth_language *language, uint32_t *n_line,
                        bool *has_comments)
{
    size_t n = 0;
    *n_line = 0;
    memcpy(dst, r->text, r->len);
    if (myth_comments_blank((unsigned char *)dst, r->len, language) && !is_bare) {
        memcpy(dst, r->text, r->len);
        *has_comments = true;
    }
    for (size_t at = 0, next; at < r->len; at = next) {
        const char *end = memchr(dst + at, '\n', r->len - at);
        next = end ? (size_t)(end - dst) + 1 : r->len;
        const uint32_t len = myth_comments_line((const unsigned char *)dst + at, (uint32_t)(next - at - (end != NULL)));
        if (is_bare && !len &&
            myth_comments_line((const unsigned char *)r->text + at, (uint32_t)(next - at - (end != NULL))))
            continue;
        memmove(dst + n, dst + at, len);
        n += len;
        dst[n++] = '\n';
        ++*n_line;
    }
    return n;
}

/* Sets what was removed from the function, before the lines as they are shown. */
static myth_status set_removed(myth_shown *f, myth_mem *mem, const myth_judge_job *job, bool is_bare, uint32_t line0,
                               uint32_t line1, myth_error *err)
{
    size_t bytes = 0, n_gone = 0;
    uint32_t n = 0;
    f->n_removed = 0;
    f->has_gone_comments = false;
    for (uint32_t i = 0; i < job->n_removed; i++)
        if (is_gone_from(&job->removed[i], line0, line1)) {
            bytes += job->removed[i].len + 1;
            n++;
        }
    if (!n)
        return MYTH_OK;
    if (!MYTH_ARRAY_MORE(mem, MYTH_MEM_STAGING, "judge lines", &f->removed, 0, n, &f->room_removed) ||
        !MYTH_ARRAY_MORE(mem, MYTH_MEM_STAGING, "judge lines", &f->gone, 0, bytes, &f->room_gone))
        return no_room("removed lines", err);
    for (uint32_t i = 0; i < job->n_removed; i++) {
        const myth_removed *r = &job->removed[i];
        myth_removed *to = &f->removed[f->n_removed];
        if (!is_gone_from(r, line0, line1))
            continue;
        const uint32_t at = r->before - line0, here = f->number[at];
        to->before = here + (here == f->number[at - 1]); /* a line that is left out has the number of the one before */
        to->path = NULL;
        to->has_code = NULL;
        to->text = f->gone + n_gone;
        to->len = copy_gone(f->gone + n_gone, r, is_bare, myth_language_get(job->language), &to->n_line,
                            &f->has_gone_comments);
        n_gone += to->len;
        f->n_removed += to->n_line > 0;
    }
    f->src.removed = f->removed;
    f->src.n_removed = f->n_removed;
    return MYTH_OK;
}

/* Makes *f the function of places [first, end) of the job. index gets the numbers of those that are shown. */
static myth_status show(myth_shown *f, myth_mem *mem, const myth_judge_job *job, const myth_source *file,
                        const unsigned char *bytes, uint32_t first, uint32_t end, uint32_t *index, myth_error *err)
{
    const myth_candidate_place *c = &job->found->candidate[first];
    const char *names = job->found->names;
    const uint32_t line0 = c->function_line0, n_line = c->function_line1 - c->function_line0 + 1;
    myth_source_close(&f->src);
    f->src = (myth_source){0};
    myth_status st = copy_lines(f, mem, file, bytes, line0, c->function_line1, err);
    if (st == MYTH_OK)
        st = myth_source_open(&f->src, mem, job->path, f->text, f->n_text, err);
    if (st == MYTH_OK)
        st = set_removed(f, mem, job, bytes != file->bytes, line0, c->function_line1, err);
    if (st == MYTH_OK && !MYTH_ARRAY_MORE(mem, MYTH_MEM_STAGING, "places", &f->place, 0, end - first, &f->room_place))
        st = no_room("places", err);
    if (st != MYTH_OK)
        return st;
    f->symbol = names + c->function;
    f->language = job->language;
    f->n_place = 0;
    for (uint32_t i = 0; i < end - first; i++, c++) {
        if (job->is_wanted && !job->is_wanted[first + i])
            continue;
        const bool is_about = c->about_line >= line0 && c->about_line - line0 < n_line;
        const uint32_t from = c->line0 < line0 ? 0 : c->line0 - line0, to = c->line1 < line0 ? 0 : c->line1 - line0;
        index[f->n_place] = first + i;
        f->place[f->n_place++] = (myth_shown_place){
            .line0 = f->number[from < n_line ? from : n_line - 1],
            .line1 = f->number[to < n_line ? to : n_line - 1],
            .about = is_about ? c->about_line : 0,
            .about_shown = is_about ? f->number[c->about_line - line0] : 0,
            .rule = names + c->rule,
            .say = names + c->say,
            .facts = names + c->facts,
        };
    }
    return MYTH_OK;
}

/* ---- a file ---- */

static bool is_same_function(const myth_candidate_place *a, const myth_candidate_place *b)
{
    return a->function_line0 == b->function_line0 && a->function_line1 == b->function_line1;
}

static bool has_function(const myth_candidate_place *c, const myth_source *file)
{
    return c->function_line0 >= 1 && c->function_line1 >= c->function_line0 && c->function_line1 <= file->n_line;
}

/* The end of the places, from `first` on, that are in one function. */
static uint32_t function_end(const myth_candidates *found, uint32_t first)
{
    uint32_t end = first + 1;
    while (end < found->n && is_same_function(&found->candidate[first], &found->candidate[end]))
        end++;
    return end;
}

/* A file while it is judged: as it is, and without its comments. */
typedef struct {
    myth_source src;
    unsigned char *bare;
    myth_shown f;
    uint32_t *index; /* of the places of a function that are shown */
    float *own;      /* their scores */
} opened;

static void close_file(opened *o, myth_mem *mem)
{
    close_shown(&o->f, mem);
    myth_free(mem, o->own);
    myth_free(mem, o->index);
    myth_free(mem, o->bare);
    myth_source_close(&o->src);
}

static myth_status open_file(opened *o, const myth_judge *j, const myth_judge_job *job, myth_error *err)
{
    myth_mem *mem = j->mem;
    *o = (opened){0};
    myth_status st = myth_source_open(&o->src, mem, job->path, job->text, job->n_text, err);
    o->bare = myth_alloc(mem, MYTH_MEM_STAGING, "judge file", job->n_text + 1);
    o->index = myth_alloc_n(mem, MYTH_MEM_STAGING, "judge places", job->found->n + 1u, sizeof(*o->index));
    o->own = myth_alloc_n(mem, MYTH_MEM_STAGING, "judge places", job->found->n + 1u, sizeof(*o->own));
    if (st == MYTH_OK && (!o->bare || !o->index || !o->own))
        st = no_room("a file without comments", err);
    if (st == MYTH_OK) {
        memcpy(o->bare, job->text, job->n_text);
        myth_comments_blank(o->bare, job->n_text, myth_language_get(job->language));
    }
    if (st == MYTH_OK && j->o.context && j->form != MYTH_JUDGE_SHORT)
        st = myth_context_file(j->o.context, &o->src, o->bare, job->language, err);
    return st;
}

/* The name that a place is about: what is called there, or what its value comes from. NULL: none. */
static const char *name_of(char *dst, size_t cap, const char *names, const myth_candidate_place *c)
{
    static const char key[] = "origin_call=";
    const char *at = strstr(names + c->facts, key);
    if (names[c->callee])
        return names + c->callee;
    if (!at)
        return NULL;
    at += sizeof(key) - 1;
    snprintf(dst, cap, "%.*s", (int)strcspn(at, " "), at);
    return dst;
}

/* What is shown beside the function of places [first, end), which are those of o->f. *out stays NULL where nobody
 * looks for it. */
static myth_status find_context(const myth_context_list **out, const myth_judge *j, const opened *o,
                                const myth_judge_job *job, uint32_t first, bool is_bare, myth_error *err)
{
    enum { NAME = 160 };
    char own[MYTH_CONTEXT_ITEMS][NAME];
    const char *about[MYTH_CONTEXT_ITEMS];
    const myth_candidate_place *c = &job->found->candidate[first];
    uint32_t n = 0;
    *out = NULL;
    if (!j->o.context || j->form == MYTH_JUDGE_SHORT)
        return MYTH_OK;
    for (uint32_t i = 0; i < o->f.n_place && n < MYTH_CONTEXT_ITEMS; i++) {
        about[n] = name_of(own[n], NAME, job->found->names, &job->found->candidate[o->index[i]]);
        n += about[n] != NULL;
    }
    return myth_context_find(out, j->o.context, job->found->names + c->function, c->function_line0, c->function_line1,
                             about, n, is_bare, err);
}

/* Scores places [first, end), which are of one function. */
static myth_status judge_function(myth_judge *j, myth_engine *e, myth_seq *seq, opened *o, const myth_judge_job *job,
                                  uint32_t first, uint32_t end, float *score, myth_error *err)
{
    const myth_candidate_place *c = &job->found->candidate[first];
    const myth_line *from = &o->src.line[c->function_line0 - 1], *to = &o->src.line[c->function_line1 - 1];
    const bool is_short = j->form == MYTH_JUDGE_SHORT;
    const myth_context_list *context = NULL;
    const uint32_t n_fed = j->n_fed;
    bool has_comments = memcmp(o->src.bytes + from->off, o->bare + from->off, to->off + to->len - from->off) != 0;
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < end - first; i++)
        o->own[i] = NAN;
    j->index = o->index;
    /* the short form never shows comments */
    for (int is_bare = is_short; is_bare <= (has_comments || is_short) && st == MYTH_OK; is_bare++) {
        st = show(&o->f, j->mem, job, &o->src, is_bare ? o->bare : o->src.bytes, first, end, o->index, err);
        if (st == MYTH_OK && o->f.n_place)
            st = find_context(&context, j, o, job, first, is_bare, err);
        has_comments = has_comments || o->f.has_gone_comments || (context && context->has_comments);
        if (st == MYTH_OK && o->f.n_place)
            st = judge_places(j, e, seq, &(myth_sheet){.f = &o->f, .context = context}, 0, o->f.n_place, o->own, err);
    }
    for (uint32_t i = 0; i < o->f.n_place && st == MYTH_OK; i++) {
        score[o->index[i]] = o->own[i];
        j->count.n_place++;
        j->count.n_unjudged += isnan(o->own[i]) != 0;
        j->count.n_kept += j->n_fed == n_fed && !isnan(o->own[i]);
    }
    return st;
}

/* The name under which the model was trained on a language: its own, or that of the language with the same grammar (jsx
 * is javascript). NULL = on none of them. */
static const char *judged_as(const myth_judge *j, const char *language)
{
    const myth_language *is = language ? myth_language_get(language) : NULL;
    char list[MYTH_CALIBRATION_LANGUAGES + 1];
    myth_str all;
    if (!myth_meta_str(&all, myth_weights_meta(j->model->weights), "mythos.languages") || all.len >= sizeof(list))
        return language ? language : "";
    memcpy(list, all.text, all.len);
    list[all.len] = '\0';
    if (language && myth_language_lists(list, language, strlen(language)))
        return language;
    return is && is->grammar[0] && myth_language_lists(list, is->grammar, strlen(is->grammar)) ? is->grammar : NULL;
}

/* The job without what the model was not trained to read. */
static myth_judge_job readable(const myth_judge *j, const myth_judge_job *job)
{
    myth_judge_job own = *job;
    own.n_removed = j->shows_removed ? job->n_removed : 0;
    const char *name = judged_as(j, job->language);
    own.language = name ? name : job->language;
    return own;
}

myth_status myth_judge_file(myth_judge *j, myth_engine *e, const myth_judge_job *job, float *score, myth_error *err)
{
    const myth_judge_job own = readable(j, job);
    opened o;
    myth_seq *seq = NULL;
    job = &own;
    for (uint32_t i = 0; i < job->found->n; i++)
        score[i] = NAN;
    if (!job->found->n)
        return MYTH_OK;
    if (!myth_judge_knows(j, job->language)) {
        for (uint32_t i = 0; i < job->found->n; i++)
            j->count.n_unknown += !job->is_wanted || job->is_wanted[i];
        return MYTH_OK;
    }
    myth_status st = open_file(&o, j, job, err);
    if (st == MYTH_OK && !j->o.is_dry)
        st = myth_seq_open(&seq, e, err);
    for (uint32_t first = 0, end; first < job->found->n && st == MYTH_OK; first = end) {
        end = function_end(job->found, first);
        if (has_function(&job->found->candidate[first], &o.src))
            st = judge_function(j, e, seq, &o, job, first, end, score, err);
    }
    myth_seq_close(seq);
    close_file(&o, j->mem);
    return st;
}

/* ---- life ---- */

/* The form that the model was trained for. */
static myth_status choose_form(myth_judge_form *form, const myth_model *model, myth_error *err)
{
    myth_prompt_style style = MYTH_PROMPT_FULL;
    myth_str trained;
    const myth_meta *meta = myth_weights_meta(model->weights);
    *form = MYTH_JUDGE_SHORT;
    if (myth_meta_str(&trained, meta, "mythos.prompt") && myth_str_is(trained, "judge"))
        return MYTH_OK;
    *form = MYTH_JUDGE_FULL;
    myth_status st = myth_prompt_style_of(&style, meta, err);
    if (st == MYTH_OK && !myth_prompt_is_full(style))
        st = myth_fail(err, MYTH_EUNSUPPORTED,
                       "this model was trained to write findings and cannot answer questions about places; name a "
                       "Gemma that follows instructions with -m");
    return st;
}

myth_status myth_judge_open(myth_judge **out, const myth_model *model, const myth_judge_opts *opts, myth_error *err)
{
    myth_status st = MYTH_OK;
    *out = NULL;
    myth_judge *j = myth_alloc(model->mem, MYTH_MEM_STAGING, "judge", sizeof(*j));
    if (!j)
        return no_room("its state", err);
    j->mem = model->mem;
    j->model = model;
    j->o = *opts;
    j->o.n_at_once = opts->n_at_once && opts->n_at_once < MYTH_JUDGE_AT_ONCE ? opts->n_at_once : MYTH_JUDGE_AT_ONCE;
    j->form = MYTH_JUDGE_SHORT;
    if (!j->o.is_short)
        MYTH_TRY(choose_form(&j->form, model, err));
    MYTH_TRY(myth_calibration_open(&j->calibration, model, err));
    uint32_t trained = 0, has_removed = j->form == MYTH_JUDGE_FULL;
    myth_meta_u32(&has_removed, myth_weights_meta(model->weights), "mythos.judge_removed");
    j->shows_removed = has_removed != 0;
    MYTH_TRY(myth_calibration_trained(&trained, model, err));
    const uint32_t most = j->form == MYTH_JUDGE_SHORT ? MYTH_JUDGE_SHORT_TOKENS : MYTH_JUDGE_TOKENS;
    j->o.n_tok = opts->n_tok                                                ? opts->n_tok
               : trained && (trained < most || j->form == MYTH_JUDGE_SHORT) ? trained
                                                                            : most;
    j->most_text = j->o.n_tok * myth_judge_longest_piece(model->tokenizer);
    MYTH_TRY(myth_rerank_answers(j->answer, model, answers, N_ANSWER, err));
    if (!MYTH_ARRAY_MORE(j->mem, MYTH_MEM_STAGING, "judge prompt", &j->user, 0, FIRST_TEXT, &j->n_user)) {
        st = no_room("a prompt", err);
        goto fail;
    }
    *out = j;
    return MYTH_OK;
fail:
    myth_judge_close(j);
    return st;
}

void myth_judge_close(myth_judge *j)
{
    if (!j)
        return;
    myth_mem *mem = j->mem;
    myth_free(mem, j->user);
    myth_free(mem, j->ids);
    myth_free(mem, j->shared);
    myth_free(mem, j->question);
    myth_free(mem, j->score);
    myth_free(mem, j);
}

void myth_judge_needs(const myth_judge *j, myth_engine_opts *opts)
{
    const uint32_t n_row = j->o.n_at_once * QUESTION, n_ctx = j->o.n_tok + n_row;
    if (opts->n_ctx < n_ctx)
        opts->n_ctx = (n_ctx + STEP_CTX - 1) / STEP_CTX * STEP_CTX;
    opts->fixed |= MYTH_CHANGE_CTX;
    if (opts->n_ubatch && opts->n_ubatch < QUESTION) /* a question is one run */
        opts->n_ubatch = QUESTION;
    opts->n_ask = opts->n_ask > N_ANSWER ? opts->n_ask : N_ANSWER;
    opts->n_logit_rows = opts->n_logit_rows > j->o.n_at_once ? opts->n_logit_rows : j->o.n_at_once;
}

uint64_t myth_judge_staging(const myth_judge *j, uint64_t n_file)
{
    /* a function, what is shown beside it, numbers of lines and the facts; tokenizing it, its ids while they grow; the
     * text while it grows; the file and the function as lines, each also without comments */
    const uint64_t text = n_file + n_file / 2 + FIRST_TEXT, fits = text < j->most_text ? text : j->most_text;
    return myth_tokenizer_scratch((size_t)fits) + 13 * fits + 3 * text + 12 * n_file + 2 * j->o.n_tok * sizeof(*j->ids);
}

myth_judge_counts myth_judge_counted(const myth_judge *j) { return j->count; }

double myth_judge_probability(const myth_judge *j, const myth_candidates *found, const myth_candidate_place *place,
                              float score, bool is_test)
{
    const char *rule = found->names + place->rule, *row = found->names + place->row;
    return isnan(score) ? NAN : myth_calibration_probability(&j->calibration, rule, row, score, is_test);
}

bool myth_judge_is_calibrated(const myth_judge *j, double *confidence)
{
    *confidence = j->calibration.confidence != 0 ? (double)j->calibration.confidence : 0.5;
    return j->calibration.n > 0;
}

bool myth_judge_knows(const myth_judge *j, const char *language) { return judged_as(j, language) != NULL; }

bool myth_judge_can(const myth_model *model)
{
    myth_judge_form form;
    myth_error err;
    return choose_form(&form, model, &err) == MYTH_OK;
}

myth_status myth_judge_prompt(myth_judge *j, const myth_judge_job *job, uint32_t first, uint32_t ask, bool is_bare,
                              int32_t *ids, size_t cap, size_t *n_ids, myth_error *err)
{
    const myth_judge_job own = readable(j, job);
    opened o;
    job = &own;
    myth_status st = open_file(&o, j, job, err);
    if (st == MYTH_OK)
        st = show(&o.f, j->mem, job, &o.src, is_bare ? o.bare : o.src.bytes, first, function_end(job->found, first),
                  o.index, err);
    myth_sheet s = {.f = &o.f, .n = o.f.n_place, .line0 = 1, .line1 = o.f.src.n_line};
    if (st == MYTH_OK)
        st = find_context(&s.context, j, &o, job, first, is_bare, err);
    if (st == MYTH_OK)
        st = choose_context(j, &s, err);
    if (st == MYTH_OK)
        st = encode(j, &s, ask, n_ids, err);
    if (st == MYTH_OK && *n_ids > cap)
        st = myth_fail(err, MYTH_EFULL, "the prompt has %zu ids", *n_ids);
    if (st == MYTH_OK)
        memcpy(ids, j->ids, *n_ids * sizeof(*ids));
    close_file(&o, j->mem);
    return st;
}
