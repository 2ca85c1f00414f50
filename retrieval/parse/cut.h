/* cut.h - what the cutters share: the file, the growing lists, and counts of lines and of bytes that are not blank.
 *
 * Owner    a myth_cut owns its lists until myth_cut_take hands them over; close takes a zeroed one
 * Errors   the first failed allocation sets `is_out_of_memory` and later calls do nothing, so callers check once at
 *          the end, for MYTH_ENOMEM
 * Cover    chunks are added in order: the first begins at 0, each next one where the one before ends, the last ends
 *          at n */
#ifndef MYTH_CUT_H
#define MYTH_CUT_H

#include "chunk.h"
#include "retrieval/limits.h"

#include "engine/base/chars.h"

enum {
    CUT_RAW_BYTES = 4 * MYTH_CHUNK_BYTES, /* largest chunk, with its blanks */
    CUT_MARK = 256                        /* bytes between two marks */
};

typedef struct {
    uint32_t lines, solid; /* counts before the mark: line ends, and bytes that are not blank */
} myth_cut_mark;

typedef struct {
    myth_mem *mem;
    const unsigned char *text;
    uint64_t n;
    myth_cut_mark *mark;
    myth_chunks out;
    uint32_t cap_chunk, cap_symbol, cap_ref, cap_names;
    uint32_t *slot; /* hash table of names, 0 = free; n_slot is a power of two */
    uint32_t n_slot, n_name;
    bool is_out_of_memory;
} myth_cut;

void myth_cut_open(myth_cut *cut, myth_mem *mem, const unsigned char *text, uint64_t n);
void myth_cut_close(myth_cut *cut);
myth_status myth_cut_take(myth_cut *cut, myth_chunks *out, myth_error *err);

/* Makes room in *list for one more item of `bytes`; false when there is no memory. */
bool myth_cut_grow(myth_cut *cut, void *list, uint32_t *cap, uint32_t n, size_t bytes);

uint32_t myth_cut_line(const myth_cut *cut, uint64_t off);                /* line of the byte at off, from 1 */
uint64_t myth_cut_solid(const myth_cut *cut, uint64_t from, uint64_t to); /* bytes that are not blank */
bool myth_cut_fits(const myth_cut *cut, uint64_t from, uint64_t to);
uint64_t myth_cut_line_start(const myth_cut *cut, uint64_t off);
/* Whether there are only blanks between the start of the line and off. */
bool myth_cut_begins_line(const myth_cut *cut, uint64_t off);

uint32_t myth_cut_name(myth_cut *cut, const void *name,
                       uint64_t n); /* its offset in `names`, the same for the same bytes */
myth_chunk *myth_cut_add_chunk(myth_cut *cut, uint64_t off, uint64_t end, myth_chunk_kind kind);
myth_symbol *myth_cut_add_symbol(myth_cut *cut, uint64_t off, uint64_t end, myth_symbol_kind kind);
void myth_cut_add_ref(myth_cut *cut, uint32_t name, uint32_t within, uint32_t line, myth_ref_kind kind);

/* The end of a piece that begins at `from` and is at most a chunk: at best after a blank line or a closing brace,
 * else before an unindented line, else after any line, else at any byte. */
uint64_t myth_cut_text_end(const myth_cut *cut, uint64_t from, uint64_t to);
/* Cuts the whole file by its text. */
void myth_cut_text(myth_cut *cut);

#endif
