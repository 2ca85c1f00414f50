/* session.h - a chat with a model: the sequence that holds the conversation, what happens when it is full, and the next
 * answer.
 *
 * Held     before an answer the sequence holds exactly what the template makes of the kept messages. What an answer was
 *          made of and what the template makes of its text may differ (thoughts are left out, texts are trimmed): the
 *          sequence is then cut to where they part, and the rest is fed again
 * Full     when the prompt and the longest answer have more tokens than the context, the oldest turns go, whole, until
 *          a quarter of the room is free, so that not every turn drops some. The system text and pinned turns stay.
 *            REFUSE     nothing goes: the message is refused with the counts
 *            RECOMPUTE  what stays is fed again behind the system text: bit for bit the state of a new chat with these
 *                       messages
 *            DROP       the rows of what goes are dropped and nothing is computed again (myth_seq_evict). The rest was
 *                       computed while it saw them, so answers differ from a new chat's. Pinned turns between dropped
 *                       ones leave a gap each; where a sequence has no more gaps (MYTH_SEQ_GAPS), it is recomputed
 *            AUTO       RECOMPUTE while at most MYTH_RECOMPUTE_MOST tokens stay, else DROP
 *          Turns that went are kept out of memory, for the file of the chat (gone.h).
 *          Turns that went for an answer that comes to nothing come back, and are computed again with the next prompt;
 *          not where the answer was put off in between
 * Positions  a dropped turn leaves its positions unused. WINDOW: before they pass what the model was trained with, the
 *          chat is recomputed, which begins them anew. GROW: they go on
 * Checkpoints  one behind the system text, one at the end of the last prompt, so that a retry, an edit of the last
 *          message and an answer that the template writes otherwise compute no more than the last turn again
 * Retry    an answer in the place of the last one, which stays until the new one has ended: where that is refused,
 *          fails or is interrupted, the chat is what it was
 * Calls    of tools that an answer holds are kept as calls (calls.h), and are not in its text. What was thought before
 *          them is kept too: the template writes it until the user speaks again.
 *          With a tool choice answers are held to the form of calls (grammars.h), but those behind a tool's result may
 *          be text, whatever the choice
 * Put off  an answer that another thread asks to leave is computed again from its prompt later, perhaps by a session of
 *          another engine that took this one's conversation and sequence (saved.h): the same bits
 * Memory   all at open: the ids and texts of a full context, class STAGING (myth_session_bytes), and with a grammar or
 *          a tool choice myth_grammars_bytes of class OTHER; but for the program of a tool choice, class STAGING,
 *          which is made when the tools are known. A chat of any length takes no more
 * Errors   those of myth_forward and talk.h. A refused message is no error: it is taken out of the chat again
 * Threads  one */
#ifndef MYTH_CHAT_SESSION_H
#define MYTH_CHAT_SESSION_H

#include "frontend/common/calls.h"
#include "frontend/common/grammars.h"
#include "frontend/common/stops.h"
#include "gone.h"
#include "talk.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { MYTH_FULL_AUTO, MYTH_FULL_REFUSE, MYTH_FULL_DROP, MYTH_FULL_RECOMPUTE } myth_on_full;
typedef enum { MYTH_POSITIONS_WINDOW, MYTH_POSITIONS_GROW } myth_positions;

enum { MYTH_RECOMPUTE_MOST = 4096, MYTH_SESSION_CHECKPOINTS = 2 };

typedef struct {
    myth_on_full on_full;
    myth_positions positions;
    uint32_t n_most; /* tokens of an answer; 0 = a quarter of the context, at most 1024 */
    bool thinks, ignores_eos;
    uint32_t n_think; /* ids of a thought at most; 0 = any number */
    myth_sample_params sample;
    const myth_gbnf *grammar; /* of every answer, which then has no thoughts; lent until close. NULL = any text */
    const char *tool_choice;  /* myth_grammars_of_tools; lent until close. NULL = calls are not held */
    myth_stop_texts stops;    /* each ends an answer, which is kept up to it */
} myth_session_opts;

typedef struct {
    myth_finish finish;
    uint32_t n_prompt, n_fed;         /* tokens that the answer follows; those of them that were computed for it */
    uint32_t n_answer;                /* tokens generated, thoughts included */
    uint32_t n_call;                  /* calls of tools in the answer */
    uint32_t n_turn_gone, n_row_gone; /* evicted before this answer */
    myth_on_full how;                 /* DROP or RECOMPUTE when the cache was changed so; REFUSE: neither */
    uint32_t n_held, n_room;          /* tokens after the answer; that still fit without dropping any */
    myth_seq_use rows;                /* of the cache, after the answer                               */
    uint32_t n_needed;                /* REFUSED: tokens that prompt and answer would take */
    bool is_put_off;                  /* nothing was added to the chat: the answer is to be asked for again */
    bool has_stayed;                  /* of a retry that was refused or interrupted: the answer before it has stayed */
    bool is_same;                     /* of a retry: the text of the answer before it */
} myth_chat_reply;

typedef struct {
    uint64_t n_answer, n_prompt_tok, n_fed_tok, n_answer_tok; /* over the whole session; answers that were begun */
    uint64_t n_turn_gone, n_row_gone, n_drop, n_recompute, n_refused;
} myth_session_stats;

/* What is said, as it is said. thought: it belongs to the model's thought. */
typedef void myth_on_said(void *user, const char *text, size_t n, bool is_thought);

typedef struct {
    myth_engine *e;
    myth_seq *seq;
    myth_session_opts o;
    myth_talk talk;
    myth_gone gone;          /* turns that went because the context was full */
    myth_error lost;         /* why some of them could not be kept; MYTH_OK: all were */
    myth_grammars *grammars; /* NULL = any text */
    myth_gbnf *held;         /* of the tool choice, for tools of this hash; NULL = not made yet */
    uint64_t held_hash;
    myth_session_stats stats;
    uint32_t n_ctx, n_prefix; /* n_prefix: ids of the system text, before the first message */
    bool has_prefix;          /* n_prefix is that of the present system text */
    uint32_t n_try;           /* retries of the last answer: each samples otherwise */
    bool is_retry;            /* the next answer takes the place of the last one */
    size_t n_tried;           /* messages when it was answered */
    int32_t *ids, *answer;    /* [cap_ids], [n_most] */
    size_t cap_ids;
    char *piece, *text, *thought; /* text of one token; of the last answer and its thought, [cap_text] each */
    size_t cap_text, n_text, n_thought;
    char *calls; /* of the last answer, as JSON, [cap_calls]; NULL = the vocabulary has no marks for them */
    size_t cap_calls, n_calls;
    uint64_t n_called; /* the number of the last call so far */
    myth_detok detok;  /* of thoughts alone where there are texts to stop at */
    myth_stops stops;
    myth_channel channel;
    int32_t stop[MYTH_CHAT_STOP_MAX];
    int n_stop;
    myth_on_said *on_said;
    void (*on_prefill)(void *user, uint32_t done, uint32_t total); /* may be NULL */
    void *user;
    const myth_cancel *put_off; /* while it is set answers are put off; NULL = they never are */
    myth_chat_reply before;     /* what was computed and dropped for the answer that is put off */
} myth_session;

/* What a session knows besides its conversation and its sequence: another one goes on with it. */
typedef struct {
    myth_session_stats stats;
    uint32_t n_try;
    size_t n_since; /* messages since the one that n_try is of, modulo 2^64 */
    uint64_t n_called, n_change;
    myth_chat_reply before;
    bool is_retry;
} myth_session_rest;

/* Sets what the engine needs for a chat: one sequence, checkpoints, sampling, a context that the longest answer takes
 * half of at most. */
void myth_session_needs(myth_engine_opts *eo, const myth_session_opts *o);
/* Host bytes (STAGING) of a session with a context of n_ctx. */
uint64_t myth_session_bytes(const myth_model *m, uint32_t n_ctx, const myth_session_opts *o);
/* The same as a plan asks for it, which may choose the context: of_context of its extra, with this as user. */
typedef struct {
    const myth_model *m;
    const myth_session_opts *o;
} myth_session_of;
uint64_t myth_session_of_context(const void *session_of, uint32_t n_ctx);
/* The engine was opened with these needs. MYTH_EARG: n_most is more than half of the context. */
myth_status myth_session_open(myth_session *out, myth_engine *e, const myth_session_opts *o, myth_error *err);
void myth_session_close(myth_session *s); /* takes a zeroed one */

/* Makes the grammar of the tool choice for the next answer; an answer does it itself, so this is to see that it can be
 * done. Errors: those of myth_grammars_of_tools. */
myth_status myth_session_hold_calls(myth_session *s, myth_error *err);
/* Answers the last message of s->talk, which is a user's or a tool's, and adds the answer to it. Cancelled before the
 * first token, refused or failed: the turn's last message is taken out again. While s->put_off is set it is left behind
 * the token under way: its message stays, and the next call computes the same answer again. out then counts both.
 * After myth_session_retry the message before the last answer is answered: see Retry. */
myth_status myth_session_answer(myth_session *s, const myth_cancel *cancel, myth_chat_reply *out, myth_error *err);
myth_session_rest myth_session_rest_of(const myth_session *s);
/* After the conversation, on which the session goes on, was put into it. */
void myth_session_go_on(myth_session *s, const myth_session_rest *rest);
/* The next call of answer is a retry, which samples otherwise than the last one. False: the chat does not end in an
 * answer, or a retry is asked for already. */
bool myth_session_retry(myth_session *s);
/* Makes the sequence hold what the next prompt begins with, whatever is said in it, so that a saved chat goes on
 * without computing its last answer again. That answer is the most that is computed: nothing is done where more is
 * missing, while a message is not answered, or where there is no room for it. Cancelled: it holds a part of it. */
myth_status myth_session_settle(myth_session *s, const myth_cancel *cancel, myth_error *err);
/* Lets the oldest turns of a talk for this session go to `gone` while its texts, or its messages, are more than the
 * context has room for; with --on-full refuse none goes. Adds to *n_turn how many went. */
myth_status myth_session_shed(const myth_session *s, myth_talk *talk, myth_gone *gone, size_t *n_turn, myth_error *err);
/* Lets the newest turns that went come back while they have room. With --on-full refuse none does, since it could not
 * go again. */
myth_status myth_session_regain(const myth_session *s, myth_talk *talk, myth_gone *gone, size_t *n_turn,
                                myth_error *err);
/* Bounds such a talk as the session's own is. MYTH_ELIMIT: it is larger. */
myth_status myth_session_bound(const myth_session *s, myth_talk *talk, myth_error *err);
/* Another system text. */
myth_status myth_session_set_system(myth_session *s, myth_str text, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
