/* session.c - what stays of a full chat, the sequence made to hold it, and the answer behind it. */
#include "session.h"

#include "engine/base/hash.h"
#include "engine/text/json_tree.h"

#include <string.h>

enum {
    TEXT_PER_TOKEN = 16, /* bytes of text kept for each token of the context: code and prose have 3 to 5 */
    ANSWER_MOST = 1024,
    FEED_TOKENS = 512, /* at least, between two looks at the cancel flag */
    SETTLE_MORE = 64   /* tokens around the last answer that settle may compute with it */
};

/* ---- life ---- */

static uint32_t answer_most(uint32_t n_ctx, const myth_session_opts *o)
{
    const uint32_t quarter = n_ctx / 4 < ANSWER_MOST ? n_ctx / 4 : ANSWER_MOST;
    return o->n_most ? o->n_most : quarter ? quarter : 1;
}

static size_t text_most(uint32_t n_ctx) { return (size_t)n_ctx * TEXT_PER_TOKEN; }

/* Messages of a prompt that fits: one has four tokens at least. */
static size_t prompt_messages_most(uint32_t n_ctx) { return n_ctx / 4; }

/* And a message with its answer. */
static size_t messages_most(uint32_t n_ctx) { return prompt_messages_most(n_ctx) + 2; }

/* Messages of a talk with its system text and one more. */
static size_t rows_most(uint32_t n_ctx) { return messages_most(n_ctx) + 2; }

/* Ids of everything that a talk of this size can be: each message has markers of its own. */
static size_t ids_most(uint32_t n_ctx)
{
    static const myth_message empty[1] = {{MYTH_ROLE_USER, {"", 0}}};
    const size_t base = myth_chat_bound(empty, 0), each = myth_chat_bound(empty, 1) - base;
    return base + text_most(n_ctx) + rows_most(n_ctx) * each;
}

/* Bytes of an answer's text, and of its calls as JSON, where the vocabulary has them. */
static size_t answer_text_most(const myth_model *m, uint32_t n_most)
{
    return (size_t)n_most * TEXT_PER_TOKEN + 2 * myth_detok_most(m->tokenizer) + MYTH_STOP_BYTES;
}

static size_t calls_most(const myth_model *m, uint32_t n_most)
{
    return myth_tokenizer_special(m->tokenizer)->tool_call >= 0 ? 2 * answer_text_most(m, n_most) : 0;
}

uint64_t myth_session_bytes(const myth_model *m, uint32_t n_ctx, const myth_session_opts *o)
{
    const size_t n_msg = rows_most(n_ctx), text = text_most(n_ctx);
    const uint64_t ids = (uint64_t)ids_most(n_ctx) * sizeof(int32_t);
    const uint64_t answer = answer_most(n_ctx, o) * sizeof(int32_t) +
                            2 * (uint64_t)answer_text_most(m, answer_most(n_ctx, o)) +
                            calls_most(m, answer_most(n_ctx, o)) + myth_detok_most(m->tokenizer);
    const uint64_t talk = 2 * (uint64_t)text + n_msg * (2 * sizeof(myth_talk_message) + 2 * sizeof(myth_message) +
                                                        2 * sizeof(myth_message_more));
    const uint64_t encoded = 2 * ids + myth_tokenizer_scratch(text) + 2 * (uint64_t)text; /* for the time of a call */
    const uint64_t loaded = n_msg * 8 * sizeof(myth_json_node) + 6 * (uint64_t)text;      /* a saved chat's JSON */
    const uint64_t aside = n_msg * (sizeof(myth_talk_message) + sizeof(size_t));
    return ids + answer + talk + aside + (encoded > loaded ? encoded : loaded) + (1 << 20);
}

uint64_t myth_session_of_context(const void *session_of, uint32_t n_ctx)
{
    const myth_session_of *s = session_of;
    return myth_session_bytes(s->m, n_ctx, s->o);
}

void myth_session_needs(myth_engine_opts *eo, const myth_session_opts *o)
{
    eo->n_seq = 1;
    eo->n_ctx_least = 2 * o->n_most;
    eo->n_checkpoint = MYTH_SESSION_CHECKPOINTS;
    myth_generate_needs(eo, &o->sample, o->grammar || o->tool_choice);
}

myth_status myth_session_open(myth_session *out, myth_engine *e, const myth_session_opts *o, myth_error *err)
{
    const myth_model *m = myth_engine_model(e);
    const uint32_t n_ctx = myth_engine_plan(e)->n_ctx;
    myth_status st = MYTH_OK;
    *out = (myth_session){.e = e, .o = *o, .n_ctx = n_ctx};
    out->o.n_most = answer_most(n_ctx, o);
    if (out->o.n_most > n_ctx / 2)
        return myth_fail(err, MYTH_EARG,
                         "-n %u: an answer may take half of the context at most, %u of %u tokens: lower -n or raise -c",
                         out->o.n_most, n_ctx / 2, n_ctx);
    myth_talk_open(&out->talk, m->mem, m, o->thinks, text_most(n_ctx));
    out->talk.max_n = messages_most(n_ctx);
    out->cap_ids = ids_most(n_ctx);
    out->cap_text = answer_text_most(m, out->o.n_most);
    out->cap_calls = calls_most(m, out->o.n_most);
    out->ids = myth_alloc_n(m->mem, MYTH_MEM_STAGING, "chat", out->cap_ids, sizeof(*out->ids));
    out->answer = myth_alloc_n(m->mem, MYTH_MEM_STAGING, "chat", out->o.n_most, sizeof(*out->answer));
    out->piece = myth_alloc(m->mem, MYTH_MEM_STAGING, "chat", myth_detok_most(m->tokenizer));
    out->text = myth_alloc(m->mem, MYTH_MEM_STAGING, "chat", out->cap_text);
    out->thought = myth_alloc(m->mem, MYTH_MEM_STAGING, "chat", out->cap_text);
    if (out->cap_calls)
        out->calls = myth_alloc(m->mem, MYTH_MEM_STAGING, "chat", out->cap_calls);
    if (!out->ids || !out->answer || !out->piece || !out->text || !out->thought || (out->cap_calls && !out->calls))
        MYTH_TRY(myth_fail(err, MYTH_ENOMEM, "out of memory for a chat of %u tokens", n_ctx));
    if (!o->ignores_eos)
        out->n_stop = myth_chat_stop_ids(m->tokenizer, out->stop);
    if (o->grammar || o->tool_choice)
        MYTH_TRY(myth_grammars_open(&out->grammars, m, m->mem, out->stop, out->n_stop, 1, err));
    MYTH_TRY(myth_seq_open(&out->seq, e, err));
    return MYTH_OK;
fail:
    myth_session_close(out);
    return st;
}

void myth_session_close(myth_session *s)
{
    if (!s->e)
        return;
    myth_mem *mem = myth_engine_model(s->e)->mem;
    myth_seq_close(s->seq);
    myth_grammars_close(s->grammars);
    myth_gbnf_close(s->held);
    myth_talk_close(&s->talk);
    myth_gone_close(&s->gone);
    myth_free(mem, s->calls);
    myth_free(mem, s->thought);
    myth_free(mem, s->text);
    myth_free(mem, s->piece);
    myth_free(mem, s->answer);
    myth_free(mem, s->ids);
    *s = (myth_session){0};
}

myth_status myth_session_set_system(myth_session *s, myth_str text, myth_error *err)
{
    s->has_prefix = false;
    return myth_talk_set_system(&s->talk, text, err);
}

/* ---- what stays ---- */

static bool is_too_large(const myth_session *s, const myth_talk *talk)
{
    return talk->n_bytes > text_most(s->n_ctx) || talk->n > prompt_messages_most(s->n_ctx);
}

myth_status myth_session_shed(const myth_session *s, myth_talk *talk, myth_gone *gone, size_t *n_turn, myth_error *err)
{
    myth_status st = MYTH_OK;
    while (is_too_large(s, talk) && s->o.on_full != MYTH_FULL_REFUSE && myth_talk_n_droppable(talk)) {
        MYTH_TRY(myth_talk_set_aside(talk, 1, err));
        MYTH_TRY(myth_gone_add(gone, talk, err));
        myth_talk_forget(talk);
        ++*n_turn;
    }
fail:
    return st;
}

myth_status myth_session_regain(const myth_session *s, myth_talk *talk, myth_gone *gone, size_t *n_turn,
                                myth_error *err)
{
    if (s->o.on_full == MYTH_FULL_REFUSE)
        return MYTH_OK;
    return myth_gone_take_back(gone, talk, prompt_messages_most(s->n_ctx), n_turn, err);
}

myth_status myth_session_bound(const myth_session *s, myth_talk *talk, myth_error *err)
{
    talk->max_bytes = text_most(s->n_ctx);
    talk->max_n = messages_most(s->n_ctx);
    if (!is_too_large(s, talk))
        return MYTH_OK;
    return myth_fail(
        err, MYTH_ELIMIT, "the chat's %zu messages of %zu bytes do not fit a context of %u tokens%s: raise -c", talk->n,
        talk->n_bytes, s->n_ctx, s->o.on_full == MYTH_FULL_REFUSE ? ", and --on-full refuse drops nothing" : "");
}

/* Tokens that a prompt may have, so that the longest answer fits behind it. After a drop the ends of a gap leave rows
 * of two pages unused; there may be one before each pinned turn, and one behind them. */
static uint32_t prompt_most(const myth_session *s)
{
    const uint32_t rest = s->n_ctx - s->o.n_most, pages = 2 * myth_engine_plan(s->e)->page_tok;
    uint32_t n_gap = s->o.on_full == MYTH_FULL_DROP || s->o.on_full == MYTH_FULL_AUTO;
    for (size_t turn = 0; n_gap && n_gap < MYTH_SEQ_GAPS && turn < myth_talk_n_turn(&s->talk); turn++)
        n_gap += myth_talk_is_pinned(&s->talk, turn);
    const uint32_t most = rest / 2 / pages; /* with more, a chat is recomputed where the pages do not suffice */
    return rest - (n_gap < most ? n_gap : most) * pages;
}

/* The length of the system text's ids; leaves other ids in s->ids. */
static myth_status find_prefix(myth_session *s, myth_error *err)
{
    if (s->has_prefix)
        return MYTH_OK;
    const myth_status st = myth_talk_common(&s->talk, 0, s->ids, s->cap_ids, &s->n_prefix, err);
    s->has_prefix = st == MYTH_OK;
    return st;
}

static myth_status encode(myth_session *s, size_t n_drop, size_t *n, myth_error *err)
{
    return myth_talk_encode(&s->talk, n_drop, s->ids, s->cap_ids, n, err);
}

/* What a prompt takes as it is, and which turns are to go. */
typedef struct {
    size_t n_drop;   /* oldest turns that go */
    size_t n_all, n; /* ids of the prompt with them, and without */
} choice;

/* Encodes the prompt into s->ids; when it does not fit, with as few of the oldest turns dropped as leave a quarter of
 * the room free. c->n is more than prompt_most when nothing helps. */
static myth_status choose(myth_session *s, choice *c, myth_error *err)
{
    const uint32_t most = prompt_most(s), low = most - most / 4;
    size_t few = 0, many = myth_talk_n_droppable(&s->talk), n = 0;
    myth_status st = encode(s, 0, &n, err);
    *c = (choice){.n_all = n, .n = n};
    if (st != MYTH_OK || n <= most || s->o.on_full == MYTH_FULL_REFUSE || many == 0)
        return st;
    while (few < many && st == MYTH_OK) { /* the fewest in few .. many; many when none leaves so much */
        const size_t half = few + (many - few) / 2;
        st = encode(s, half, &n, err);
        if (n <= low)
            many = half;
        else
            few = half + 1;
    }
    c->n_drop = many;
    return st == MYTH_OK ? encode(s, many, &c->n, err) : st;
}

/* ---- the cache ---- */

/* How many of the first n of s->ids the sequence begins with. */
static uint32_t held_same(const myth_session *s, uint32_t n)
{
    return myth_talk_same(myth_seq_tokens(s->seq), myth_seq_len(s->seq), s->ids, n);
}

/* Cuts what is held to what it shares with the first n of s->ids. */
static myth_status cut_to_same(myth_session *s, uint32_t n, myth_error *err)
{
    uint32_t at;
    const uint32_t len = myth_seq_len(s->seq), same = held_same(s, n);
    return same < len ? myth_seq_truncate(s->seq, same, &at, err) : MYTH_OK;
}

/* Whether the prompt and the longest answer fit: the ends of gaps leave rows unused. */
static bool has_room(const myth_session *s, const choice *c)
{
    return myth_seq_len(s->seq) + myth_seq_room(s->seq) >= c->n + s->o.n_most;
}

/* Evicts `gone` held tokens behind the first `front`, so that what stays is what the prompt of n ids in s->ids begins
 * with. False, and nothing changed, when it is not so, or when the sequence has as many gaps as it may. */
static bool evict_stretch(myth_session *s, uint32_t front, uint32_t gone, uint32_t n)
{
    const int32_t *held = myth_seq_tokens(s->seq);
    const uint32_t len = myth_seq_len(s->seq);
    if (len < front)
        return false;
    gone = gone < len - front ? gone : len - front; /* the last answer, cut off before, may have been in it */
    if (len - gone > n || held_same(s, n) < front ||
        memcmp(held + front + gone, s->ids + front, (len - gone - front) * sizeof(*held)) != 0)
        return false;
    return myth_seq_evict(s->seq, front, gone, NULL) == MYTH_OK;
}

/* The next turns from `turn` on that are not pinned, one after the other. Returns how many; *first is the first. */
static size_t next_stretch(const myth_talk *t, size_t turn, size_t *first)
{
    const size_t n = myth_talk_n_turn(t);
    while (turn < n && myth_talk_is_pinned(t, turn))
        turn++;
    *first = turn;
    while (turn < n && !myth_talk_is_pinned(t, turn))
        turn++;
    return turn - *first;
}

/* Drops turns that are gone from what is held, a stretch after the other. The held tokens are first cut to what the
 * template makes of the whole chat, since an answer may be held otherwise than it is written in later prompts. A
 * stretch begins where its first turn does: texts may begin with the same words, and a gap that wandered with them
 * would be another one. */
static myth_status drop_rows(myth_session *s, const choice *c, bool *is_done, myth_error *err)
{
    size_t n = 0, n_before = c->n_all, n_drop = 0, turn = 0;
    myth_status st;
    MYTH_TRY(encode(s, 0, &n, err));
    MYTH_TRY(cut_to_same(s, (uint32_t)n, err));
    *is_done = true;
    while (n_drop < c->n_drop && *is_done) {
        const size_t n_turn = next_stretch(&s->talk, turn, &turn), left = c->n_drop - n_drop;
        size_t from = 0, to = 0;
        uint32_t front = 0;
        myth_talk_turn(&s->talk, turn, &from, &to);
        MYTH_TRY(myth_talk_common(&s->talk, from, s->ids, s->cap_ids, &front, err));
        n_drop += n_turn < left ? n_turn : left;
        turn += n_turn;
        MYTH_TRY(encode(s, n_drop, &n, err));
        *is_done = evict_stretch(s, front - (uint32_t)(c->n_all - n_before), (uint32_t)(n_before - n), (uint32_t)n);
        n_before = n;
    }
    *is_done = *is_done && has_room(s, c);
fail:
    return st;
}

/* Whether the positions of this prompt and its answer pass what the model was trained with, while a recomputed chat's
 * would not. */
static bool is_past_training(const myth_session *s, uint32_t n)
{
    const uint32_t len = myth_seq_len(s->seq), pos = myth_seq_pos(s->seq);
    const uint64_t end = (uint64_t)pos - len + n + s->o.n_most;
    return s->o.positions == MYTH_POSITIONS_WINDOW && pos > len && end > myth_engine_model(s->e)->config.n_ctx_train;
}

/* Takes out of the sequence what the prompt in s->ids, of c->n ids, has no more. */
static myth_status make_room(myth_session *s, const choice *c, myth_chat_reply *out, myth_error *err)
{
    bool is_done = false;
    uint32_t at;
    myth_status st = MYTH_OK;
    if (c->n_drop) {
        out->how = s->o.on_full != MYTH_FULL_AUTO ? s->o.on_full
                 : c->n <= MYTH_RECOMPUTE_MOST    ? MYTH_FULL_RECOMPUTE
                                                  : MYTH_FULL_DROP;
        if (out->how == MYTH_FULL_DROP)
            MYTH_TRY(drop_rows(s, c, &is_done, err));
    }
    if (c->n_drop == 0) {
        MYTH_TRY(cut_to_same(s, (uint32_t)c->n, err));
        is_done = has_room(s, c);
    }
    if (is_past_training(s, (uint32_t)c->n) || !is_done)
        out->how = MYTH_FULL_RECOMPUTE;
    if (out->how == MYTH_FULL_RECOMPUTE) {
        const uint32_t len = myth_seq_len(s->seq), same = held_same(s, s->n_prefix);
        const bool ends_in_gap = same == len && myth_seq_pos(s->seq) > len; /* which cutting nothing would not close */
        MYTH_TRY(myth_seq_truncate(s->seq, ends_in_gap ? 0 : same, &at, err));
    }
    s->stats.n_drop += out->how == MYTH_FULL_DROP;
    s->stats.n_recompute += out->how == MYTH_FULL_RECOMPUTE;
    out->n_row_gone = (uint32_t)(c->n_all - c->n);
fail:
    return st;
}

static bool is_to_put_off(const myth_session *s) { return myth_cancelled(s->put_off); }

/* Feeds ids until the sequence holds exactly the first n of them. */
static myth_status feed(myth_session *s, uint32_t n, const myth_cancel *cancel, myth_chat_reply *out, myth_error *err)
{
    myth_status st = MYTH_OK;
    uint32_t n_fed = 0;
    MYTH_TRY(cut_to_same(s, n, err));
    const uint32_t n_ubatch = myth_engine_plan(s->e)->n_ubatch, part = n_ubatch > FEED_TOKENS ? n_ubatch : FEED_TOKENS;
    for (uint32_t at = myth_seq_len(s->seq); at < n;) {
        const uint32_t rest = n - at, next = at + (rest < part ? rest : part);
        if (myth_cancelled(cancel) || is_to_put_off(s))
            return myth_fail(err, MYTH_ECANCEL, "interrupted after %u of %u tokens of the prompt", at, n);
        MYTH_TRY(myth_seq_sync(s->seq, s->ids, next, &n_fed, err));
        out->n_fed += n_fed;
        at = next;
        if (s->on_prefill)
            s->on_prefill(s->user, at, n);
    }
fail:
    return st;
}

/* The sequence holds the prompt but for its last token, with checkpoints behind the system text and where the next
 * prompt will part from this one. */
static myth_status hold(myth_session *s, const choice *c, const myth_cancel *cancel, myth_chat_reply *out,
                        myth_error *err)
{
    const uint32_t n = (uint32_t)c->n - 1;
    uint32_t stable = 0;
    myth_status st = MYTH_OK;
    MYTH_TRY(make_room(s, c, out, err));
    MYTH_TRY(myth_talk_set_aside(&s->talk, c->n_drop, err));
    out->n_turn_gone = (uint32_t)c->n_drop;
    MYTH_TRY(myth_talk_stable(&s->talk, s->ids, n, &stable, err));
    const uint32_t same = held_same(s, n);
    const bool has_gap = myth_seq_pos(s->seq) > myth_seq_len(s->seq); /* then the checkpoint is there */
    if (s->n_prefix < stable && (same < s->n_prefix || (same == s->n_prefix && !has_gap))) {
        MYTH_TRY(feed(s, s->n_prefix, cancel, out, err));
        myth_seq_forget(s->seq, 0);
        MYTH_TRY(myth_seq_checkpoint(s->seq, err));
    }
    if (myth_seq_len(s->seq) <= stable || held_same(s, n) < stable) {
        MYTH_TRY(feed(s, stable, cancel, out, err));
        myth_seq_forget(s->seq, s->n_prefix);
        MYTH_TRY(myth_seq_checkpoint(s->seq, err));
    }
    MYTH_TRY(feed(s, n, cancel, out, err));
fail:
    return st;
}

myth_status myth_session_settle(myth_session *s, const myth_cancel *cancel, myth_error *err)
{
    uint32_t n = 0;
    myth_chat_reply unused = {.n_fed = 0};
    myth_error why = {0};
    const size_t n_msg = s->talk.n;
    myth_status st;
    if (n_msg && s->talk.msg[n_msg - 1].m.role != MYTH_ROLE_ASSISTANT)
        return MYTH_OK;
    MYTH_TRY(myth_talk_common(&s->talk, n_msg, s->ids, s->cap_ids, &n, err));
    if (n > myth_seq_len(s->seq) + myth_seq_room(s->seq))
        return MYTH_OK;
    MYTH_TRY(cut_to_same(s, n, err));
    if (n - myth_seq_len(s->seq) > s->o.n_most + SETTLE_MORE)
        return MYTH_OK;
    st = feed(s, n, cancel, &unused, &why);
    if (st == MYTH_ECANCEL)
        return MYTH_OK;
    if (st != MYTH_OK)
        return myth_fail(err, st, "%s", why.msg);
fail:
    return st;
}

/* ---- the answer ---- */

static void say(myth_session *s, const char *text, size_t n, bool is_thought)
{
    char *to = is_thought ? s->thought : s->text;
    size_t *len = is_thought ? &s->n_thought : &s->n_text;
    if (n && s->on_said)
        s->on_said(s->user, text, n, is_thought);
    if (n > s->cap_text - *len)
        return; /* the answer ends before either is full */
    memcpy(to + *len, text, n);
    *len += n;
}

static void say_shown(myth_session *s, const myth_stops_shown *shown)
{
    say(s, shown->held, shown->n_held, false);
    say(s, s->piece, shown->n_piece, false);
}

static bool on_token(void *user, int32_t id)
{
    myth_session *s = user;
    const bool was_thought = s->channel.is_open, has_stops = s->o.stops.n > 0;
    const myth_said part = myth_channel_push(&s->channel, id);
    bool is_found = false;
    if (has_stops) {
        myth_stops_shown shown;
        is_found = myth_stops_push_shown(&s->stops, id, &shown);
        say_shown(s, &shown);
    }
    if (part == MYTH_SAID_MARK)
        say(s, s->piece, myth_detok_finish(&s->detok, s->piece), was_thought);
    else if (part == MYTH_SAID_THOUGHT || !has_stops)
        say(s, s->piece, myth_detok_push(&s->detok, id, s->piece), part == MYTH_SAID_THOUGHT);
    if (part == MYTH_SAID_MARK)
        return !is_found;
    const size_t len = s->n_text > s->n_thought ? s->n_text : s->n_thought;
    return !is_found && !is_to_put_off(s) &&
           len + myth_detok_most(myth_engine_model(s->e)->tokenizer) + MYTH_STOP_BYTES <= s->cap_text;
}

/* The largest N of the ids "call_N" in a list of calls. */
static uint64_t largest_call(myth_str calls)
{
    static const char mark[] = "\"call_";
    const size_t n_mark = sizeof(mark) - 1;
    uint64_t most = 0;
    for (size_t i = 0; i + n_mark < calls.len; i++) {
        uint64_t n = 0;
        if (memcmp(calls.text + i, mark, n_mark) != 0)
            continue;
        for (i += n_mark; i < calls.len && calls.text[i] >= '0' && calls.text[i] <= '9' && n < UINT64_MAX / 100; i++)
            n = 10 * n + (uint64_t)(calls.text[i] - '0');
        most = n > most ? n : most;
    }
    return most;
}

/* Calls get numbers behind those that the chat has already, whoever made them. */
static uint64_t next_call(const myth_session *s)
{
    uint64_t n = s->n_called;
    for (size_t i = 0; i < s->talk.n; i++) {
        const uint64_t most = largest_call(s->talk.msg[i].more.calls);
        n = most > n ? most : n;
    }
    return n + 1;
}

/* Makes calls of those that the answer holds, and takes them out of its text. Where they are longer than any prompt
 * should be they stay text. */
static void take_calls(myth_session *s, const myth_channel *behind_prompt, myth_chat_reply *out)
{
    const myth_answer_ids a = {myth_engine_model(s->e)->tokenizer, *behind_prompt, s->answer, out->n_answer, s->piece};
    myth_jout_block block;
    const uint32_t n = myth_calls_count(&a);
    if (n == 0)
        return;
    const uint64_t first = next_call(s);
    myth_calls_print(&a, myth_jout_block_begin(&block, s->calls, s->cap_calls), first);
    if (myth_jout_block_end(&block, &s->n_calls) != MYTH_OK) {
        s->n_calls = 0;
        return;
    }
    s->n_calls--; /* the newline */
    s->n_text = myth_stop_texts_before(&s->o.stops, s->text, myth_calls_text(&a, s->text, s->cap_text));
    s->n_called = first + n - 1;
    out->n_call = n;
}

myth_status myth_session_hold_calls(myth_session *s, myth_error *err)
{
    const myth_talk *t = &s->talk;
    const bool is_behind_result = t->n && t->msg[t->n - 1].m.role == MYTH_ROLE_TOOL;
    const myth_str tools = {t->tools ? t->tools : "", t->tools ? strlen(t->tools) : 0};
    if (!s->o.tool_choice)
        return MYTH_OK;
    const char *how = is_behind_result && strcmp(s->o.tool_choice, "none") != 0 ? "auto" : s->o.tool_choice;
    uint64_t hash = myth_fnv1a(MYTH_FNV1A, tools.text, tools.len);
    hash = myth_fnv1a(hash, how, strlen(how));
    if (s->held && s->held_hash == hash)
        return MYTH_OK;
    myth_gbnf_close(s->held);
    s->held_hash = hash;
    return myth_grammars_of_tools(&s->held, myth_engine_model(s->e), how, tools, err);
}

static myth_status generate(myth_session *s, uint32_t n, const myth_cancel *cancel, myth_chat_reply *out,
                            myth_error *err)
{
    const myth_tokenizer *t = myth_engine_model(s->e)->tokenizer;
    const uint32_t room = myth_seq_room(s->seq) - 1;
    s->n_text = s->n_thought = s->n_calls = 0;
    myth_detok_start(&s->detok, t, false);
    myth_channel_start(&s->channel, t, s->ids, n);
    const myth_channel behind_prompt = s->channel;
    myth_stops_start(&s->stops, &s->o.stops, t, behind_prompt, s->piece);
    const myth_generate_opts g = {
        .prompt = s->ids + n - 1,
        .n_prompt = 1,
        .n_max = s->o.n_most < room ? s->o.n_most : room,
        .sample = s->o.sample,
        .stop_ids = s->stop,
        .n_stop = s->n_stop,
        .grammar = s->grammars ? myth_grammars_start(s->grammars, 0, s->held ? s->held : s->o.grammar) : NULL,
        .on_token = on_token,
        .user = s,
        .cancel = cancel,
        .seq_number = s->n_try,
        .channel = &behind_prompt,
        .n_think = s->o.n_think,
    };
    const myth_status st = myth_generate(s->e, s->seq, &g, s->answer, &out->n_answer, &out->finish, err);
    if (out->finish == MYTH_FINISH_CANCELLED && !myth_cancelled(cancel) && is_to_put_off(s)) {
        out->n_fed++;
        return myth_fail(err, MYTH_ECANCEL, "put off"); /* the bytes of half a character are not said */
    }
    if (s->o.stops.n) {
        myth_stops_shown shown;
        myth_stops_end_shown(&s->stops, &shown);
        say_shown(s, &shown);
    }
    say(s, s->piece, myth_detok_finish(&s->detok, s->piece), s->channel.is_open);
    if (s->stops.is_found)
        out->finish = MYTH_FINISH_STOP;
    else if (out->finish == MYTH_FINISH_CANCELLED && !myth_cancelled(cancel))
        out->finish = MYTH_FINISH_LENGTH; /* ended by its text */
    out->n_fed++;
    if (st == MYTH_OK && s->calls)
        take_calls(s, &behind_prompt, out);
    return st;
}

/* What an answer that was put off took, added to what it takes now. */
static void add_before(myth_chat_reply *out, const myth_chat_reply *before)
{
    out->n_fed += before->n_fed;
    out->n_turn_gone += before->n_turn_gone;
    out->n_row_gone += before->n_row_gone;
    out->how = out->how == MYTH_FULL_REFUSE && before->n_turn_gone ? before->how : out->how;
}

static void refuse(myth_session *s, size_t n, myth_chat_reply *out)
{
    out->finish = MYTH_FINISH_REFUSED;
    out->n_needed = (uint32_t)n + s->o.n_most;
    out->n_held = myth_seq_len(s->seq);
    out->n_room = s->n_ctx - out->n_held;
    out->rows = myth_seq_used(s->seq);
    s->stats.n_refused++;
    s->before = (myth_chat_reply){0};
}

static void count(myth_session *s, myth_chat_reply *out)
{
    out->n_held = myth_seq_len(s->seq);
    out->n_room = myth_seq_room(s->seq);
    out->rows = myth_seq_used(s->seq);
    s->stats.n_answer += out->n_answer > 0 || out->finish != MYTH_FINISH_CANCELLED;
    s->stats.n_prompt_tok += out->n_prompt;
    s->stats.n_fed_tok += out->n_fed;
    s->stats.n_answer_tok += out->n_answer;
    s->stats.n_turn_gone += out->n_turn_gone;
    s->stats.n_row_gone += out->n_row_gone;
}

/* Computes an answer to the last message. Nothing is added to the chat. */
static myth_status compute(myth_session *s, const myth_cancel *cancel, myth_chat_reply *out, myth_error *err)
{
    choice c = {0};
    const size_t n_msg = s->talk.n;
    myth_status st = MYTH_OK;
    s->n_try = s->n_tried == n_msg ? s->n_try : 0;
    st = find_prefix(s, err);
    if (st == MYTH_OK)
        st = choose(s, &c, err);
    if (st == MYTH_OK)
        st = myth_session_hold_calls(s, err);
    if (st != MYTH_OK) { /* the template does not take it, or its tools cannot be held to */
        s->before = (myth_chat_reply){0};
        return st;
    }
    if (c.n > prompt_most(s)) {
        refuse(s, c.n, out);
        return MYTH_OK;
    }
    out->n_prompt = (uint32_t)c.n;
    st = hold(s, &c, cancel, out, err);
    s->n_tried = s->talk.n;
    if (st == MYTH_OK)
        st = generate(s, (uint32_t)c.n, cancel, out, err);
    add_before(out, &s->before);
    s->before = (myth_chat_reply){0};
    if (st == MYTH_ECANCEL && !myth_cancelled(cancel)) {
        out->is_put_off = true;
        s->before = *out;
        return MYTH_OK;
    }
    if (st == MYTH_ECANCEL) {
        st = MYTH_OK;
        out->finish = MYTH_FINISH_CANCELLED;
    }
    count(s, out);
    return st;
}

/* Turns that went for an answer that came to nothing are there again. Their rows are not: they are computed with the
 * next prompt. */
static void take_back(myth_session *s, const myth_chat_reply *before, bool is_counted, myth_chat_reply *out)
{
    const uint32_t n_turn = out->n_turn_gone - before->n_turn_gone, n_row = out->n_row_gone - before->n_row_gone;
    const size_t n_message = myth_talk_back(&s->talk);
    if (!n_message)
        return;
    s->n_tried += n_message;
    s->stats.n_turn_gone -= is_counted ? n_turn : 0;
    s->stats.n_row_gone -= is_counted ? n_row : 0;
    out->n_turn_gone = before->n_turn_gone;
    out->n_row_gone = before->n_row_gone;
    out->how = before->how;
}

/* Adds the answer. What the model thought before it called tools is in the prompts behind their results; the template
 * writes the newline at its end. */
static myth_status add_answer(myth_session *s, const myth_chat_reply *r, myth_error *err)
{
    const myth_message said = {MYTH_ROLE_ASSISTANT, {s->text, s->n_text}};
    const size_t n_thought = s->n_thought && s->thought[s->n_thought - 1] == '\n' ? s->n_thought - 1 : s->n_thought;
    const myth_message_more more = {.thought = {s->thought, n_thought}, .calls = {s->calls, s->n_calls}};
    return myth_talk_add(&s->talk, &said, r->n_call ? &more : NULL, err);
}

/* Whether what was computed becomes a part of the chat. */
static bool is_to_add(const myth_session *s, const myth_chat_reply *r)
{
    if (r->is_put_off || r->finish == MYTH_FINISH_REFUSED)
        return false;
    return r->finish != MYTH_FINISH_CANCELLED || (r->n_answer && !s->is_retry);
}

/* Turns that were set aside are out of the talk for good. */
static void let_go(myth_session *s)
{
    if (s->lost.code == MYTH_OK)
        myth_gone_add(&s->gone, &s->talk, &s->lost);
    myth_talk_forget(&s->talk);
}

myth_status myth_session_answer(myth_session *s, const myth_cancel *cancel, myth_chat_reply *out, myth_error *err)
{
    myth_talk *t = &s->talk;
    myth_talk_message last = {0};
    const myth_chat_reply before = s->before;
    bool is_added = false;
    *out = (myth_chat_reply){.how = MYTH_FULL_REFUSE};
    if (s->is_retry)
        last = myth_talk_take(t);
    myth_status st = t->n && t->msg[t->n - 1].m.role != MYTH_ROLE_ASSISTANT
                       ? MYTH_OK
                       : myth_fail(err, MYTH_EARG, "there is no message to answer");
    const bool has_message = st == MYTH_OK;
    if (st == MYTH_OK)
        st = compute(s, cancel, out, err);
    const bool is_counted = st == MYTH_OK;
    if (st == MYTH_OK && is_to_add(s, out)) {
        st = add_answer(s, out, err);
        is_added = st == MYTH_OK;
    }
    if (is_added || out->is_put_off) /* put off: it is computed again by what the sequence holds */
        let_go(s);
    else
        take_back(s, &before, is_counted, out);
    out->is_same =
        s->is_retry && is_added && last.m.text.len == s->n_text && memcmp(last.m.text.text, s->text, s->n_text) == 0;
    if (s->is_retry && is_added)
        myth_talk_free(t, &last);
    else if (s->is_retry)
        myth_talk_put(t, &last);
    else if (has_message && !is_added && !out->is_put_off)
        myth_talk_cut(t, t->n - 1);
    out->has_stayed = s->is_retry && !is_added && !out->is_put_off;
    s->is_retry = s->is_retry && out->is_put_off;
    return st;
}

myth_session_rest myth_session_rest_of(const myth_session *s)
{
    return (myth_session_rest){s->stats,  s->n_try,   s->talk.n - s->n_tried, s->n_called, s->talk.n_change,
                               s->before, s->is_retry};
}

void myth_session_go_on(myth_session *s, const myth_session_rest *rest)
{
    s->stats = rest->stats;
    s->n_try = rest->n_try;
    s->n_tried = s->talk.n - rest->n_since;
    s->n_called = rest->n_called;
    s->talk.n_change = rest->n_change + 1; /* turns may be gone that have no room in this context */
    s->before = rest->before;
    s->is_retry = rest->is_retry;
}

bool myth_session_retry(myth_session *s)
{
    if (s->is_retry || s->talk.n == 0 || s->talk.msg[s->talk.n - 1].m.role != MYTH_ROLE_ASSISTANT)
        return false;
    s->is_retry = true;
    s->n_try++;
    return true;
}
