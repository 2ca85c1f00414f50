/* store.h - the index's database: its tables, what goes in for a file, what can be read back.
 *
 * Tables   meta(key, value)
 *          files(id, path BLOB, mtime_ns, bytes, inode, hash BLOB, language, flags, note)  mtime_ns -1: look again next
 *          time chunks(id, file_id, off, bytes, line0, line1, kind, symbol, parent, doc_off, doc_bytes, flags, hash
 *          BLOB) symbols(id, file_id, name, parent, kind, line0, line1, name_line, off, bytes, signature_off,
 *          signature_bytes, flags)
 *                                                         no table of the file: symbol_rows.h reads it from the next
 *                                                         two
 *          definitions(file_id, n, data), names(key, file_id)
 *          refs(file_id, n, data)                         read by myth_store_refs, myth_store_refs_named
 *          history(file_id, n_commit, last_time)          of the newest 1,000 commits
 *          commits(id, oid, time, paths)                  what history is counted from
 *          blocks(id, data)  the files' text, read by myth_store_text or, in SQL, span(file_id, off, bytes)
 *          fts(body, path, names)  FTS5, contentless; row id = chunks.id. names: symbol, parent, what the chunk defines
 *          facts(file_id, data), links(file_id, data), ranks(place, file_id, rank, data), summaries(hash, text)  of the
 *          map: repomap.h, filegraph.h.
 *                                                         Links and ranks are those of the last map, meta's `map` says
 *                                                         whether they still hold
 *          Indexes on files(path), chunks(file_id). A symbol's id is its file's times MYTH_SYMBOL_IDS and its place
 *          there, so the symbols of a file are a range of ids. Text columns hold bytes, not always UTF-8
 * Pages    see page_vfs.h: a damaged page is MYTH_EFORMAT when it is read
 * Threads  one at a time
 * Trust    whoever can write the file can write any row with a checksum that is right, so that no row is believed.
 *          Opening compares the schema and the keys' ranges (store_check.c); every reader checks what it calculates
 *          with
 * Errors   MYTH_EFORMAT damaged or not an index, with the remedy; MYTH_ELOST another process holds it; MYTH_EIO disk;
 *          MYTH_ENOMEM; MYTH_ECREATE cannot be written */
#ifndef MYTH_STORE_H
#define MYTH_STORE_H

#include "engine/base/mem.h"
#include "retrieval/parse/structure.h"

#include <sqlite3.h>

typedef struct myth_store myth_store;

/* The largest id of a file: those of its symbols and of its text's pieces are multiples of it and must fit an int64. */
#define MYTH_FILE_ID_MAX ((INT64_C(1) << 43) - 1)

enum {
    MYTH_STORE_VERSION = 6,
    MYTH_STORE_APPLICATION = 0x6d795468,
    MYTH_BLOCK_BYTES = 32 << 10, /* of text that are compressed together: a read unpacks one or two blocks */
    MYTH_CHUNK_HASH_BYTES = 8,   /* the first of its XXH3-128: to tell copies, not to trust one            */
    MYTH_SYMBOL_IDS = 1 << 20,   /* of one file; more are left out                                         */
    MYTH_FILE_GENERATED = 1,
    MYTH_FILE_TEST = 2,
    MYTH_FILE_UTF16_LE = 4,
    MYTH_FILE_UTF16_BE = 8, /* files.flags   */
    MYTH_FILE_FAILED = 16,
    MYTH_FILE_GIVEN_UP = 32,  /* its parser died or had no time: once; twice of one content */
    MYTH_FILE_LOST = 64,      /* something of it is not in the index; its note says what    */
    MYTH_CHUNK_PART = 1,      /* chunks.flags  */
    MYTH_SYMBOL_EXPORTED = 1, /* symbols.flags */
};

/* What every message about a damaged index ends with. */
#define MYTH_STORE_REMEDY "make it anew: mythos index --rebuild"

/* is_read_only: MYTH_ENOTFOUND when there is none or it is of another version; else it is made, anew when it is of
 * another version. */
myth_status myth_store_open(myth_store **out, myth_mem *mem, const char *path, bool is_read_only, myth_error *err);
/* The database's files. Nobody may have it open for writing. */
void myth_store_remove(const char *path);
void myth_store_close(myth_store *s);        /* takes NULL */
sqlite3 *myth_store_db(const myth_store *s); /* for queries; statements are finalized before close */
/* *err for a result code of SQLite on this store. */
myth_status myth_store_fail(const myth_store *s, int rc, myth_error *err);

/* MYTH_EFORMAT that says how the index is damaged, and the remedy. */
myth_status myth_store_damaged(const myth_store *s, const char *how, myth_error *err);

/* ---- reading ---- */

/* Between the two every read sees one complete update. */
myth_status myth_store_read_begin(myth_store *s, myth_error *err);
void myth_store_read_end(myth_store *s);

/* n bytes of a file's text from off, to dst. MYTH_EFORMAT: the file has not so many. */
myth_status myth_store_text(myth_store *s, unsigned char *dst, int64_t file_id, uint64_t off, uint64_t n,
                            myth_error *err);

typedef struct {
    int64_t file_id;
    const char *name, *within; /* valid during the call; within may be "" */
    uint32_t line;
    myth_ref_kind kind;
} myth_store_ref;

/* The uses in one file, in its order, or of one name in all files, by file id; on_ref returns false to end. */
myth_status myth_store_refs(myth_store *s, int64_t file_id, bool (*on_ref)(void *arg, const myth_store_ref *ref),
                            void *arg, myth_error *err);
myth_status myth_store_refs_named(myth_store *s, const char *name, bool (*on_ref)(void *arg, const myth_store_ref *ref),
                                  void *arg, myth_error *err);

/* A number of meta, `missing` when it is not there. */
int64_t myth_store_number(myth_store *s, const char *key, int64_t missing);

/* ---- writing ---- */

myth_status myth_store_begin(myth_store *s, myth_error *err);
/* As begin, of a transaction that puts many files into a store without any: pages go into the database at once and not
 * by its log, when nobody else has it open. Ended as others are; then there is a log again. */
myth_status myth_store_begin_first(myth_store *s, myth_error *err);
myth_status myth_store_commit(myth_store *s, myth_error *err);
void myth_store_rollback(myth_store *s); /* without a transaction nothing */
/* What files have put, less what those had that were dropped: since the transaction began. */
typedef struct {
    int64_t n_file, n_chunk, n_symbol, n_ref, bytes, n_lost;
} myth_file_counts;
myth_file_counts myth_store_counts(const myth_store *s);
/* In the transaction that puts a whole directory: once when about half of it is put, and after the last file. Its words
 * then are one segment above the level of small updates, of which the sixteenth would else write all of them anew. */
myth_status myth_store_write_words(myth_store *s, myth_error *err);
myth_status myth_store_gather(myth_store *s, myth_error *err);
/* After a large update: moves what the log holds into the database, unless readers are in the way. */
void myth_store_settle(myth_store *s);

/* Text is compressed beside a dictionary of what the files have in common. It is made once, from pieces of them, before
 * the first file is put; few pieces make none. */
myth_status myth_store_learn(myth_store *s, const unsigned char *piece, const size_t *n_piece, uint32_t n,
                             myth_error *err);
/* For packers; NULL when there is none. Lent until close. */
const struct ZSTD_CDict_s *myth_store_dictionary(myth_store *s);

/* The text of a file, its uses and its symbols as they are stored; made by any thread that has a packer of its own. */
typedef struct myth_packer myth_packer;
typedef struct {
    unsigned char *data; /* the blocks, then the uses, then the symbols           */
    size_t *end;         /* of each block; behind them of the uses and of the symbols */
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
    int64_t mtime_ns;
    uint64_t bytes, inode;
    unsigned char hash[16]; /* XXH3-128, canonical */
    uint32_t flags;
} myth_store_file;

/* Of the text's first bytes: MYTH_FILE_UTF16_LE, _BE or 0. */
uint32_t myth_store_encoding(const unsigned char *text, uint64_t n);
void myth_store_hash(unsigned char hash[16], const unsigned char *text, uint64_t n);
/* n bytes of UTF-16, that begin inside a unit when is_odd, as UTF-8 into dst (room for 3 * n + 4); half a unit at an
 * end is left out, half a pair becomes U+FFFD. Returns the bytes written. */
size_t myth_store_utf8(unsigned char *dst, const unsigned char *text, uint64_t n, bool is_odd, bool is_be);

/* Puts a file and everything that was found in it; what an id of before had must have been dropped. */
myth_status myth_store_put(myth_store *s, const myth_store_file *f, const unsigned char *text,
                           const myth_chunks *chunks, const myth_packed *packed, myth_error *err);
/* The file's row alone: when it was looked at again and is what it was. */
myth_status myth_store_touch(myth_store *s, const myth_store_file *f, myth_error *err);
/* Everything of a file; `keeps_history` when it is put again under its id. */
myth_status myth_store_drop(myth_store *s, int64_t file_id, bool keeps_history, myth_error *err);
myth_status myth_store_set_number(myth_store *s, const char *key, int64_t value, myth_error *err);

/* What the FTS row of a chunk is made of; checks compare it with what is there. */
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
