/* inspect_impl.h - the struct of an inspection and what its files share: inspect.c (open, close, memory),
 * inspect_parts.c (token counts, budget, parts), inspect_form.c (findings or sentences), inspect_summary.c (the prompt
 * of a summary), inspect_given.c (findings that no answer has), inspect_ask.c (answers and rounds), inspect_jobs.c
 * (answers of several parts at once) and inspect_recall.c (answers that were kept). */
#ifndef MYTH_INSPECT_IMPL_H
#define MYTH_INSPECT_IMPL_H

#include "inspect.h"
#include "frontend/inspect/prompt/parts.h"
#include "frontend/inspect/report/caution.h"

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
    bool is_kept;                  /* a rehearsal found all its answers */
} inspect_part;

/* The first answer of a part, generated beside those of other parts. It stays here until the part's turn comes. */
typedef struct {
    myth_inspection *in;
    uint32_t part, slot;
    bool is_used, is_done; /* is_done: its answer has ended, and the slot is free */
    myth_findings_grammar g;
    myth_automaton a;
    myth_seq *s; /* with the part's tokens; NULL = another part needed it */
    int32_t *ids, stop[MYTH_CHAT_STOP_MAX];
    uint32_t n_ids;
    myth_finish finish;
} inspect_job;

/* A question that asks for the texts of given findings of a part. */
typedef struct {
    uint32_t part, n_ids;
    int32_t *ids; /* behind the prefix of all prompts */
    char *text;   /* the findings as an answer */
    size_t n_text;
} inspect_explain;

struct myth_inspection {
    myth_mem *mem, *now_mem; /* now_mem: ledger of temporary texts and ids; the rounds' ledger while they run */
    const myth_model *model;
    myth_material *material;
    myth_inspect_opts o;
    inspect_part *part;        /* [n_part]; with has_summary the last one is the summary's */
    uint32_t n_part, n_prefix; /* n_prefix: tokens that all prompts begin with */
    myth_block *block;         /* ordered by part; after them, for each round, the old and new blocks together */
    uint32_t *block_piece;     /* for each block the piece it shows */
    uint32_t n_block, cap_block;
    char *map;      /* as much of the map as fits its budget */
    int32_t *again; /* two passes: the ids that are fed between the two answers */
    uint32_t n_again;
    uint32_t path_len; /* longest path of the blocks, in JSON spelling */
    bool has_summary;
    bool is_bare; /* parts have no prompts: the model is not asked, or an interrupt came before they were made */
    myth_findings_limits limits, brief, expand, summary;
    myth_findings_limits listed, told; /* given findings as a brief answer, and with their texts */
    myth_report report;
    myth_report_file *file;
    uint32_t cap_file;
    myth_budget budget;
    myth_missed *missed; /* the report's list, with room for everything that can be missed */
    char caution[MYTH_CAUTION_CAP];
    const myth_given **given; /* [o.n_given] of the report's first findings */
    inspect_explain *explain; /* [n_explain] */
    uint32_t n_explain;
    uint32_t cap_missed, n_piece; /* n_piece: pieces of the material before rounds added some */
    myth_parts_skip *skip;        /* [n_skip] lines that fit no prompt */
    uint32_t n_skip;
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
    myth_sentence *sentence; /* of a question: [cap_sentence], its quotes and where they stand [MYTH_QUOTE_MAX] each */
    myth_quote *quote;
    myth_citation *cited;
    uint32_t cap_sentence;
    int32_t *ids;
    char *text, *text2, *room;
    size_t room_cap, room_used;
    uint32_t now, round;       /* the current part and round */
    uint32_t n_new, n_new_max; /* tokens of the current answer, for progress */
    double read_at;            /* when its first token was there; 0 = not yet */
    const char *what;
    /* The engine and its sequence; NULL until an answer has to be generated. */
    const myth_inspect_engine *later;
    myth_engine *e;
    myth_seq *s;
    uint32_t n_ctx;
    /* With n_job > 1: sequences of parts are forks of base, which holds the prefix. [MYTH_INSPECT_WINDOW n_job] answers
     * are under way or wait for their turn; the grammars are those of the slots. */
    uint32_t n_job, next; /* next: the first part that was not looked at */
    myth_slots *slots;
    myth_seq *base;
    inspect_job *job;
    myth_grammar **beside; /* [n_job] */
    /* The tokens of the current part, whether the engine has them or not: questions and answers in turn, of which
     * turn[n_turn] has the lengths, behind the prefix of all prompts. */
    int32_t *past; /* [cap_past] */
    uint32_t n_past, cap_past, n_turn, turn[2 * (2 + MYTH_INSPECT_ROUNDS_MAX)];
    bool has_prefix, is_fed; /* the sequence has the prefix; it has all of them */
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

/* The tokens that the run's engine holds for a sequence. */
uint32_t myth_inspect_run_context(const myth_inspection *in);
/* Allocates the memory of a run, as planned. */
myth_status myth_inspect_take_run(myth_inspection *in, myth_error *err);

/* ---- inspect_form.c: findings, or an answer in sentences ---- */

static inline bool myth_inspect_is_question(const myth_inspection *in) { return in->o.style == MYTH_PROMPT_QUESTION; }
/* Whether the current part's answer is in sentences. */
static inline bool myth_inspect_is_said(const myth_inspection *in)
{
    return myth_inspect_is_question(in) || myth_inspect_is_summary(in, in->now);
}
/* The automaton, bound and end of the current part's answer, as the headers of the two forms say. */
void myth_inspect_automaton(const myth_inspection *in, myth_automaton *a, const myth_findings_grammar *g);
size_t myth_inspect_bound(const myth_inspection *in, const myth_findings_limits *limits);
size_t myth_inspect_end_answer(const myth_inspection *in, char *text, const myth_findings_grammar *g, size_t len,
                               uint32_t *n_dropped);
/* Verifies the sentences of the current part's answer and stores them from sentence `first` on. A sentence with a quote
 * that does not hold is dropped and counted; *why says so, NULL = none was. */
void myth_inspect_keep_reply(myth_inspection *in, const myth_reply *reply, uint32_t first, const char **why);

/* ---- inspect_summary.c ---- */

/* Whether the model is asked for a summary. */
static inline bool myth_inspect_wants_summary(const myth_inspection *in)
{
    return in->o.summary && !in->o.summary->why_none;
}
/* The parts that are asked for findings, or a question's answer. */
static inline uint32_t myth_inspect_n_own(const myth_inspection *in) { return in->n_part - in->has_summary; }
/* Makes the summary's prompt, as the part behind all others; it may have no room. */
myth_status myth_inspect_plan_summary(myth_inspection *in, myth_error *err);

/* ---- inspect_parts.c ---- */

/* Encodes a prompt. *ids has exactly *n_ids entries and is the caller's to free; with ids NULL it only counts. */
myth_status myth_inspect_encode(const myth_inspection *in, const myth_prompt *p, int32_t **ids, uint32_t *n_ids,
                                myth_error *err);

/* Counts tokens, makes the parts or refuses, and fills the budget. */
myth_status myth_inspect_plan_parts(myth_inspection *in, myth_error *err);
/* Writes blocks one after the other, as in a prompt: at most cap bytes. Returns the bytes that all of them need. */
size_t myth_inspect_blocks_text(char *dst, size_t cap, const myth_block *block, uint32_t n_block);
/* Encodes a user's turn after an answer: the end of the answer's turn, the text, and the beginning of the next answer.
 * *ids is booked in now_mem. */
myth_status myth_inspect_encode_turn(const myth_inspection *in, const char *text, size_t len, int32_t **ids,
                                     uint32_t *n_ids, myth_error *err);

/* ---- inspect_recall.c ---- */

/* What is asked about a part: the tokens to feed, the grammar of the answer, and where its text goes. */
typedef struct {
    myth_exchange_kind kind;
    uint32_t part;
    const int32_t *ids;
    uint32_t n_ids, n_max;
    const myth_findings_grammar *g;
    char *text;
    size_t cap;
} myth_question;

/* Begins a part: its tokens are the prefix of all prompts, and the sequence is behind. */
void myth_inspect_begin_part(myth_inspection *in);
/* Adds a question and its answer to the part's tokens. */
void myth_inspect_add_turn(myth_inspection *in, const int32_t *asked, uint32_t n_asked, const int32_t *answer,
                           uint32_t n_answer);
/* With jobs: opens the engine and the base with the prefix, if that was not done. *why CANCELLED: an interrupt. */
myth_status myth_inspect_open_base(myth_inspection *in, myth_finish *why, myth_error *err);
/* Opens engine and sequence if they are not, and feeds what the part has so far and the sequence has not: the same
 * steps as when it was generated, so the same bits. *why CANCELLED: an interrupt. */
myth_status myth_inspect_catch_up(myth_inspection *in, myth_finish *why, myth_error *err);
/* Looks for the answer of an earlier run and writes its ids to in->ids; the grammar has accepted them. */
bool myth_inspect_recall(myth_inspection *in, const myth_question *q, uint32_t *n, myth_finish *why);
/* Keeps an answer of these ids, whose text is in q->text, unless it was cut off by an interrupt or the context, or has
 * a secret. */
void myth_inspect_keep(myth_inspection *in, const myth_question *q, const int32_t *ids, uint32_t n, size_t len,
                       myth_finish why);

/* ---- inspect_given.c ---- */

/* Makes the questions about given findings, whose memory and tokens the plan then has. */
myth_status myth_inspect_plan_given(myth_inspection *in, myth_error *err);
void myth_inspect_free_given(myth_inspection *in);
/* Makes the given findings that pass the report's first ones. */
void myth_inspect_keep_given(myth_inspection *in);
/* Whether one of them says the same. */
bool myth_inspect_is_given(const myth_inspection *in, const myth_finding *f);
/* Asks for their texts. *why CANCELLED: an interrupt; else NONE. */
myth_status myth_inspect_explain_given(myth_inspection *in, myth_finish *why, myth_error *err);

/* ---- inspect_ask.c ---- */

/* Gets the question's answer, from an earlier run or from the model, into q->text. An answer that was cut off is
 * completed to valid JSON, without the finding that was being written. */
myth_status myth_inspect_answer(myth_inspection *in, const myth_question *q, size_t *len, myth_finish *why,
                                myth_error *err);
/* Notes a finding that is not kept; f NULL = one that was not finished. */
void myth_inspect_note_drop(myth_inspection *in, const myth_finding *f, const char *why);

/* The first question about a part; g, which the question keeps, gets the grammar of its answer. */
myth_question myth_inspect_first_question(const myth_inspection *in, uint32_t part, myth_findings_grammar *g);
/* Starts the grammar at the beginning of the question's answer, and says how to generate it; the caller adds its own
 * callbacks. a and stop are lent until the answer has ended. */
myth_generate_opts myth_inspect_start_answer(const myth_inspection *in, const myth_question *q, myth_grammar *grammar,
                                             myth_automaton *a, int32_t stop[MYTH_CHAT_STOP_MAX]);
/* Writes the text of an answer to q->text. MYTH_EFULL: it is longer than any answer of the grammar. */
myth_status myth_inspect_write_text(const myth_inspection *in, const myth_question *q, const int32_t *ids, uint32_t n,
                                    size_t *len, myth_error *err);

/* ---- inspect_jobs.c ---- */

enum { MYTH_INSPECT_WINDOW = 2 }; /* jobs for each slot: some wait for their turn while others are generated */

static inline bool myth_inspect_has_jobs(const myth_inspection *in) { return in->n_job > 1; }
/* Bytes of class STAGING that the jobs take, without those of myth_slots_open; 0 without jobs. */
uint64_t myth_inspect_job_bytes(const myth_inspection *in);
myth_status myth_inspect_take_jobs(myth_inspection *in, myth_error *err);
/* Closes the slots and their sequences, before the engine is closed. */
void myth_inspect_end_jobs(myth_inspection *in);
void myth_inspect_free_jobs(myth_inspection *in);
/* Gets the answer to the current part's first question into in->ids, and generates those of later parts beside it. */
myth_status myth_inspect_await(myth_inspection *in, uint32_t *n, myth_finish *why, myth_error *err);

#endif
