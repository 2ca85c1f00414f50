/* store.h - the index's database: its tables, what is written for a file, what can be read back.
 *
 * Tables   meta(key, value) files(id, path BLOB, mtime_ns, ctime_ns, bytes, inode, hash BLOB, language, flags, note)
 *              mtime_ns -1: read the file again at the next update
 *          chunks(id, file_id, off, bytes, line0, line1, kind, symbol, parent, doc_off, doc_bytes, flags, hash
 *          BLOB) symbols(id, file_id, name, parent, kind, line0, line1, name_line, off, bytes, signature_off,
 *                  signature_bytes, flags)
 *              a virtual table: symbol_rows.h reads it from definitions and names
 *          definitions(file_id, n, data), names(key, file_id)
 *          refs(file_id, n, data)                   read by myth_store_refs and myth_store_refs_named
 *          history(file_id, n_commit, last_time)    counts over the newest 1,000 commits
 *          commits(id, oid, time, paths)            the commits that history is counted from
 *          blocks(id, data)                         the files' text, read by myth_store_text, or by SQL as
 *                                                   span(file_id, off, bytes)
 *          fts(body, path, names)                   FTS5 without content; row id = chunks.id. names holds the chunk's
 *                                                   symbol, its parent and the names that the chunk defines
 *          facts(file_id, data), links(file_id, data), ranks(place, file_id, rank, data), summaries(hash, text)
 *              belong to the map (repomap.h, filegraph.h). links and ranks are those of the last map; the number
 *              `map` in meta says whether they are still valid
 *          There are indexes on files(path) and chunks(file_id). A symbol's id is its file's id times
 *          MYTH_SYMBOL_IDS plus its place in the file, so the symbols of a file are a range of ids. Text columns
 *          hold bytes that need not be UTF-8
 * Units    offsets and sizes in bytes of the file; lines are counted as in structure.h
 * Pages    every page has a checksum (page_vfs.h): reading a damaged page fails with MYTH_EFORMAT
 * Owner    the caller closes what it opened; what is lent is valid until close unless its function says otherwise
 * Threads  one at a time per store
 * Trust    whoever can write the file can write rows with a correct checksum, so no row is trusted: opening
 *          compares the schema and the ranges of keys (store_check.c), and every reader checks the values that it
 *          calculates with
 * Errors   MYTH_EFORMAT damaged or not an index, with the remedy; MYTH_ELOST another process holds it; MYTH_EIO the
 *          disk; MYTH_ENOMEM; MYTH_ECREATE the file cannot be written
 * Source   SQLite's file format and its FTS5 documentation */
#ifndef MYTH_STORE_H
#define MYTH_STORE_H

#include "engine/base/mem.h"
#include "retrieval/parse/structure.h"

#include <sqlite3.h>

typedef struct myth_store myth_store;

/* The largest id of a file. Ids of its symbols and of its pieces of text are multiples of it and must fit an int64. */
#define MYTH_FILE_ID_MAX ((INT64_C(1) << 43) - 1)

enum {
    MYTH_STORE_VERSION = 14,
    MYTH_STORE_APPLICATION = 0x6d795468,
    MYTH_BLOCK_BYTES = 32 << 10, /* text compressed together: a read unpacks one or two blocks */
    MYTH_CHUNK_HASH_BYTES = 8,   /* the first bytes of XXH3-128: finds copies, proves nothing */
    MYTH_SYMBOL_IDS = 1 << 20,   /* ids of one file's symbols; more symbols are left out */
    MYTH_FILE_GENERATED = 1,
    MYTH_FILE_TEST = 2,
    MYTH_FILE_UTF16_LE = 4,
    MYTH_FILE_UTF16_BE = 8, /* these and the next four: files.flags */
    MYTH_FILE_FAILED = 16,
    /* its parser died or ran out of time once (FAILED), or twice on the same content (GIVEN_UP) */
    MYTH_FILE_GIVEN_UP = 32,
    MYTH_FILE_LOST = 64,      /* part of it is not in the index; its note says what */
    MYTH_FILE_UNPARSED = 128, /* that part is its definitions and uses */
    MYTH_CHUNK_PART = 1,      /* chunks.flags  */
    MYTH_SYMBOL_EXPORTED = 1, /* symbols.flags */
};

/* Read-only: MYTH_ENOTFOUND when there is no index, or one of another version. Otherwise it is created, and one of
 * another version is replaced. */
myth_status myth_store_open(myth_store **out, myth_mem *mem, const char *path, bool is_read_only, myth_error *err);
/* Deletes the database and its log. No process may have it open for writing. */
void myth_store_remove(const char *path);
void myth_store_close(myth_store *s);        /* takes NULL */
sqlite3 *myth_store_db(const myth_store *s); /* for queries; statements are finalized before close */
/* Turns a result code of SQLite into a status and a message about this store. */
myth_status myth_store_fail(const myth_store *s, int rc, myth_error *err);

/* Returns MYTH_EFORMAT with a message that says how the index is damaged and what to run. */
myth_status myth_store_damaged(const myth_store *s, const char *how, myth_error *err);

/* ---- reading ---- */

/* Reads between begin and end see the same complete update. */
myth_status myth_store_read_begin(myth_store *s, myth_error *err);
void myth_store_read_end(myth_store *s);

/* Copies n bytes of a file's text from off to dst. MYTH_EFORMAT: the file is shorter. */
myth_status myth_store_text(myth_store *s, unsigned char *dst, int64_t file_id, uint64_t off, uint64_t n,
                            myth_error *err);

typedef struct {
    int64_t file_id;
    const char *name, *within; /* valid during the call; within may be "" */
    uint32_t line;
    myth_ref_kind kind;
} myth_store_ref;

/* Calls on_ref for the uses in one file, in their order there, or for the uses of one name in all files, by file id.
 * on_ref returns false to stop. */
myth_status myth_store_refs(myth_store *s, int64_t file_id, bool (*on_ref)(void *arg, const myth_store_ref *ref),
                            void *arg, myth_error *err);
myth_status myth_store_refs_named(myth_store *s, const char *name, bool (*on_ref)(void *arg, const myth_store_ref *ref),
                                  void *arg, myth_error *err);

/* A number stored in meta; `missing` when the key is not there. */
int64_t myth_store_number(myth_store *s, const char *key, int64_t missing);

/* ---- writing ---- */

myth_status myth_store_begin(myth_store *s, myth_error *err);
/* Begins the transaction that first fills an empty store: pages are written to the database directly and not to the
 * log first, unless another process has it open. Commit and rollback as usual; both turn the log on again. */
myth_status myth_store_begin_first(myth_store *s, myth_error *err);
myth_status myth_store_commit(myth_store *s, myth_error *err);
void myth_store_rollback(myth_store *s); /* does nothing outside of a transaction */
/* What the transaction has added so far, minus what it has dropped. */
typedef struct {
    int64_t n_file, n_chunk, n_symbol, n_ref, bytes, n_lost;
} myth_file_counts;
myth_file_counts myth_store_counts(const myth_store *s);
/* For the transaction that first fills a store: call write_words once at about half of the files, and gather after
 * the last. Then all words are one segment on a high level of FTS5. On the lowest level it would be merged, so
 * rewritten, at the sixteenth small update. */
myth_status myth_store_write_words(myth_store *s, myth_error *err);
myth_status myth_store_gather(myth_store *s, myth_error *err);
/* After a large update: copies the log into the database, unless readers prevent it. */
void myth_store_settle(myth_store *s);

/* Trains the dictionary that texts are compressed with, from pieces of the files, before the first file is put. From
 * too few pieces none is made. */
myth_status myth_store_learn(myth_store *s, const unsigned char *piece, const size_t *n_piece, uint32_t n,
                             myth_error *err);
/* The dictionary, for packers; NULL when there is none. Valid until close. */
const struct ZSTD_CDict_s *myth_store_dictionary(myth_store *s);

/* The compressed text, uses and symbols of a file, as they are stored. Any thread with a packer of its own can make
 * them. */
typedef struct myth_packer myth_packer;
typedef struct {
    unsigned char *data; /* the blocks, then the uses, then the symbols           */
    size_t *end;         /* end offset of each block, then of the uses, then of the symbols */
    uint32_t n_block, n_symbol;
} myth_packed;

myth_status myth_packer_open(myth_packer **out, myth_mem *mem, const struct ZSTD_CDict_s *dictionary, myth_error *err);
void myth_packer_close(myth_packer *p); /* takes NULL */
myth_status myth_pack(myth_packed *out, myth_packer *p, const unsigned char *text, uint64_t n,
                      const myth_chunks *chunks, myth_error *err);
void myth_packed_free(myth_packed *packed, myth_mem *mem);

typedef struct {
    int64_t id;
    const char *path, *language, *note;
    int64_t mtime_ns, ctime_ns;
    uint64_t bytes, inode;
    unsigned char hash[16]; /* XXH3-128, canonical */
    uint32_t flags;
} myth_store_file;

/* The encoding that the text's first bytes show: MYTH_FILE_UTF16_LE, _BE, or 0 for any other. */
uint32_t myth_store_encoding(const unsigned char *text, uint64_t n);
void myth_store_hash(unsigned char hash[16], const unsigned char *text, uint64_t n);

/* Writes a file and everything that was found in it. An earlier file with this id must have been dropped. */
myth_status myth_store_put(myth_store *s, const myth_store_file *f, const unsigned char *text,
                           const myth_chunks *chunks, const myth_packed *packed, myth_error *err);
/* Updates the file's row alone, for a file whose content is unchanged. */
myth_status myth_store_touch(myth_store *s, const myth_store_file *f, myth_error *err);
/* Deletes everything about a file. keeps_history: the file will be put again under the same id. */
myth_status myth_store_drop(myth_store *s, int64_t file_id, bool keeps_history, myth_error *err);
myth_status myth_store_set_number(myth_store *s, const char *key, int64_t value, myth_error *err);

/* The words that a chunk's FTS row is made of; checks compare them with the index. */
typedef struct {
    int64_t chunk_id;
    const char *path, *names;
    const unsigned char *body;
    uint64_t n_path, n_names, n_body;
} myth_store_row;
myth_status myth_store_rows(myth_store *s, int64_t file_id,
                            myth_status (*on_row)(void *arg, const myth_store_row *row, myth_error *err), void *arg,
                            myth_error *err);

#endif
