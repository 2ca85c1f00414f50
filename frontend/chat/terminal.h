/* terminal.h - a chat typed at a terminal: a line editor with history, and Ctrl-C that stops an answer.
 *
 * Lines    libedit reads them. One that ends in \ goes on in the next. History is kept for the run only
 * Pasted   text that a terminal marks as pasted (bracketed paste, which is switched on until the end) is put into the
 *          line with its line ends: it is one message with what is typed around it, when Enter is pressed. More than a
 *          message can have is left out, and a note says so
 * Letters  are read as UTF-8, whatever the locale: of a locale in another encoding the letters are those of C.UTF-8.
 *          Where the system does not have that one, a note says that letters beyond ASCII are left out
 * Window   when it gets another size the line that is edited is drawn again in it
 * Ctrl-C   while an answer is made: ends it, and what it has so far is kept. At the prompt: forgets the line. Ctrl-D on
 *          an empty line, /quit, SIGTERM and SIGHUP end the chat
 * Memory   a message is in the ledger, class STAGING; the line that is edited and the history are libedit's own
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
