/* terminal.h - a chat typed at a terminal: a line editor with history, and Ctrl-C that stops an answer.
 *
 * Lines    libedit reads them. One that ends in \ goes on in the next. History is kept for the run only
 * Ctrl-C   while an answer is made: ends it, and what it has so far is kept. At the prompt: forgets the line. Ctrl-D on
 *          an empty line, /quit, SIGTERM and SIGHUP end the chat
 * Errors   those of input.h
 * Threads  one a process: signal handlers */
#ifndef MYTH_CHAT_TERMINAL_H
#define MYTH_CHAT_TERMINAL_H

#include "input.h"

#ifdef __cplusplus
extern "C" {
#endif

/* in->cancel is set to a flag of its own for the time of the call. */
myth_status myth_chat_terminal(myth_chat_input *in, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
