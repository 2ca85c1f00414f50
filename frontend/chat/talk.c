/* talk.c - messages in an array; each owns one block with all of its texts. */
#include "talk.h"

#include "engine/base/array.h"

#include <string.h>

void myth_talk_open(myth_talk *out, myth_mem *mem, const myth_model *model, bool thinks, size_t max_bytes)
{
    *out = (myth_talk){
        .mem = mem,
        .tok = model->tokenizer,
        .form = myth_chat_form_of(&model->config, model->tokenizer),
        .thinks = thinks,
        .max_bytes = max_bytes,
        .max_n = SIZE_MAX,
    };
}

/* A message that was set aside. */
struct myth_talk_aside {
    myth_talk_message m;
    size_t at; /* its place when all were there */
};

/* ---- messages ---- */

static size_t bytes_of(const myth_talk_message *m)
{
    return m->m.text.len + m->more.thought.len + m->more.calls.len + m->more.name.len + m->more.call_id.len;
}

void myth_talk_free(myth_talk *t, const myth_talk_message *aside)
{
    myth_free(t->mem, (void *)aside->m.text.text); /* the first text of the block */
}

myth_talk_message myth_talk_take(myth_talk *t)
{
    const myth_talk_message last = t->msg[--t->n];
    t->n_bytes -= bytes_of(&last);
    return last;
}

void myth_talk_put(myth_talk *t, const myth_talk_message *aside)
{
    t->msg[t->n++] = *aside;
    t->n_bytes += bytes_of(aside);
}

void myth_talk_close(myth_talk *t)
{
    if (!t->mem)
        return;
    myth_talk_cut(t, 0);
    myth_talk_forget(t);
    myth_free(t->mem, t->aside);
    myth_free(t->mem, t->row_more);
    myth_free(t->mem, t->row);
    myth_free(t->mem, t->msg);
    myth_free(t->mem, t->tools);
    myth_free(t->mem, t->system);
    *t = (myth_talk){0};
}

static myth_status too_much(const myth_talk *t, size_t n, myth_error *err)
{
    return myth_fail(err, MYTH_ELIMIT,
                     "the message has %zu bytes; with what is kept of the chat at most %zu fit this context: shorten "
                     "it or raise -c",
                     n, t->max_bytes);
}

static myth_str copy_to(char **at, myth_str s)
{
    const myth_str copy = {s.text ? *at : NULL, s.len};
    if (s.len)
        memcpy(*at, s.text, s.len);
    *at += s.len;
    return copy;
}

/* Gives a message whose texts are lent a block with copies of them. */
static bool own_texts(const myth_talk *t, myth_talk_message *m)
{
    char *at = myth_alloc(t->mem, MYTH_MEM_STAGING, "chat", bytes_of(m) + 1);
    if (!at)
        return false;
    m->m.text = copy_to(&at, m->m.text.text ? m->m.text : (myth_str){"", 0});
    m->more.thought = copy_to(&at, m->more.thought);
    m->more.calls = copy_to(&at, m->more.calls);
    m->more.name = copy_to(&at, m->more.name);
    m->more.call_id = copy_to(&at, m->more.call_id);
    return true;
}

static void drop_thought(myth_talk *t, myth_talk_message *m)
{
    myth_talk_message rest = *m;
    rest.more.thought = (myth_str){NULL, 0};
    if (!own_texts(t, &rest))
        return;
    t->n_bytes -= m->more.thought.len;
    t->n_change++;
    myth_talk_free(t, m);
    *m = rest;
}

/* Whether n more bytes of text fit, for which the oldest thoughts go that no prompt has: those before the last message
 * of the user. */
static bool has_room(myth_talk *t, size_t n)
{
    size_t last = t->n;
    while (last > 0 && t->msg[last - 1].m.role != MYTH_ROLE_USER)
        last--;
    for (size_t i = 0; i < last && n > t->max_bytes - t->n_bytes; i++)
        if (t->msg[i].more.thought.len)
            drop_thought(t, &t->msg[i]);
    return n <= t->max_bytes - t->n_bytes;
}

static myth_status set_text(myth_talk *t, char **text, myth_str s, myth_error *err)
{
    const size_t was = *text ? strlen(*text) : 0;
    char *copy = NULL;
    if (s.len == was && (!was || memcmp(*text, s.text, was) == 0))
        return MYTH_OK;
    if (s.len > was && !has_room(t, s.len - was))
        return too_much(t, s.len, err);
    if (s.len) {
        copy = myth_alloc(t->mem, MYTH_MEM_STAGING, "chat", s.len + 1);
        if (!copy)
            return myth_fail(err, MYTH_ENOMEM, "out of memory for a text of %zu bytes", s.len);
        memcpy(copy, s.text, s.len);
        copy[s.len] = '\0';
    }
    myth_free(t->mem, *text);
    *text = copy;
    t->n_bytes += (copy ? strlen(copy) : 0) - was;
    t->n_change++;
    return MYTH_OK;
}

myth_status myth_talk_set_system(myth_talk *t, myth_str text, myth_error *err)
{
    return set_text(t, &t->system, text, err);
}

myth_status myth_talk_set_tools(myth_talk *t, myth_str json, myth_error *err)
{
    return set_text(t, &t->tools, json, err);
}

myth_status myth_talk_add(myth_talk *t, const myth_message *m, const myth_message_more *more, myth_error *err)
{
    myth_talk_message one = {.m = *m};
    if (more)
        one.more = *more;
    const size_t n = bytes_of(&one);
    if (t->n >= t->max_n)
        return myth_fail(
            err, MYTH_ELIMIT,
            "the chat has %zu messages, as many as this context takes: take turns out with /drop or /undo, "
            "or raise -c",
            t->n);
    if (!has_room(t, n))
        return too_much(t, n, err);
    if (!MYTH_ARRAY_ROOM(t->mem, MYTH_MEM_STAGING, "chat", &t->msg, t->n, &t->cap))
        return myth_fail(err, MYTH_ENOMEM, "out of memory for %zu messages", t->n + 1);
    if (!own_texts(t, &one))
        return myth_fail(err, MYTH_ENOMEM, "out of memory for a message of %zu bytes", n);
    one.number = ++t->n_number;
    t->msg[t->n++] = one;
    t->n_bytes += n;
    t->n_change++;
    return MYTH_OK;
}

void myth_talk_place(myth_talk *t, uint64_t number)
{
    size_t at = t->n - 1;
    myth_talk_message last = t->msg[at];
    if (number == 0 || number > UINT64_MAX / 2)
        return;
    last.number = number;
    t->n_number = number > t->n_number - 1 ? number : t->n_number - 1;
    for (; at > 0 && t->msg[at - 1].number > number; at--)
        t->msg[at] = t->msg[at - 1];
    t->msg[at] = last;
}

/* Takes the messages from .. to - 1 out, which the caller frees or has, and closes up. */
static void close_up(myth_talk *t, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        t->n_bytes -= bytes_of(&t->msg[i]);
    t->n_change += from < to;
    memmove(t->msg + from, t->msg + to, (t->n - to) * sizeof(*t->msg));
    t->n -= to - from;
}

static void remove_messages(myth_talk *t, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        myth_talk_free(t, &t->msg[i]); /* its lengths are still there */
    close_up(t, from, to);
}

void myth_talk_cut(myth_talk *t, size_t n)
{
    if (n < t->n)
        remove_messages(t, n, t->n);
}

/* ---- turns ---- */

static bool begins_turn(const myth_talk *t, size_t i) { return i == 0 || t->msg[i].m.role == MYTH_ROLE_USER; }

size_t myth_talk_n_turn(const myth_talk *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += begins_turn(t, i);
    return n;
}

void myth_talk_turn(const myth_talk *t, size_t turn, size_t *from, size_t *to)
{
    size_t i = 0;
    for (size_t k = 0; i < t->n && k < turn; k += i < t->n && begins_turn(t, i))
        i++;
    *from = i;
    for (i += i < t->n; i < t->n && !begins_turn(t, i);)
        i++;
    *to = i;
}

bool myth_talk_is_pinned(const myth_talk *t, size_t turn)
{
    size_t from, to;
    myth_talk_turn(t, turn, &from, &to);
    return from < to && t->msg[from].is_pinned;
}

void myth_talk_pin(myth_talk *t, size_t turn, bool is_pinned)
{
    size_t from, to;
    myth_talk_turn(t, turn, &from, &to);
    if (from == to || t->msg[from].is_pinned == is_pinned)
        return;
    t->msg[from].is_pinned = is_pinned;
    t->n_change++;
}

size_t myth_talk_n_droppable(const myth_talk *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += begins_turn(t, i) && !t->msg[i].is_pinned;
    size_t from = 0, to = 0;
    if (t->n)
        myth_talk_turn(t, myth_talk_n_turn(t) - 1, &from, &to);
    return n - (t->n && !t->msg[from].is_pinned);
}

void myth_talk_drop_turn(myth_talk *t, size_t turn)
{
    size_t from, to;
    myth_talk_turn(t, turn, &from, &to);
    remove_messages(t, from, to);
}

void myth_talk_drop(myth_talk *t, size_t n)
{
    for (size_t turn = 0; n && turn + 1 < myth_talk_n_turn(t);)
        if (myth_talk_is_pinned(t, turn)) {
            turn++;
        } else {
            myth_talk_drop_turn(t, turn);
            n--;
        }
}

/* The next turn from *turn on that may be dropped; false: there is none. */
static bool next_droppable(const myth_talk *t, size_t *turn)
{
    while (*turn + 1 < myth_talk_n_turn(t) && myth_talk_is_pinned(t, *turn))
        ++*turn;
    return *turn + 1 < myth_talk_n_turn(t);
}

myth_status myth_talk_set_aside(myth_talk *t, size_t n, myth_error *err)
{
    size_t turn = 0, from, to;
    myth_talk_forget(t);
    if (n == 0)
        return MYTH_OK;
    if (t->cap_aside < t->n) {
        myth_free(t->mem, t->aside);
        t->cap_aside = 0;
        t->aside = myth_alloc_n(t->mem, MYTH_MEM_STAGING, "chat", t->n, sizeof(*t->aside));
        if (!t->aside)
            return myth_fail(err, MYTH_ENOMEM, "out of memory for %zu messages", t->n);
        t->cap_aside = t->n;
    }
    for (; n && next_droppable(t, &turn); n--) {
        const size_t n_before = t->n_aside;
        myth_talk_turn(t, turn, &from, &to);
        for (size_t i = from; i < to; i++) /* those of turns before it are missing */
            t->aside[n_before + i - from] = (struct myth_talk_aside){t->msg[i], i + n_before};
        t->n_aside += to - from;
        close_up(t, from, to);
    }
    return MYTH_OK;
}

const myth_talk_message *myth_talk_aside_at(const myth_talk *t, size_t i) { return &t->aside[i].m; }

size_t myth_talk_back(myth_talk *t)
{
    const size_t n_back = t->n_aside;
    size_t n = t->n;
    t->n += t->n_aside;
    for (size_t to = t->n; t->n_aside; to--) { /* from the last place on */
        const struct myth_talk_aside *a = &t->aside[t->n_aside - 1];
        const bool is_its = a->at == to - 1;
        t->msg[to - 1] = is_its ? a->m : t->msg[--n];
        t->n_bytes += is_its ? bytes_of(&a->m) : 0;
        t->n_aside -= is_its;
    }
    t->n_change += n_back > 0;
    return n_back;
}

void myth_talk_forget(myth_talk *t)
{
    while (t->n_aside)
        myth_talk_free(t, &t->aside[--t->n_aside].m);
}

/* ---- ids ---- */

static myth_status need_rows(myth_talk *t, size_t n, myth_error *err)
{
    if (n <= t->cap_row)
        return MYTH_OK;
    n += n / 2;
    myth_free(t->mem, t->row);
    myth_free(t->mem, t->row_more);
    t->cap_row = 0;
    t->row = myth_alloc_n(t->mem, MYTH_MEM_STAGING, "chat", n, sizeof(*t->row));
    t->row_more = myth_alloc_n(t->mem, MYTH_MEM_STAGING, "chat", n, sizeof(*t->row_more));
    if (!t->row || !t->row_more)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for %zu messages", n);
    t->cap_row = n;
    return MYTH_OK;
}

static myth_str tools_of(const myth_talk *t) { return (myth_str){t->tools, t->tools ? strlen(t->tools) : 0}; }

/* Puts the system text first; returns how many rows that is. */
static size_t put_system(myth_talk *t)
{
    if (!t->system)
        return 0;
    t->row[0] = (myth_message){MYTH_ROLE_SYSTEM, {t->system, strlen(t->system)}};
    t->row_more[0] = (myth_message_more){0};
    return 1;
}

static myth_status encode_rows(myth_talk *t, size_t n, int32_t *ids, size_t cap, size_t *n_ids, myth_error *err)
{
    const myth_chat_opts o = {.thinks = t->thinks, .tools = tools_of(t), .more = t->row_more};
    return myth_chat_encode_with(t->tok, t->mem, t->form, t->row, n, &o, ids, cap, n_ids, err);
}

size_t myth_talk_bound(const myth_talk *t)
{
    static const myth_message empty[2] = {{MYTH_ROLE_SYSTEM, {"", 0}}, {MYTH_ROLE_USER, {"", 0}}};
    const myth_chat_opts none = {.tools = tools_of(t)};
    const size_t base = myth_chat_bound_with(empty, 0, &none), each = myth_chat_bound_with(empty, 1, &none) - base;
    size_t n = base + 3 * each + 2 + (t->system ? strlen(t->system) : 0); /* and two messages of a letter */
    for (size_t i = 0; i < t->n; i++) {
        const myth_chat_opts more = {.tools = tools_of(t), .more = &t->msg[i].more};
        n += myth_chat_bound_with(&t->msg[i].m, 1, &more) - base;
        for (size_t k = 0; k < t->n && t->msg[i].m.role == MYTH_ROLE_TOOL; k++)
            n += t->msg[k].more.calls.len; /* the name in a call is written before its result too */
    }
    return n;
}

myth_status myth_talk_encode(myth_talk *t, size_t n_drop, int32_t *ids, size_t cap, size_t *n_ids, myth_error *err)
{
    const size_t n_turn = myth_talk_n_turn(t);
    size_t n = 0;
    myth_status st = need_rows(t, t->n + 3, err);
    if (st != MYTH_OK)
        return st;
    n = put_system(t);
    for (size_t turn = 0; turn < n_turn; turn++) {
        size_t from, to;
        myth_talk_turn(t, turn, &from, &to);
        if (n_drop && turn + 1 < n_turn && !t->msg[from].is_pinned) {
            n_drop--;
            continue;
        }
        for (; from < to; from++, n++) {
            t->row[n] = t->msg[from].m;
            t->row_more[n] = t->msg[from].more;
        }
    }
    return encode_rows(t, n, ids, cap, n_ids, err);
}

/* Puts the system text and the first n messages; returns how many rows that is. */
static size_t put_messages(myth_talk *t, size_t n)
{
    size_t k = put_system(t);
    for (size_t i = 0; i < n; i++, k++) {
        t->row[k] = t->msg[i].m;
        t->row_more[k] = t->msg[i].more;
    }
    return k;
}

static void put_letter(myth_talk *t, size_t k, myth_role role, const char *letter)
{
    t->row[k] = (myth_message){role, {letter, 1}};
    t->row_more[k] = (myth_message_more){0};
}

static myth_status alloc_ids(myth_talk *t, int32_t **ids, size_t *cap, myth_error *err)
{
    *cap = myth_talk_bound(t);
    *ids = myth_alloc_n(t->mem, MYTH_MEM_STAGING, "chat", *cap, sizeof(**ids));
    return *ids ? need_rows(t, t->n + 3, err) : myth_fail(err, MYTH_ENOMEM, "out of memory for %zu ids", *cap);
}

myth_status myth_talk_stable(myth_talk *t, const int32_t *ids, size_t n, uint32_t *n_stable, myth_error *err)
{
    int32_t *next = NULL;
    size_t cap = 0, n_next = 0;
    myth_status st;
    *n_stable = 0;
    MYTH_TRY(alloc_ids(t, &next, &cap, err));
    const size_t k = put_messages(t, t->n);
    put_letter(t, k, MYTH_ROLE_ASSISTANT, "A");
    put_letter(t, k + 1, MYTH_ROLE_USER, "1");
    MYTH_TRY(encode_rows(t, k + 2, next, cap, &n_next, err));
    *n_stable = myth_talk_same(ids, n, next, n_next);
fail:
    myth_free(t->mem, next);
    return st;
}

myth_status myth_talk_common(myth_talk *t, size_t n_msg, int32_t *ids, size_t cap, uint32_t *n, myth_error *err)
{
    int32_t *other = NULL; /* with a message that shares no token with the first one's */
    size_t cap_other = 0, n_ids = 0, n_other = 0;
    myth_status st;
    *n = 0;
    MYTH_TRY(alloc_ids(t, &other, &cap_other, err));
    const size_t k = put_messages(t, n_msg);
    put_letter(t, k, MYTH_ROLE_USER, "A");
    MYTH_TRY(encode_rows(t, k + 1, ids, cap, &n_ids, err));
    put_letter(t, k, MYTH_ROLE_USER, "1");
    MYTH_TRY(encode_rows(t, k + 1, other, cap_other, &n_other, err));
    *n = myth_talk_same(ids, n_ids, other, n_other);
fail:
    myth_free(t->mem, other);
    return st;
}
