/* tokenizer.h - text to token ids and back: SentencePiece BPE with byte fallback, exact.
 *
 * Sources  tokenizer.json (merges decide), GGUF metadata and SentencePiece tokenizer.model (scores decide), the byte
 *          vocabulary of random: models
 * Entries  MYTH_TOK_TEMPLATE  text of a chat template: control and user-defined pieces are matched
 *          MYTH_TOK_CONTENT   text of a user or a file: control, turn, tool, channel, image markers and <unusedN>
 *                             cannot arise, whatever type the file gives them (their spelling becomes ordinary pieces);
 *                             white space runs and HTML tags match
 *          MYTH_TOK_SPECIAL   as the `tokenizers` library: every added token matched (the command's --special); for
 *                             Gemma the same as TEMPLATE
 * Bytes    any bytes are accepted; those that are not UTF-8 become byte pieces, so decode(encode(x)) == x for content x
 *          without U+2581, which comes back as a space
 * Time     O(n log n) for any input; memory for n bytes is myth_tokenizer_scratch(n), booked as STAGING for the call
 * Owner    the caller closes, before the weights that the tokenizer came from (GGUF strings stay in the mapped file);
 *          pieces are lent until then
 * Errors   MYTH_EFORMAT "path: piece N: what" or "path: offset N: what": an id missing, given twice or beyond the count
 *          of pieces, one text twice, a byte without a piece, no <bos> or <eos>, a merge of unknown pieces, more than
 *          2^20 pieces or merges, a piece of more than 4096 bytes, an eos_token_id that is no id and no list of ids;
 *          MYTH_EUNSUPPORTED: a normalizer, model or option that Gemma does not have, more than MYTH_TOK_END_MAX ids
 *          that end a text
 * Threads  a tokenizer is immutable after open
 * Source   SentencePiece BPE (Kudo 2018); tokenizer.json and tokenizer.model as published with Gemma */
#ifndef MYTH_TOKENIZER_H
#define MYTH_TOKENIZER_H

#include "engine/model/weights.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef enum { MYTH_TOK_CONTENT, MYTH_TOK_TEMPLATE, MYTH_TOK_SPECIAL } myth_tok_entry;

typedef enum { /* GGUF's numbers */
               MYTH_PIECE_NORMAL = 1,
               MYTH_PIECE_UNKNOWN,
               MYTH_PIECE_CONTROL,
               MYTH_PIECE_USER,
               MYTH_PIECE_UNUSED,
               MYTH_PIECE_BYTE
} myth_piece_type;

typedef struct { /* -1 = the vocabulary has none; found by piece, never by number; newline may be the byte piece */
    int32_t pad, eos, bos, unk, start_of_turn, end_of_turn, newline;
    int32_t fim_prefix, fim_middle, fim_suffix, file_separator;
    int32_t think, channel_open, channel_close; /* Gemma 4: the switch, and the marks around a thought */
    /* Gemma 4 and FunctionGemma, which spell them otherwise: around a declaration, a call, a result and a string */
    int32_t tool, tool_end, tool_call, tool_call_end, tool_response, tool_response_end, tool_quote;
} myth_special_ids;

typedef struct myth_tokenizer myth_tokenizer;

enum { MYTH_TOK_END_MAX = 4 };

/* Reads the tokenizer of w (level CONFIG is enough). MYTH_ENOTFOUND when w has none. */
myth_status myth_tokenizer_open(myth_tokenizer **out, myth_mem *mem, const myth_weights *w, myth_error *err);
/* From a tokenizer.json or tokenizer.model file by itself, or a directory that holds one. */
myth_status myth_tokenizer_open_file(myth_tokenizer **out, myth_mem *mem, const char *path, myth_error *err);
void myth_tokenizer_close(myth_tokenizer *t);
uint64_t myth_tokenizer_bytes(const myth_tokenizer *t); /* booked under TOKENIZER while open */
uint64_t
myth_tokenizer_file_bytes(const myth_tokenizer *t); /* booked under WEIGHTS_MAPPED during open: its own file, if any */

uint32_t
myth_tokenizer_n_vocab(const myth_tokenizer *t); /* ids are 0..n-1; the embedding may have more or fewer rows */
/* A hash that tells tokenizers apart: of all pieces, their types and options, and of the scores or merges. The same
 * vocabulary in a file with scores and in one with merges has two. */
uint64_t myth_tokenizer_hash(const myth_tokenizer *t);
const myth_special_ids *myth_tokenizer_special(const myth_tokenizer *t);
/* The ids of the vocabulary that end a text because the model's files say so, whatever their pieces are: eos_token_id
 * of generation_config.json, else of config.json; tokenizer.ggml.{eos,eot,eom}_token_id of GGUF. Returns how many. */
uint32_t myth_tokenizer_ends(const myth_tokenizer *t, int32_t ids[MYTH_TOK_END_MAX]);
/* Some added token of a tokenizer.json strips white space, stands as a word by itself or is found after the normalizer:
 * what GGUF and SentencePiece files have no way to say. */
bool myth_tokenizer_has_options(const myth_tokenizer *t);
/* The piece as stored ("▁the", "<0x0A>", "<bos>"). */
myth_str myth_tokenizer_piece(const myth_tokenizer *t, int32_t id);
myth_piece_type myth_tokenizer_type(const myth_tokenizer *t, int32_t id);
/* The bytes that id stands for in text: ▁ as space, byte pieces as their byte, control pieces as nothing. At most `cap`
 * are written; returns how many there are. */
size_t myth_tokenizer_bytes_of(const myth_tokenizer *t, int32_t id, char *dst, size_t cap);
size_t myth_tokenizer_max_piece(const myth_tokenizer *t); /* longest result of bytes_of */
/* Id of a whole piece, -1 when there is none. ▁ and a space are the same here. */
int32_t myth_tokenizer_find(const myth_tokenizer *t, const char *piece, size_t len);
/* Id may not come from content: control, turn, tool, channel, image marks, <unusedN>, unused. */
bool myth_tokenizer_is_control(const myth_tokenizer *t, int32_t id);
/* Gemma 4's: GGUF files name it so (tokenizer.ggml.model). */
bool myth_tokenizer_is_gemma4(const myth_tokenizer *t);

/* Merges of a tokenizer.json, by rank from 0; a file with scores has none. False: this rank makes nothing that encode
 * may return. */
uint32_t myth_tokenizer_n_merge(const myth_tokenizer *t);
bool myth_tokenizer_merge(const myth_tokenizer *t, uint32_t rank, int32_t *left, int32_t *right);
/* Scores by id alone would not give these ids (a piece that no merge makes, or merges in another order than the
 * pieces): whoever writes the pieces to a GGUF file writes tokenizer.ggml.merges too, which the reader prefers. */
bool myth_tokenizer_needs_merges(const myth_tokenizer *t);

uint64_t myth_tokenizer_scratch(size_t len_bytes); /* bytes encode takes for the duration of the call */
/* Largest number of ids that encode can return for len bytes. */
size_t myth_tokenizer_bound(size_t len_bytes);
/* Appends nothing by itself (no BOS, no EOS). ids holds cap; MYTH_EFULL when it is too small (*n_ids is then what is
 * needed when known, and ids undefined). */
myth_status myth_tokenizer_encode(const myth_tokenizer *t, myth_mem *mem, myth_tok_entry entry, const char *text,
                                  size_t len, int32_t *ids, size_t cap, size_t *n_ids, myth_error *err);

/* Incremental decoding that never emits half a UTF-8 sequence: bytes that may still become one are held back. */
typedef struct {
    const myth_tokenizer *tok;
    unsigned char held[4];
    int n_held;
    bool raw; /* true: bytes go out as they are, invalid ones too; false: an invalid byte becomes U+FFFD */
} myth_detok;

void myth_detok_start(myth_detok *d, const myth_tokenizer *t, bool raw);
/* Bytes that one push writes at most: what was held and a piece, of which each byte may become U+FFFD. */
static inline size_t myth_detok_most(const myth_tokenizer *t) { return 3 * (myth_tokenizer_max_piece(t) + 4); }
/* dst needs myth_detok_most bytes. Returns the bytes written. */
size_t myth_detok_push(myth_detok *d, int32_t id, char *dst);
/* What is still held, at the end. */
size_t myth_detok_finish(myth_detok *d, char *dst);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
