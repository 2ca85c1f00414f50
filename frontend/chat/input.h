/* input.h - one line of what a person types or a script sends: a message, which is answered, or a command.
 *
 * Text     a line is the user's message; one that begins with / is a command (myth_chat_commands), with // a message
 *          that begins with /
 * JSON     a string is the user's message; an object is a message {"role", "content", ...} (conversation.h), or
 *          {"command": "/save FILE"}. A message of the user or a tool is answered; others are added to the chat
 * Out      text: the answer as it is made, thoughts on stderr; notes on stderr. JSON: a line for each line of input:
 *          {"role": "assistant", "content", "reasoning_content", "finish_reason", "usage": {...}, "context": {...}},
 *          {"role", "added": true}, {"command", "ok", ...} or {"error"}. /turns and /help have a "list": of {"turn",
 *          "pinned", "messages": how many, "text": of the first}, and of {"command", "help"}
 * Put off  an answer that was put off (session.h) is asked for again by myth_chat_input_answer; what was printed of it
 *          is not printed twice
 * Session  a chat with a file of its own is saved to it, without its sequence, before an answer's line of JSON is
 *          printed, and after whatever else has changed it: a process that is killed loses the turn in progress. Where
 *          that fails a note says so, and the chat goes on
 * Errors   what a person can mend (a bad line, a refused message, an unknown command) is reported and counted in
 *          n_failed, and the chat goes on; the status is that of what ends it. Of a person at a terminal a mistyped
 *          command is not counted
 * Threads  one */
#ifndef MYTH_CHAT_INPUT_H
#define MYTH_CHAT_INPUT_H

#include "frontend/cli/cli.h"
#include "saved.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const char *name, *args, *help; /* "save", "FILE", one line */
} myth_chat_command;

/* Every command, NULL-named at the end. */
extern const myth_chat_command myth_chat_commands[];

typedef struct {
    myth_cli *cli;
    myth_session *s;
    const myth_cancel *cancel; /* ends an answer */
    bool is_json;
    bool is_interactive;       /* a person types: a mistyped command is answered, and no more */
    bool is_over;              /* /quit was given */
    uint64_t n_failed;         /* lines that could not be done */
    uint64_t n_cut;            /* answers that were interrupted */
    bool in_thought, has_line; /* text: the last part was a thought; the line on the terminal is open */
    bool has_lost;             /* turns could not be kept for the file, and a note has said so */
    bool is_put_off;           /* the last answer is to be asked for again */
    const char *session;       /* the chat's own file; NULL = it has none */
    uint64_t n_saved;          /* the talk's n_change that the file has */
    size_t n_said, n_pass;     /* bytes of the answer so far; that are not printed, since they were already */
    /* Called while a line is waited for, every MYTH_CHAT_LOOK_MS, and before the next one: the chat may be moved in it,
     * when it has nothing but itself (*s). NULL = never. A failure ends the chat. */
    myth_status (*look)(void *look_user, myth_error *err);
    void *look_user;
} myth_chat_input;

enum { MYTH_CHAT_LOOK_MS = 20 };

/* The session's on_said and on_prefill are set; they write what is said. */
void myth_chat_input_start(myth_chat_input *out, myth_cli *cli, myth_session *s, const myth_cancel *cancel,
                           bool is_json);
/* Saves what has changed to in->session. */
void myth_chat_input_save(myth_chat_input *in);
/* Notes of the turns of a file that went or came back when it was read; none when none did. */
void myth_chat_note_turns(const myth_cli *cli, const myth_session *s, const char *path, const myth_chat_loaded *l);
/* One line without its newline. */
myth_status myth_chat_input_line(myth_chat_input *in, const char *line, size_t n, myth_error *err);
/* The session was opened again. is_same: what is asked for again comes with the same bytes. */
void myth_chat_input_again(myth_chat_input *in, bool is_same);
/* Answers the last message of the chat, if it asks for one: a chat that was read from a file may end so. */
myth_status myth_chat_input_answer(myth_chat_input *in, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
