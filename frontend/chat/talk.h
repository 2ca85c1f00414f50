/* talk.h - the conversation of a chat as it is kept: a system text and messages, in turns that go as a whole.
 *
 * Turn     a message of the user and everything up to the next one: answers, calls and their results
 * Gone     a turn that was dropped is freed, so that memory is bounded by what the context holds. The system text and
 *          pinned turns are never dropped, nor is the last turn. Turns that are set aside are no part of the talk, and
 *          can come back until something is added
 * Number   of a message: its place in the chat, from 1 on, which it keeps when others go. What comes back stands where
 *          it stood
 * Ids      what the model's template makes of the messages that are kept, thoughts of older turns left out as the
 *          template does
 * Bounds   all texts together have at most max_bytes, which the caller derives from the context: MYTH_ELIMIT. Before
 *          that the oldest thoughts of older turns go, which no prompt has. So it is with more messages than max_n
 * Owner    texts are copied; a talk owns them. Class STAGING
 * Errors   MYTH_ENOMEM; MYTH_EARG roles that the template does not take
 * Threads  one */
#ifndef MYTH_CHAT_TALK_H
#define MYTH_CHAT_TALK_H

#include "engine/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    myth_message m;
    myth_message_more more;
    uint64_t number;
    bool is_pinned; /* of a turn's first message: the whole turn */
} myth_talk_message;

typedef struct {
    myth_mem *mem;
    const myth_tokenizer *tok;
    myth_chat_form form;
    bool thinks;
    size_t max_bytes, n_bytes; /* of all texts: at most, now */
    size_t max_n;              /* messages at most; open sets no limit */
    uint64_t n_number;         /* the largest number so far */
    uint64_t n_change;         /* changes of what is kept so far: the same number, the same conversation */
    char *system, *tools;      /* NULL = none */
    myth_talk_message *msg;
    size_t n, cap;
    struct myth_talk_aside *aside; /* [n_aside] messages of turns that were set aside, in their order */
    size_t n_aside, cap_aside;
    myth_message *row; /* what is being encoded, [cap_row] */
    myth_message_more *row_more;
    size_t cap_row;
} myth_talk;

void myth_talk_open(myth_talk *out, myth_mem *mem, const myth_model *model, bool thinks, size_t max_bytes);
void myth_talk_close(myth_talk *t); /* takes a zeroed one */
/* text NULL or of length 0 = none. */
myth_status myth_talk_set_system(myth_talk *t, myth_str text, myth_error *err);
myth_status myth_talk_set_tools(myth_talk *t, myth_str json, myth_error *err);
/* more NULL = nothing besides the text. */
myth_status myth_talk_add(myth_talk *t, const myth_message *m, const myth_message_more *more, myth_error *err);
/* Gives the last message this number and the place that it has by it; 0 = the next number, which it has. */
void myth_talk_place(myth_talk *t, uint64_t number);
/* Keeps the first n messages. */
void myth_talk_cut(myth_talk *t, size_t n);
/* Takes the last message, of which there is one, out of the talk and sets it aside: put lets it be the last one again,
 * which cannot fail while the talk has no more messages than then, and free ends it. Neither take nor put is a change.
 */
myth_talk_message myth_talk_take(myth_talk *t);
void myth_talk_put(myth_talk *t, const myth_talk_message *aside);
void myth_talk_free(myth_talk *t, const myth_talk_message *aside);

size_t myth_talk_n_turn(const myth_talk *t);
/* The messages from .. to - 1 of a turn. What stands before the first user message belongs to turn 0. */
void myth_talk_turn(const myth_talk *t, size_t turn, size_t *from, size_t *to);
bool myth_talk_is_pinned(const myth_talk *t, size_t turn);
void myth_talk_pin(myth_talk *t, size_t turn, bool is_pinned);

/* How many turns could be dropped: all but the last one and those that are pinned. */
size_t myth_talk_n_droppable(const myth_talk *t);
/* Drops the n oldest of them. */
void myth_talk_drop(myth_talk *t, size_t n);
/* Takes the n oldest of them out, as drop does, and keeps them until back, with no message added since, or forget. */
myth_status myth_talk_set_aside(myth_talk *t, size_t n, myth_error *err);
/* One of the n_aside messages that are set aside; lent until back or forget. */
const myth_talk_message *myth_talk_aside_at(const myth_talk *t, size_t i);
/* Puts all that was set aside where it was; returns how many messages that are. */
size_t myth_talk_back(myth_talk *t);
void myth_talk_forget(myth_talk *t);
/* Drops one turn, pinned or not. */
void myth_talk_drop_turn(myth_talk *t, size_t turn);

/* How many ids two lists begin with in common. */
static inline uint32_t myth_talk_same(const int32_t *a, size_t n_a, const int32_t *b, size_t n_b)
{
    uint32_t n = 0;
    while (n < n_a && n < n_b && a[n] == b[n])
        n++;
    return n;
}

/* Ids that encode may give for what is kept. */
size_t myth_talk_bound(const myth_talk *t);
/* The prompt of the next answer as it is after dropping the n_drop oldest turns, which are not dropped by this. */
myth_status myth_talk_encode(myth_talk *t, size_t n_drop, int32_t *ids, size_t cap, size_t *n_ids, myth_error *err);
/* How many of the prompt's ids[n] the next prompt begins with too, whatever the answer is: a template may end a prompt
 * with what it leaves out of older turns. */
myth_status myth_talk_stable(myth_talk *t, const int32_t *ids, size_t n, uint32_t *n_stable, myth_error *err);
/* The ids that every prompt begins with in which a user's message follows the first n_msg messages, whatever it says;
 * n_msg 0: those of the system text. */
myth_status myth_talk_common(myth_talk *t, size_t n_msg, int32_t *ids, size_t cap, uint32_t *n, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
