/* inspect_impl.h - an inspection from inside, for inspect.c (life, memory), inspect_parts.c (counts, budget, parts) and
 * inspect_ask.c (answers, rounds). */
#ifndef MYTH_INSPECT_IMPL_H
#define MYTH_INSPECT_IMPL_H

#include "inspect.h"
#include "frontend/inspect/prompt/parts.h"

/* ROUND_BYTES: what a round brings: files, their lines, the text and ids of a turn; a file that is parsed (1 MiB at
 * most) fits. ROUNDS_BYTES: of all rounds at most. ROUND_PATH: bytes of a path in JSON spelling that an answer has room
 * for. SPARE: comments that answer findings, in files that rounds bring. */
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
    uint32_t first_block, n_first; /* blocks as they were before rounds brought more */
    myth_finish finish;            /* of its last answer; NONE = there is none */
} inspect_part;

struct myth_inspection {
    myth_mem *mem, *now_mem; /* now_mem: of texts and ids for a while; of rounds once they run */
    const myth_model *model;
    myth_material *material;
    myth_inspect_opts o;
    inspect_part *part;        /* [n_part] */
    uint32_t n_part, n_prefix; /* tokens that all prompts begin with */
    myth_block *block;         /* by part; behind them those of rounds, old and new together */
    uint32_t *block_piece;     /* of each the piece it shows */
    uint32_t n_block, cap_block;
    char *map;      /* as much of the map as its room allows */
    int32_t *again; /* two passes: what is fed between the answers */
    uint32_t n_again;
    uint32_t path_len; /* longest path of the blocks, spelled */
    myth_findings_limits limits, brief, expand;
    myth_report report;
    myth_report_file *file;
    uint32_t cap_file;
    myth_budget budget;
    myth_missed *missed;          /* the report's list; room for everything that can be missed */
    uint32_t cap_missed, n_piece; /* n_piece: of the material before rounds added to it */
    myth_refusal refusal;
    myth_marks marks;
    myth_mem *reserve; /* of rounds; its bytes are booked in mem while they run */
    uint64_t reserve_bytes;
    bool has_booked;
    /* taken by run */
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
    uint32_t now, round;       /* part at work             */
    uint32_t n_new, n_new_max; /* tokens of the answer at work, for progress */
    const char *what;
};

static inline uint32_t myth_min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline void *myth_inspect_take(const myth_inspection *in, const char *owner, size_t count, size_t size)
{
    return myth_alloc_n(in->mem, MYTH_MEM_STAGING, owner, count, size);
}
static inline myth_status myth_inspect_no_room(const char *what, size_t bytes, myth_error *err)
{
    return myth_fail(err, MYTH_ENOMEM, "%s: no room for %zu bytes", what, bytes);
}

/* ---- inspect.c ---- */

/* Answers may bring context: a resolver is there, rounds are allowed, and the grammar lets an answer name what is
 * missing. */
bool myth_inspect_has_rounds(const myth_inspection *in);
uint32_t myth_inspect_brief_tokens(const myth_inspection *in);
/* Tokens that follow the prompt, without rounds. */
uint64_t myth_inspect_output_tokens(const myth_inspection *in);
uint32_t myth_inspect_context_tokens(const myth_inspection *in);
/* Adds a file to the report's, unless it is there. */
void myth_inspect_note_file(myth_inspection *in, const myth_source *src, bool is_subject);

/* Makes the report's list of what is missed anew, by how far the parts have come, and says whether it is complete. */
void myth_inspect_note_missed(myth_inspection *in);

/* Takes what a run needs, as planned. */
myth_status myth_inspect_take_run(myth_inspection *in, myth_error *err);

/* ---- inspect_parts.c ---- */

/* Counts, refuses or makes the parts, and fills the budget. */
myth_status myth_inspect_plan_parts(myth_inspection *in, myth_error *err);
/* Blocks one after another, as they stand in a prompt. Writes at most cap bytes, returns what the whole takes. */
size_t myth_inspect_blocks_text(char *dst, size_t cap, const myth_block *block, uint32_t n_block);
/* Ids of a user's turn behind an answer: the end of the answer's turn, the text, the head of the next answer. *ids is
 * now_mem's. */
myth_status myth_inspect_encode_turn(const myth_inspection *in, const char *text, size_t len, int32_t **ids,
                                     uint32_t *n_ids, myth_error *err);

#endif
