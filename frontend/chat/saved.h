/* saved.h - a chat in a file: its messages, and the sequence that holds them, so that another process goes on without
 * computing them again.
 *
 * Form     one line of JSON {"mythos_chat": 2, "sequence_bytes": n, "sequence_xxh3": "...", "calls": the number of the
 *          last call, "context": its tokens, "gone_bytes", "gone_xxh3", "system", "tools", "messages": [{"role",
 *          "content", "pinned", ...}] (message.h), "header_xxh3": the sum of all before it}, a newline, then the saved
 *          sequence (engine.h, myth_seq_save), which may be missing, then the turns that went (gone.h). Version 1 has
 *          no header_xxh3, and is read
 * Save     with the sequence as it is, but for the last answer, which may be computed again for it (session.h, settle).
 *          A chat that is cold is saved cold: whoever goes on with it computes what is missing. Without the sequence a
 *          save writes a few KB and the turns that went, for after every turn. The file that was there stays until the
 *          new one is whole; one that is no chat is not written over: MYTH_ECREATE
 * Load     the messages replace the present ones. A sequence of another model, of other cache types, or one that does
 *          not fit is left aside: the messages are then computed again, and is_warm is false. A damaged file is
 *          refused, and nothing changed. In a shorter context the oldest turns go whose texts have no room in it
 *          (--on-full refuse: none does, and MYTH_ELIMIT). In a longer one than the chat was saved from, turns that
 *          had gone come back to their places, the newest first, while their texts have room
 * Kept     the same for the process itself, of a chat that gives back its memory for a while: in memory that the ledger
 *          books (class STAGING), or in a file of the temporary folder that has no name, so that it is gone with the
 *          process. Nothing is computed for it, and with the checkpoints that it has, the chat that takes it back, in
 *          an engine with as long a context, goes on with the same bits. In a shorter one, and where the cache has
 *          another shape, the rest is computed again: what then follows is what a chat of that context does with these
 *          messages
 * Memory   the file is mapped, both ways: no copy of the sequence is allocated
 * Errors   MYTH_ECREATE, MYTH_EIO; MYTH_EFORMAT: no saved chat, or damaged; those of talk.h
 * Threads  one */
#ifndef MYTH_CHAT_SAVED_H
#define MYTH_CHAT_SAVED_H

#include "session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* cancel: nothing more is computed, and it is saved all the same. */
myth_status myth_chat_save(myth_session *s, const char *path, const myth_cancel *cancel, uint64_t *bytes,
                           myth_error *err);
/* Without the sequence. */
myth_status myth_chat_save_talk(const myth_session *s, const char *path, myth_error *err);

typedef struct {
    bool is_warm;       /* its sequence is of use */
    size_t n_turn_gone; /* that have no room in this context */
    size_t n_turn_back; /* that had gone in a shorter one */
} myth_chat_loaded;

myth_status myth_chat_load(myth_session *s, const char *path, myth_chat_loaded *out, myth_error *err);

typedef struct {
    myth_mem *mem; /* NULL = nothing is kept */
    int fd;
    uint64_t bytes;
    bool is_in_memory; /* booked in mem */
    myth_session_rest rest;
} myth_chat_kept;

/* The bytes of what keep keeps now. */
uint64_t myth_chat_keep_bytes(const myth_session *s);
/* in_memory: where the ledger has room for it, else in a file. */
myth_status myth_chat_keep(myth_chat_kept *out, myth_session *s, bool in_memory, myth_error *err);
/* Moves what is kept out of memory. */
myth_status myth_chat_kept_to_file(myth_chat_kept *k, myth_error *err);
/* Puts it into a session that was just opened; k stays. */
myth_status myth_chat_take_back(myth_session *s, const myth_chat_kept *k, bool *is_warm, myth_error *err);
/* Writes it to a file that myth_chat_load takes. */
myth_status myth_chat_kept_save(const myth_chat_kept *k, const char *path, myth_error *err);
void myth_chat_kept_close(myth_chat_kept *k); /* takes a zeroed one */

#ifdef __cplusplus
}
#endif
#endif
