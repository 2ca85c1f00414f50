/* inspect_impl.h - the struct of an inspection and what its three files share: inspect.c (open, close, memory),
 * inspect_parts.c (token counts, budget, parts) and inspect_ask.c (answers, rounds). */
#ifndef MYTH_INSPECT_IMPL_H
#define MYTH_INSPECT_IMPL_H

#include "inspect.h"
#include "frontend/inspect/prompt/parts.h"

/* ROUND_BYTES: memory of one round for files, their lines, and the text and ids of a turn; enough for the largest file
 * that is parsed (1 MiB). ROUNDS_BYTES: memory of all rounds together. ROUND_PATH: longest path, in JSON spelling, of a
 * file that a round adds. SPARE_SUPPRESSIONS: ignore comments in such files. */
enum {
    N_CACHED_MASK = 32,
    STEP_CTX = 64,
    ROUND_BYTES = 3 << 20,
    ROUNDS_BYTES = 8 << 20,
    ROUND_PATH = 512,
    NEAR_BYTES = 160,
    SPARE_SUPPRESSIONS = 64
};

typedef struct {
    int32_t *ids;
    uint32_t n_ids, block0, n_block;
    uint32_t first_block, n_first; /* the part's blocks before rounds added more */
    myth_finish finish;            /* finish reason of its last answer; NONE = there is no answer */
} inspect_part;

struct myth_inspection {
    myth_mem *mem, *now_mem; /* now_mem: ledger of temporary texts and ids; the rounds' ledger while they run */
    const myth_model *model;
    myth_material *material;
    myth_inspect_opts o;
    inspect_part *part;        /* [n_part] */
    uint32_t n_part, n_prefix; /* n_prefix: tokens that all prompts begin with */
    myth_block *block;         /* ordered by part; after them, for each round, the old and new blocks together */
    uint32_t *block_piece;     /* for each block the piece it shows */
    uint32_t n_block, cap_block;
    char *map;      /* as much of the map as fits its budget */
    int32_t *again; /* two passes: the ids that are fed between the two answers */
    uint32_t n_again;
    uint32_t path_len; /* longest path of the blocks, in JSON spelling */
    myth_findings_limits limits, brief, expand;
    myth_report report;
    myth_report_file *file;
    uint32_t cap_file;
    myth_budget budget;
    myth_missed *missed;          /* the report's list, with room for everything that can be missed */
    uint32_t cap_missed, n_piece; /* n_piece: pieces of the material before rounds added some */
    myth_refusal refusal;
    myth_marks marks;
    myth_mem *reserve; /* the rounds' ledger; its bytes are booked in mem while they run */
    uint64_t reserve_bytes;
    bool has_booked;
    /* allocated by myth_inspect_run */
    myth_grammar *grammar;
    myth_finding *finding;
    myth_citation *citation;
    myth_request *request;
    myth_str *context;
    myth_drop *drop;
    uint32_t cap_drop;
    int32_t *ids;
    char *text, *text2, *room;
    size_t room_cap, room_used;
    uint32_t now, round;       /* the current part and round */
    uint32_t n_new, n_new_max; /* tokens of the current answer, for progress */
    double read_at;            /* when its first token was there; 0 = not yet */
    const char *what;
};

static inline uint32_t myth_min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline void *myth_inspect_take(const myth_inspection *in, const char *owner, size_t count, size_t size)
{
    return myth_alloc_n(in->mem, MYTH_MEM_STAGING, owner, count, size);
}
static inline myth_status myth_inspect_no_room(const char *what, size_t bytes, myth_error *err)
{
    return myth_fail(err, MYTH_ENOMEM, "%s: out of memory for %zu bytes", what, bytes);
}

/* ---- inspect.c ---- */

/* Whether answers may ask for context: on_context is set, rounds are allowed, and the grammar has missing_context. */
bool myth_inspect_has_rounds(const myth_inspection *in);
uint32_t myth_inspect_brief_tokens(const myth_inspection *in);
/* The most tokens that follow a prompt, without rounds. */
uint64_t myth_inspect_output_tokens(const myth_inspection *in);
uint32_t myth_inspect_context_tokens(const myth_inspection *in);
/* Adds a file to the report's list, unless it has it already. */
void myth_inspect_note_file(myth_inspection *in, const myth_source *src, bool is_subject);

/* Rebuilds the report's list of missed code from the parts' progress, and sets the report's `complete`. */
void myth_inspect_note_missed(myth_inspection *in);

/* Allocates the memory of a run, as planned. */
myth_status myth_inspect_take_run(myth_inspection *in, myth_error *err);

/* ---- inspect_parts.c ---- */

/* Counts tokens, makes the parts or refuses, and fills the budget. */
myth_status myth_inspect_plan_parts(myth_inspection *in, myth_error *err);
/* Writes blocks one after the other, as in a prompt: at most cap bytes. Returns the bytes that all of them need. */
size_t myth_inspect_blocks_text(char *dst, size_t cap, const myth_block *block, uint32_t n_block);
/* Encodes a user's turn after an answer: the end of the answer's turn, the text, and the beginning of the next answer.
 * *ids is booked in now_mem. */
myth_status myth_inspect_encode_turn(const myth_inspection *in, const char *text, size_t len, int32_t **ids,
                                     uint32_t *n_ids, myth_error *err);

#endif
