/* material.h - the code of one inspection: the files that were read, and the pieces of them in the order of the prompt.
 *
 * Piece    lines first..last of a file, the definition around them, why it was selected ("definition", "calls it by
 *          name", "test"), and its role: subject (findings are wanted about it), or context of a subject piece
 * Add      reads a file once and keeps it. A new piece that overlaps an earlier one of the same file and role (for
 *          context also: of the same subject) is merged with it, so that no line is held twice in a role. Pieces that
 *          only touch are merged if they belong to one definition; two definitions stay two pieces, so that a prompt
 *          can be cut between them
 * Head     a definition's first lines, which say what it is. A prompt that begins further down in it repeats them
 * Shown    context may have lines of a subject here; the prompt does not repeat them (inspect.h)
 * Index    the index of a piece or a source does not change until close; a later add may extend a piece
 * Lines    from 1, as in the file that was read (of a diff: the new side). A file without lines has a piece with first
 *          = 1, last = 0
 * Order    as added; context pieces follow their subject
 * Root     only paths below it are read: not "..", not an absolute path, not through a link that leads out of it
 * Removed  the lines that a change removed from a file; they are shown beside the code that they stood in, and are in
 *          no piece, so that nothing can cite them
 * Seal     called before a run: later files and pieces are booked in another ledger and are not merged with earlier
 *          ones (inspect.h, rounds)
 * Owner    the material owns everything until close; strings and bytes are copied. Sources do not move
 * Errors   MYTH_ELIMIT: a file larger than MYTH_SOURCE_MAX, or more than MYTH_PIECE_MAX pieces; MYTH_EFULL: too many
 *          sources or pieces after a seal; MYTH_EIO, MYTH_ENOTFOUND with the path; MYTH_EARG: the file does not have
 *          these lines; MYTH_ENOMEM
 * Threads  one */
#ifndef MYTH_INSPECT_MATERIAL_H
#define MYTH_INSPECT_MATERIAL_H

#include "source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* PIECE_MAX: most pieces of one inspection. SEALED: most sources and pieces that can be added after a seal. */
enum { MYTH_PIECE_MAX = 1 << 20, MYTH_SEALED_SOURCES = 64, MYTH_SEALED_PIECES = 512 };

typedef struct {
    uint32_t source; /* index                                             */
    uint32_t first, last;
    const char *symbol; /* NULL = none known                                 */
    const char *why;    /* NULL = nothing to say                             */
    double score;
    bool is_subject;
    uint32_t of;                    /* context: index of the subject piece it belongs to */
    uint32_t head_first, head_last; /* of its definition's head; 0 = none is known */
} myth_piece;

typedef struct myth_material myth_material;

/* Paths are relative to root; NULL = to the current folder. The caller keeps root until close: a copy would make the
 * memory of a run depend on where it takes place. */
myth_status myth_material_open(myth_material **out, myth_mem *mem, const char *root, myth_error *err);
void myth_material_close(myth_material *m); /* takes NULL */
/* Opens a material whose only piece is one whole file, as subject. */
myth_status myth_material_whole(myth_material **out, myth_mem *mem, const char *path, const unsigned char *bytes,
                                size_t len, myth_error *err);

/* Adds a file whose bytes are not on disk (standard input, git's index, an older revision). If the material has the
 * path already, it keeps the earlier bytes. */
myth_status myth_material_put(myth_material *m, uint32_t *source, const char *path, const unsigned char *bytes,
                              size_t len, myth_error *err);
/* Reads the file at path, unless the material has it already. */
myth_status myth_material_source(myth_material *m, uint32_t *source, const char *path, myth_error *err);
/* Says which lines a change removed from a source: n places in the order of their lines. They are copied, and
 * replace earlier ones, which may be among them. Which of them hold code is found here, by the language of their file;
 * a text that begins inside of a comment is taken as if it did not. */
myth_status myth_material_removed(myth_material *m, uint32_t source, const myth_removed *removed, uint32_t n,
                                  myth_error *err);
/* Says which lines of a source a change added: n ranges in order. They are copied, and replace earlier ones. */
myth_status myth_material_added(myth_material *m, uint32_t source, const myth_added *added, uint32_t n,
                                myth_error *err);
/* Says that a source is a test which the run was not asked for (myth_source.is_test). */
void myth_material_is_test(myth_material *m, uint32_t source);
/* Adds a piece; *index = the piece that now has its line `first`. A last line past the end of the file means the file's
 * last line. index may be NULL. */
myth_status myth_material_add(myth_material *m, uint32_t *index, const myth_piece *piece, myth_error *err);

uint32_t myth_material_n_source(const myth_material *m);
const myth_source *myth_material_of(const myth_material *m, uint32_t source);
uint32_t myth_material_n_piece(const myth_material *m);
const myth_piece *myth_material_piece(const myth_material *m, uint32_t i); /* valid until the next add */
bool myth_material_has_subject(const myth_material *m);

/* From now on additions are booked in mem. unseal removes everything that was added since the first seal; it may be
 * called without a seal. A second seal with the same mem only stops later pieces from being merged with present
 * ones. */
myth_status myth_material_seal(myth_material *m, myth_mem *mem, myth_error *err);
void myth_material_unseal(myth_material *m);

#ifdef __cplusplus
}
#endif
#endif
