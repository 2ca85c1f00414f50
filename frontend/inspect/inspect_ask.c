/* inspect_ask.c - runs an inspection: gets an answer for each part under the grammar, reads it, verifies and keeps
 * its findings, and asks again with the context that an answer names as missing. */
#include "inspect_impl.h"

#include "engine/base/clock.h"
#include "frontend/inspect/answer/verify.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

const char *myth_exchange_name(myth_exchange_kind kind)
{
    static const char *const name[] = {"first", "expand", "context", "summary"};
    return name[kind];
}

/* ---- generation ---- */

static void on_prefill(void *user, uint32_t done, uint32_t total)
{
    myth_inspection *in = user;
    if (in->o.on_progress)
        in->o.on_progress(in->o.user, "reading", in->now, in->n_part, done, total);
}

static bool on_token(void *user, int32_t id)
{
    myth_inspection *in = user;
    (void)id;
    if (!in->read_at)
        in->read_at = myth_seconds();
    if (in->o.on_progress)
        in->o.on_progress(in->o.user, in->what, in->now, in->n_part, ++in->n_new, in->n_new_max);
    return true;
}

void myth_inspect_note_drop(myth_inspection *in, const myth_finding *f, const char *why)
{
    if (in->report.n_drop < in->cap_drop)
        in->drop[in->report.n_drop++] = (myth_drop){
            .part = in->now,
            .why = why,
            .block = f ? f->block : in->part[in->now].block0,
            .first = f ? f->first : 0,
            .last = f ? f->last : 0,
            .rule = f ? f->rule : -1,
        };
}

/* Where an answer came from. */
typedef enum { GENERATED, BESIDE, KEPT } origin;

static void report_exchange(const myth_inspection *in, const myth_question *q, uint32_t n_kept, uint32_t n_new,
                            size_t len, myth_finish why, double start, origin from)
{
    if (!in->o.on_exchange)
        return;
    const double end = myth_seconds();
    const uint32_t n_ids = n_kept + q->n_ids;
    const myth_exchange x = {
        .part = in->now,
        .round = in->round,
        .kind = q->kind,
        .ids = from != GENERATED ? in->past : myth_seq_tokens(in->s),
        .n_ids = from != GENERATED ? n_ids : myth_min_u32(n_ids, myth_seq_len(in->s)),
        .n_kept = n_kept,
        .text = q->text,
        .n = len,
        .n_new = n_new,
        .finish = why,
        .seconds = end - start,
        .read_seconds = (in->read_at ? in->read_at : end) - start,
        .is_kept = from == KEPT,
        .is_beside = from == BESIDE,
    };
    in->o.on_exchange(in->o.user, &x);
}

myth_generate_opts myth_inspect_start_answer(const myth_inspection *in, const myth_question *q, myth_grammar *grammar,
                                             myth_automaton *a, int32_t stop[MYTH_CHAT_STOP_MAX])
{
    myth_inspect_automaton(in, a, q->g);
    myth_grammar_start(grammar, a);
    return (myth_generate_opts){
        .prompt = q->ids,
        .n_prompt = q->n_ids,
        .n_max = q->n_max,
        .sample = in->o.sample,
        .stop_ids = stop,
        .n_stop = myth_chat_stop_ids(in->model->tokenizer, stop),
        .grammar = grammar,
        .cancel = in->o.cancel,
        .seq_number = q->part,
    };
}

/* Lets the model answer. */
static myth_status generate(myth_inspection *in, const myth_question *q, uint32_t *n, myth_finish *why, myth_error *err)
{
    int32_t stop[MYTH_CHAT_STOP_MAX];
    myth_automaton a;
    myth_status st = myth_inspect_catch_up(in, why, err);
    if (st != MYTH_OK || *why == MYTH_FINISH_CANCELLED)
        return st;
    myth_generate_opts o = myth_inspect_start_answer(in, q, in->grammar, &a, stop);
    o.on_prefill = on_prefill;
    o.on_token = on_token;
    o.user = in;
    st = myth_generate(in->e, in->s, &o, in->ids, n, why, err);
    in->is_fed = true; /* as far as another question can follow */
    return st;
}

myth_status myth_inspect_write_text(const myth_inspection *in, const myth_question *q, const int32_t *ids, uint32_t n,
                                    size_t *len, myth_error *err)
{
    *len = 0;
    for (uint32_t i = 0; i < n && *len < q->cap; i++)
        *len += myth_tokenizer_bytes_of(in->model->tokenizer, ids[i], q->text + *len, q->cap - *len);
    return *len + MYTH_ANSWER_TAIL <= q->cap
             ? MYTH_OK
             : myth_fail(err, MYTH_EFULL, "an answer of %zu bytes, expected at most %zu", *len,
                         q->cap - MYTH_ANSWER_TAIL);
}

myth_status myth_inspect_answer(myth_inspection *in, const myth_question *q, size_t *len, myth_finish *why,
                                myth_error *err)
{
    uint32_t n = 0, n_dropped;
    const uint32_t n_kept = in->n_past;
    const double start = myth_seconds();
    in->read_at = 0;
    in->n_new = 0;
    in->n_new_max = q->n_max;
    *why = MYTH_FINISH_NONE;
    origin from = KEPT;
    myth_status st = MYTH_OK;
    if (!myth_inspect_recall(in, q, &n, why)) {
        from = myth_inspect_has_jobs(in) && q->kind == MYTH_EXCHANGE_FIRST ? BESIDE : GENERATED;
        st = from == BESIDE ? myth_inspect_await(in, &n, why, err) : generate(in, q, &n, why, err);
    }
    if (st == MYTH_OK)
        st = myth_inspect_write_text(in, q, in->ids, n, len, err);
    if (st != MYTH_OK)
        return st;
    if (from == GENERATED)
        myth_inspect_keep(in, q, in->ids, n, *len, *why);
    myth_inspect_add_turn(in, q->ids, q->n_ids, in->ids, n);
    *len = myth_inspect_end_answer(in, q->text, q->g, *len, &n_dropped);
    in->report.n_dropped += n_dropped;
    if (n_dropped)
        myth_inspect_note_drop(in, NULL, "it was not finished");
    report_exchange(in, q, n_kept, n, *len, *why, start, from);
    return MYTH_OK;
}

/* ---- what an answer says ---- */

static bool same_str(myth_str a, myth_str b) { return a.len == b.len && !memcmp(a.text, b.text, a.len); }

/* The report's counts before a part's first answer, so that a later answer can replace what the part found. */
typedef struct {
    uint32_t n_finding, n_dropped, n_unwanted, n_drop, n_request, n_sentence;
} before;

static before now_of(const myth_report *r)
{
    return (before){r->n_finding, r->n_dropped, r->n_unwanted, r->n_drop, r->n_request, r->n_sentence};
}

static void keep_request(myth_inspection *in, const before *b, myth_str name)
{
    for (uint32_t k = b->n_request; k < in->report.n_request; k++)
        if (same_str(in->request[k].name, name))
            return;
    in->request[in->report.n_request++] = (myth_request){.name = name, .part = in->now, .round = in->round};
}

/* Verifies f and stores it as finding *n. A finding that fails verification, or that nobody wants, is only counted. */
static void keep_finding(myth_inspection *in, myth_finding f, uint32_t *n)
{
    const inspect_part *p = &in->part[in->now];
    if (*n >= in->cap_drop) { /* cap_drop is the size of the array of findings, too */
        in->report.n_dropped++;
        return;
    }
    f.block += p->block0;
    if (myth_inspect_is_given(in, &f))
        return;
    myth_verdict v = myth_verify(&in->citation[*n], &f, in->block, in->n_block, in->finding, *n);
    if (v != MYTH_CITES) {
        in->report.n_dropped++;
        myth_inspect_note_drop(in, &f, myth_verdict_text(v));
    } else if (in->o.wants && !in->o.wants(in->o.user, in->block[f.block].src, &f, &in->citation[*n])) {
        in->report.n_unwanted++;
        myth_marks_unseen(&in->marks, in->block[f.block].src, &f);
        myth_inspect_note_drop(in, &f, "its lines, rule or severity were not asked for");
    } else {
        in->finding[(*n)++] = f;
    }
}

/* Reads an answer and stores its findings. A second pass overwrites the first pass's findings in order; those that it
 * does not reach remain. A finished answer with new context replaces the part's findings; one that was cut off is added
 * to them, because it may lack findings that the earlier answer has. */
static myth_status keep_answer(myth_inspection *in, myth_exchange_kind kind, myth_finish why, const char *text,
                               size_t len, const before *b, myth_error *err)
{
    const inspect_part *p = &in->part[in->now];
    myth_answer got;
    myth_reply reply;
    const bool is_said = myth_inspect_is_said(in);
    if (len > in->room_cap - in->room_used)
        return myth_fail(err, MYTH_EFULL, "the answers of %u parts: no room for %zu bytes more", in->n_part, len);
    char *room = in->room + in->room_used;
    myth_status st = is_said ? myth_sentences_read(&reply, room, in->block + p->block0, p->n_block, text, len, err)
                             : myth_answer_read(&got, room, in->block + p->block0, p->n_block, text, len, err);
    if (st != MYTH_OK)
        return st;
    in->room_used += len;
    const bool is_instead = kind == MYTH_EXCHANGE_CONTEXT && why == MYTH_FINISH_STOP,
               is_beside = kind == MYTH_EXCHANGE_CONTEXT && !is_instead;
    uint32_t n = is_beside ? in->report.n_finding : b->n_finding;
    if (is_instead) {
        in->report.n_dropped = b->n_dropped;
        in->report.n_unwanted = b->n_unwanted;
        in->report.n_drop = b->n_drop;
    }
    if (is_said) {
        const char *wrong;
        myth_inspect_keep_reply(in, &reply, is_beside ? in->report.n_sentence : b->n_sentence, &wrong);
        if (wrong)
            myth_inspect_note_drop(in, NULL, wrong);
        for (uint32_t i = 0; i < reply.n_context; i++)
            keep_request(in, b, reply.context[i]);
        return MYTH_OK;
    }
    for (uint32_t i = 0; i < got.n_finding; i++)
        keep_finding(in, got.finding[i], &n);
    in->report.n_finding = kind == MYTH_EXCHANGE_EXPAND && n < in->report.n_finding ? in->report.n_finding : n;
    for (uint32_t i = 0; i < got.n_context; i++)
        keep_request(in, b, got.context[i]);
    return MYTH_OK;
}

/* ---- rounds ---- */

/* A turn that adds context: the part's n_old blocks, followed by the new ones. */
typedef struct {
    myth_block block[MYTH_BLOCK_MAX];
    uint32_t piece[MYTH_BLOCK_MAX];
    uint32_t n_block, n_old, room; /* room: the most tokens that the turn may have */
    char note[MYTH_CONTEXT_MAX * (NEAR_BYTES + 192)];
    size_t n_note;
    int32_t *ids;
    uint32_t n_ids;
    bool has_names; /* the note names a similar definition for a name that was not found */
} turn;

/* Encodes the turn's text into t->ids. */
static myth_status encode_turn(const myth_inspection *in, turn *t, myth_error *err)
{
    static const char
        head[] = "This is the context that you named as missing.\n",
        findings[] =
            "\nAnswer again with all findings about all of the code, the most severe first. Answer with JSON only.",
        question[] = "\nAnswer the question again from all of the code. Answer with JSON only.";
    const char *tail = myth_inspect_is_question(in) ? question : findings;
    const myth_block *added = t->block + t->n_old;
    size_t n_code = myth_inspect_blocks_text(NULL, 0, added, t->n_block - t->n_old),
           len = sizeof(head) - 1 + n_code + t->n_note + strlen(tail);
    char *text = myth_alloc(in->now_mem, MYTH_MEM_STAGING, "turn", len), *at = text;
    if (!text)
        return myth_inspect_no_room("turn", len, err);
    memcpy(at, head, sizeof(head) - 1);
    at += sizeof(head) - 1;
    at += myth_inspect_blocks_text(at, n_code, added, t->n_block - t->n_old);
    memcpy(at, t->note, t->n_note);
    memcpy(at + t->n_note, tail, strlen(tail));
    myth_free(in->now_mem, t->ids);
    t->ids = NULL;
    t->n_ids = 0;
    myth_status st = myth_inspect_encode_turn(in, text, len, &t->ids, &t->n_ids, err);
    myth_free(in->now_mem, text);
    return st;
}

/* Adds to the turn the lines of the pieces from n_piece on that the part does not show yet. Returns false when some of
 * them cannot be added. */
static bool add_blocks(myth_inspection *in, turn *t, uint32_t n_piece)
{
    bool is_whole = true;
    for (uint32_t i = n_piece; i < myth_material_n_piece(in->material); i++) {
        const myth_source *src = myth_material_of(in->material, myth_material_piece(in->material, i)->source);
        uint32_t left = MYTH_BLOCK_MAX - t->n_block;
        uint32_t n = myth_parts_rest(t->block + t->n_block, left, in->material, i, false, t->block, t->n_block);
        if (n &&
            (n > left || src->path_len > ROUND_PATH || myth_marks_add(&in->marks, &in->report, src, NULL) != MYTH_OK)) {
            is_whole = false;
            continue;
        }
        if (in->o.is_local)
            myth_blocks_number(t->block, t->n_block, t->n_block + n);
        for (uint32_t k = 0; k < n; k++)
            t->piece[t->n_block++] = i;
    }
    return is_whole;
}

/* The names come from the repository, so they must not break the line or look like the tags of a block. */
static void make_plain(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f || *text == '<' || *text == '>')
            *text = ' ';
}

/* Appends a line to the note, or nothing when the whole line does not fit. */
static void put_note(turn *t, const char *format, const char *name, const char *near)
{
    const size_t left = sizeof(t->note) - t->n_note;
    const int n = snprintf(t->note + t->n_note, left, format, name, near);
    t->n_note += n > 0 && (size_t)n < left ? (size_t)n : 0;
}

/* Adds to the turn the context that one request names. A request that would make the turn too long is left out. */
static myth_status serve_request(myth_inspection *in, turn *t, myth_request *q, myth_error *err)
{
    char name[256], near[NEAR_BYTES] = "";
    const uint32_t n_piece = myth_material_n_piece(in->material), n_block = t->n_block;
    const size_t n_note = t->n_note;
    myth_status st = myth_material_seal(in->material, in->reserve, err);
    if (st != MYTH_OK)
        return st;
    snprintf(name, sizeof(name), "%.*s", (int)(q->name.len < sizeof(name) ? q->name.len : sizeof(name) - 1),
             q->name.text);
    const bool is_known = in->o.on_context(in->o.user, name, in->material, in->block_piece[in->part[in->now].block0],
                                           near, sizeof(near)) > 0;
    near[sizeof(near) - 1] = '\0';
    make_plain(near);
    const bool is_whole = add_blocks(in, t, n_piece);
    if (t->n_block == n_block && is_whole)
        put_note(t,
                 is_known  ? "%s: shown above\n"
                 : near[0] ? "%s: not known; nearest: %s\n"
                           : "%s: not known\n",
                 name, near);
    q->result = !is_known ? MYTH_REQUEST_UNKNOWN : is_whole ? MYTH_REQUEST_SERVED : MYTH_REQUEST_LEFT;
    st = encode_turn(in, t, err);
    /* No memory in the rounds' ledger, or no room in the prompt: the turn goes on without this request. */
    if (st == MYTH_ENOMEM || (st == MYTH_OK && t->n_ids > t->room)) {
        t->n_block = n_block;
        t->n_note = n_note;
        q->result = is_known ? MYTH_REQUEST_LEFT : MYTH_REQUEST_UNKNOWN;
        return MYTH_OK;
    }
    t->has_names |= !is_known && near[0];
    return st;
}

/* The most tokens that the current part's next turn may have; 0 when there is no room for one. */
static uint32_t turn_room(const myth_inspection *in, uint32_t fed)
{
    uint32_t prompt = in->part[in->now].n_ids + fed, room = in->n_ctx - myth_min_u32(in->n_ctx, in->n_past);
    room = room > in->o.max_new_tokens ? room - in->o.max_new_tokens : 0;
    room = myth_min_u32(room, in->o.max_prompt_tokens > prompt ? in->o.max_prompt_tokens - prompt : 0);
    return myth_min_u32(room, MYTH_INSPECT_ROUND_TOKENS);
}

/* Gives the part a new list of blocks at the end of the table: its old blocks and those of the turn. */
static myth_status extend_part(myth_inspection *in, const turn *t, myth_error *err)
{
    inspect_part *p = &in->part[in->now];
    if (t->n_block > in->cap_block - in->n_block)
        return myth_fail(err, MYTH_EFULL, "a turn of %u blocks, room for %u", t->n_block, in->cap_block - in->n_block);
    p->block0 = in->n_block;
    p->n_block = t->n_block;
    memcpy(in->block + in->n_block, t->block, t->n_block * sizeof(t->block[0]));
    memcpy(in->block_piece + in->n_block, t->piece, t->n_block * sizeof(t->piece[0]));
    in->n_block += t->n_block;
    in->report.n_block = in->n_block;
    for (uint32_t i = t->n_old; i < t->n_block; i++)
        myth_inspect_note_file(in, t->block[i].src, false);
    return MYTH_OK;
}

/* Adds the context that the requests from *seen on name, then asks again. *went_on is false when there was nothing to
 * add. */
static myth_status ask_again(myth_inspection *in, const before *b, uint32_t *seen, uint32_t *fed, bool *went_on,
                             myth_finish *why, myth_error *err)
{
    const inspect_part *p = &in->part[in->now];
    turn t = {.n_block = p->n_block, .n_old = p->n_block, .room = turn_room(in, *fed)};
    const uint32_t end = in->report.n_request;
    size_t len = 0;
    myth_status st = MYTH_OK;
    memcpy(t.block, in->block + p->block0, p->n_block * sizeof(t.block[0]));
    memcpy(t.piece, in->block_piece + p->block0, p->n_block * sizeof(t.piece[0]));
    *went_on = false;
    for (; *seen < end; ++*seen)
        MYTH_TRY(serve_request(in, &t, &in->request[*seen], err));
    if (t.n_block == t.n_old && !(t.has_names && in->round < in->o.context_rounds))
        goto fail; /* the same prompt would get the same answer */
    MYTH_TRY(encode_turn(in, &t, err));
    if (t.n_ids > t.room)
        goto fail;
    MYTH_TRY(extend_part(in, &t, err));
    const myth_findings_grammar g = {
        .block = in->block + p->block0,
        .n_block = p->n_block,
        .limits = in->o.two_pass ? &in->expand : &in->limits,
    };
    const myth_question q = {
        .kind = MYTH_EXCHANGE_CONTEXT,
        .part = in->now,
        .ids = t.ids,
        .n_ids = t.n_ids,
        .n_max = in->o.max_new_tokens,
        .g = &g,
        .text = in->text,
        .cap = myth_inspect_bound(in, g.limits),
    };
    in->what = "answering again";
    *went_on = true;
    *fed += t.n_ids;
    in->report.n_round++;
    in->report.round_tokens += t.n_ids;
    MYTH_TRY(myth_inspect_answer(in, &q, &len, why, err));
    MYTH_TRY(keep_answer(in, q.kind, *why, in->text, len, b, err));
fail:
    myth_free(in->now_mem, t.ids);
    return st;
}

/* ---- parts ---- */

static myth_status expand_findings(myth_inspection *in, const myth_findings_grammar *first, size_t len, const before *b,
                                   myth_finish *why, myth_error *err)
{
    myth_str heads[MYTH_FINDING_MAX];
    myth_findings_grammar g = {.block = first->block, .n_block = first->n_block, .limits = &in->expand, .fixed = heads};
    g.n_fixed = myth_answer_heads(heads, first, in->text, len);
    if (!g.n_fixed)
        return MYTH_OK;
    const myth_question q = {
        .kind = MYTH_EXCHANGE_EXPAND,
        .part = in->now,
        .ids = in->again,
        .n_ids = in->n_again,
        .n_max = in->o.max_new_tokens,
        .g = &g,
        .text = in->text2,
        .cap = myth_inspect_bound(in, g.limits),
    };
    in->what = "explaining";
    myth_status st = myth_inspect_answer(in, &q, &len, why, err);
    return st == MYTH_OK ? keep_answer(in, q.kind, *why, in->text2, len, b, err) : st;
}

myth_question myth_inspect_first_question(const myth_inspection *in, uint32_t part, myth_findings_grammar *g)
{
    const inspect_part *p = &in->part[part];
    const bool is_summary = myth_inspect_is_summary(in, part), is_brief = in->o.two_pass && !is_summary;
    const uint32_t n_prefix = myth_inspect_prefix(in, part);
    *g = (myth_findings_grammar){
        .block = in->block + p->block0,
        .n_block = p->n_block,
        .limits = is_summary ? &in->summary
                : is_brief   ? &in->brief
                             : &in->limits,
    };
    return (myth_question){
        .kind = is_summary ? MYTH_EXCHANGE_SUMMARY : MYTH_EXCHANGE_FIRST,
        .part = part,
        .ids = p->ids + n_prefix,
        .n_ids = p->n_ids - n_prefix,
        .n_max = is_brief ? myth_inspect_brief_tokens(in) : in->o.max_new_tokens,
        .g = g,
        .text = in->text,
        .cap = myth_inspect_bound(in, is_summary ? &in->summary : &in->limits),
    };
}

static myth_status run_part(myth_inspection *in, myth_finish *why, myth_error *err)
{
    const before b = now_of(&in->report);
    const bool is_summary = myth_inspect_is_summary(in, in->now), is_brief = in->o.two_pass && !is_summary;
    myth_findings_grammar g;
    const myth_question q = myth_inspect_first_question(in, in->now, &g);
    uint32_t seen = b.n_request, fed = 0;
    size_t len = 0;
    bool goes_on = myth_inspect_has_rounds(in) && !is_summary;
    myth_status st;
    in->what = is_summary ? "summing up" : "writing";
    in->round = 0;
    myth_inspect_begin_part(in);
    MYTH_TRY(myth_inspect_answer(in, &q, &len, why, err));
    MYTH_TRY(keep_answer(in, q.kind, *why, in->text, len, &b, err));
    if (is_brief && *why == MYTH_FINISH_STOP)
        MYTH_TRY(expand_findings(in, &g, len, &b, why, err));
    while (goes_on && in->round++ < in->o.context_rounds && *why == MYTH_FINISH_STOP && seen < in->report.n_request)
        MYTH_TRY(ask_again(in, &b, &seen, &fed, &goes_on, why, err));
fail:
    return st;
}

/* Lists each requested name whose context was not added, once. */
static void list_missing(myth_inspection *in)
{
    for (uint32_t i = 0; i < in->report.n_request; i++) {
        uint32_t k = 0;
        while (k < in->report.n_context && !same_str(in->context[k], in->request[i].name))
            k++;
        if (k == in->report.n_context && in->request[i].result != MYTH_REQUEST_SERVED)
            in->context[in->report.n_context++] = in->request[i].name;
    }
}

/* Asks about every part. The engine is there, or `later` opens it. */
static myth_status run_parts(myth_inspection *in, myth_error *err)
{
    myth_status st;
    myth_finish why = MYTH_FINISH_NONE, worst = MYTH_FINISH_STOP;
    assert(!in->report.refusal && !in->grammar);
    MYTH_TRY(myth_inspect_take_run(in, err));
    in->now = 0;
    myth_inspect_keep_given(in);
    MYTH_TRY(myth_inspect_explain_given(in, &why, err));
    if ((in->o.only_given || in->is_bare) && myth_cancelled(in->o.cancel))
        why = MYTH_FINISH_CANCELLED;
    in->now = 0;
    for (; in->o.only_given && in->now < myth_inspect_n_own(in); in->now++)
        in->part[in->now].finish = MYTH_FINISH_STOP;
    for (; in->now < in->n_part && why != MYTH_FINISH_CANCELLED; in->now++) {
        MYTH_TRY(run_part(in, &why, err));
        in->part[in->now].finish = why;
        if (worst == MYTH_FINISH_STOP)
            worst = why;
        if (myth_cancelled(in->o.cancel)) /* kept answers come without a look at it */
            why = MYTH_FINISH_CANCELLED;
    }
    if (why == MYTH_FINISH_CANCELLED)
        worst = why;
    list_missing(in);
    in->report.finish_reason = myth_finish_name(worst);
    myth_inspect_note_missed(in);
    in->report.given = in->given;
    in->report.finding = in->finding;
    in->report.citation = in->citation;
    in->report.context = in->context;
    in->report.request = in->request;
    in->report.drop = in->drop;
    in->report.sentence = in->sentence;
    in->report.quote = in->quote;
    in->report.cited = in->cited;
    if (in->report.n_sentence)
        in->report.missing = (myth_str){"", 0};
    myth_marks_fill(&in->marks, &in->report);
fail:
    if (st != MYTH_OK)
        in->report.n_finding = in->report.n_given = in->report.n_context = in->report.n_request = in->report.n_drop =
            in->report.n_sentence = in->report.n_quote = 0;
    myth_inspect_end_jobs(in);
    myth_seq_close(in->s);
    in->s = NULL;
    return st;
}

myth_status myth_inspect_run(myth_inspection *in, myth_engine *e, myth_error *err)
{
    in->e = e;
    const myth_status st = myth_seq_open(&in->s, e, err);
    in->n_ctx = st == MYTH_OK ? myth_seq_room(in->s) : 0;
    return st == MYTH_OK ? run_parts(in, err) : st;
}

myth_status myth_inspect_run_later(myth_inspection *in, const myth_inspect_engine *later, myth_error *err)
{
    in->later = later;
    in->n_ctx = later->n_ctx;
    return run_parts(in, err);
}

/* ---- rehearsal ---- */

static myth_status no_engine(void *user, myth_engine **e, myth_error *err)
{
    (void)user;
    *e = NULL;
    return myth_fail(err, MYTH_ECANCEL, "a rehearsal has no engine");
}

myth_status myth_inspect_rehearse(myth_inspection *in, myth_error *err)
{
    static const myth_inspect_engine none = {.open = no_engine};
    const myth_report was = in->report;
    const uint32_t n_block = in->n_block;
    myth_finish why;
    if (!in->o.kept || in->report.refusal)
        return MYTH_OK;
    myth_status st = myth_inspect_take_run(in, err);
    if (st != MYTH_OK)
        return st;
    in->later = &none;
    in->n_ctx = myth_inspect_run_context(in);
    in->o.on_exchange = NULL;
    in->o.on_progress = NULL;
    in->now = myth_inspect_first_part(in);
    for (; in->now < in->n_part && !myth_cancelled(in->o.cancel); in->now++) {
        inspect_part *p = &in->part[in->now];
        p->is_kept = run_part(in, &why, NULL) == MYTH_OK;
        p->block0 = p->first_block; /* as it was before rounds added code */
        p->n_block = p->n_first;
    }
    in->n_block = n_block;
    in->report = was;
    return MYTH_OK;
}
