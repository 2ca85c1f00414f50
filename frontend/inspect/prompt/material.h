/* material.h - what one inspection shows: files as they were read, and the pieces of them in the order of the prompt.
 *
 * Piece    lines first..last of a file, the definition around them, why it is here ("definition", "calls it by name",
 *          "test"), and whether it is the subject (findings are wanted about it) or context of a subject piece
 * Add      reads a file once and keeps it. Lines are held once in a role: what of a new piece an earlier one of the
 *          same file and role (of context: and subject) holds already is joined with it, so no two of these overlap.
 *          Pieces that only touch are joined when they are of one definition; two definitions stay two pieces, between
 *          which a prompt can be cut
 * Shown    lines of a subject are never shown again as context: who makes prompts leaves them out of context
 *          (inspect.h)
 * Index    of a piece or a source stays what it is until close; a piece may grow by an add
 * Lines    from 1, as in the file that was read (a diff: the new side). A file without lines has the piece first = 1,
 *          last = 0
 * Order    as added; context pieces follow their subject
 * Root     paths below it alone are read: not "..", not an absolute path, not through a link that leaves it
 * Seal     before a run: later files and pieces are booked in another ledger and join nothing that was there
 *          (inspect.h, rounds)
 * Owner    everything until close; strings and bytes are copied. Sources stay where they are
 * Errors   MYTH_ELIMIT a file larger than MYTH_SOURCE_MAX, more than MYTH_PIECE_MAX pieces; MYTH_EFULL no room is left
 *          behind a seal; MYTH_EIO, MYTH_ENOTFOUND with the path; MYTH_EARG lines that the file does not have;
 *          MYTH_ENOMEM */
#ifndef MYTH_INSPECT_MATERIAL_H
#define MYTH_INSPECT_MATERIAL_H

#include "source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pieces: parsing limit of one inspection. SEALED: what may be added behind a seal. */
enum { MYTH_PIECE_MAX = 1 << 14, MYTH_SEALED_SOURCES = 64, MYTH_SEALED_PIECES = 512 };

typedef struct {
    uint32_t source; /* index                                             */
    uint32_t first, last;
    const char *symbol; /* NULL = none known                                 */
    const char *why;    /* NULL = nothing to say                             */
    double score;
    bool is_subject;
    uint32_t of; /* context: index of the subject piece it belongs to */
} myth_piece;

typedef struct myth_material myth_material;

/* Paths are relative to root; NULL = as given. */
myth_status myth_material_open(myth_material **out, myth_mem *mem, const char *root, myth_error *err);
void myth_material_close(myth_material *m); /* takes NULL */
/* One file as the only subject, whole: open, put, add. */
myth_status myth_material_whole(myth_material **out, myth_mem *mem, const char *path, const unsigned char *bytes,
                                size_t len, myth_error *err);

/* A file that is not on disk as it is to be shown (standard input, the index of git, an older revision). A path that is
 * here already keeps its bytes. */
myth_status myth_material_put(myth_material *m, uint32_t *source, const char *path, const unsigned char *bytes,
                              size_t len, myth_error *err);
/* Reads path unless it is here already. */
myth_status myth_material_source(myth_material *m, uint32_t *source, const char *path, myth_error *err);
/* *index = the piece that holds line `first` of the added one. A last line past the file's end is the file's last.
 * index may be NULL. */
myth_status myth_material_add(myth_material *m, uint32_t *index, const myth_piece *piece, myth_error *err);

uint32_t myth_material_n_source(const myth_material *m);
const myth_source *myth_material_of(const myth_material *m, uint32_t source);
uint32_t myth_material_n_piece(const myth_material *m);
const myth_piece *myth_material_piece(const myth_material *m, uint32_t i); /* until the next add */

/* From here on everything is booked in mem, until unseal takes away what was added since the first seal; unseal may be
 * called without one. Sealed again with the same mem: later pieces join nothing that is here now. */
myth_status myth_material_seal(myth_material *m, myth_mem *mem, myth_error *err);
void myth_material_unseal(myth_material *m);

#ifdef __cplusplus
}
#endif
#endif
