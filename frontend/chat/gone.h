/* gone.h - the turns of a chat that went because its context was full: out of memory, for the file of the chat, so that
 * a longer context has them again.
 *
 * Form     a line of JSON for each turn, the oldest first: {"messages": [...]} (message.h)
 * Place    a file of the temporary folder without a name, made when the first turn goes
 * Bound    MYTH_GONE_MOST bytes; beyond that the newer half stays
 * Errors   MYTH_ECREATE, MYTH_EIO: the turns are not kept, and those before them are
 * Threads  one */
#ifndef MYTH_CHAT_GONE_H
#define MYTH_CHAT_GONE_H

#include "talk.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_GONE_MOST = 16 << 20 };

typedef struct {
    bool has_file;
    int fd;
    uint64_t bytes;
} myth_gone; /* zeroed: no turn has gone */

/* Adds the turns that are set aside in a talk. */
myth_status myth_gone_add(myth_gone *g, const myth_talk *talk, myth_error *err);
/* Adds lines of another one. */
myth_status myth_gone_add_lines(myth_gone *g, const void *lines, size_t n, myth_error *err);
/* The lines, mapped until unmap; NULL when they cannot be, with errno. There are some. */
const void *myth_gone_map(const myth_gone *g);
void myth_gone_unmap(const myth_gone *g, const void *lines);
/* Puts its newest turns back into a talk that has room for at most n_message messages, one after the other while the
 * next has room. Adds to *n_turn how many came back. */
myth_status myth_gone_take_back(myth_gone *g, myth_talk *talk, size_t n_message, size_t *n_turn, myth_error *err);
void myth_gone_close(myth_gone *g); /* takes a zeroed one, and leaves it so */

#ifdef __cplusplus
}
#endif
#endif
