/* saved.h - a chat in a file: its messages, and the sequence that holds them, so that another process goes on without
 * computing them again.
 *
 * Form     one line of JSON {"mythos_chat": 1, "sequence_bytes": n, "sequence_xxh3": "...", "system",
 *          "tools", "messages": [{"role", "content", "pinned", ...}]}, a newline, then the saved sequence (engine.h,
 *          myth_seq_save)
 * Load     the messages replace the present ones. A sequence of another model, of other cache types, or one that does
 *          not fit is left aside: the messages are then computed again, and *is_warm is false. A damaged file is
 *          refused, and nothing changed
 * Memory   the file is mapped, both ways: no copy of the sequence is allocated
 * Errors   MYTH_ECREATE, MYTH_EIO; MYTH_EFORMAT: no saved chat, or damaged; those of talk.h
 * Threads  one */
#ifndef MYTH_CHAT_SAVED_H
#define MYTH_CHAT_SAVED_H

#include "session.h"

#ifdef __cplusplus
extern "C" {
#endif

myth_status myth_chat_save(myth_session *s, const char *path, uint64_t *bytes, myth_error *err);
myth_status myth_chat_load(myth_session *s, const char *path, bool *is_warm, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
