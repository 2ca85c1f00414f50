/* inspect_parts.c - counts the tokens of prompts, fills the budget, and packs the code into parts.
 *
 * The size of a share (rules, map, task, code) is the difference of two whole prompts. So the shares add up to the
 * prompt even where the tokenizer merges text across the border of two of them. Packing only adds up the costs of
 * blocks; each part is then encoded whole, and when one is too long, everything is packed again with less room. */
#include "inspect_impl.h"

#include <stdio.h>
#include <string.h>

/* ---- counting ---- */

myth_status myth_inspect_encode(const myth_inspection *in, const myth_prompt *p, int32_t **ids, uint32_t *n_ids,
                                myth_error *err)
{
    size_t bound = myth_prompt_bound(p), n = 0;
    int32_t *all = myth_inspect_take(in, "prompt ids", bound, sizeof(int32_t));
    myth_status st = MYTH_OK;
    if (!all)
        return myth_inspect_no_room("prompt ids", bound * sizeof(int32_t), err);
    MYTH_TRY(myth_prompt_encode(in->model->tokenizer, in->mem,
                                myth_chat_form_of(&in->model->config, in->model->tokenizer), p, all, bound, &n, err));
    *n_ids = (uint32_t)n; /* cannot overflow: whole_blocks bounds the bytes of code */
    if (ids) {
        *ids = myth_inspect_take(in, "prompt ids", n, sizeof(int32_t));
        if (*ids)
            memcpy(*ids, all, n * sizeof(int32_t));
        else
            st = myth_inspect_no_room("prompt ids", n * sizeof(int32_t), err);
    }
fail:
    myth_free(in->mem, all);
    return st;
}

static myth_status encode_blocks(const myth_inspection *in, const myth_block *block, uint32_t n_block, int32_t **ids,
                                 uint32_t *n_ids, myth_error *err)
{
    const myth_prompt p = {
        .style = in->o.style,
        .block = block,
        .n_block = n_block,
        .map = in->map,
        .task = in->o.task,
    };
    return myth_inspect_encode(in, &p, ids, n_ids, err);
}

static myth_status count_text(uint32_t *n_tok, myth_mem *mem, const myth_tokenizer *t, const char *text, size_t len,
                              myth_error *err)
{
    size_t bound = myth_tokenizer_bound(len), n = 0;
    int32_t *ids = myth_alloc_n(mem, MYTH_MEM_STAGING, "ids", bound ? bound : 1, sizeof(*ids));
    if (!ids)
        return myth_inspect_no_room("ids", bound * sizeof(*ids), err);
    myth_status st = myth_tokenizer_encode(t, mem, MYTH_TOK_CONTENT, text, len, ids, bound, &n, err);
    *n_tok = (uint32_t)n;
    myth_free(mem, ids);
    return st;
}

myth_status myth_inspect_count(uint32_t *n_tok, const myth_model *model, const char *text, size_t len, myth_error *err)
{
    return count_text(n_tok, model->mem, model->tokenizer, text, len, err);
}

size_t myth_inspect_blocks_text(char *dst, size_t cap, const myth_block *block, uint32_t n_block)
{
    size_t len = 0;
    for (uint32_t i = 0; i < n_block; i++)
        len += myth_prompt_block(len < cap ? dst + len : NULL, len < cap ? cap - len : 0, &block[i]);
    return len;
}

static myth_status count_blocks(const myth_inspection *in, uint32_t *n_tok, const myth_block *block, uint32_t n_block,
                                myth_error *err)
{
    size_t len = myth_inspect_blocks_text(NULL, 0, block, n_block);
    char *text = myth_alloc(in->now_mem, MYTH_MEM_STAGING, "prompt text", len);
    if (!text)
        return myth_inspect_no_room("prompt text", len, err);
    myth_inspect_blocks_text(text, len, block, n_block);
    myth_status st = count_text(n_tok, in->now_mem, in->model->tokenizer, text, len, err);
    myth_free(in->now_mem, text);
    return st;
}

/* A block of the file without lines. It makes the block after it the second one of a prompt. */
static myth_block stub_of(const myth_source *src) { return (myth_block){.src = src, .first = 1, .last = 0}; }

/* The tokens that a block adds to a prompt that already has a block. */
static myth_status block_cost(void *user, const myth_block *b, uint32_t *cost, myth_error *err)
{
    const myth_inspection *in = user;
    const myth_block two[2] = {stub_of(b->src), *b};
    uint32_t one = 0, both = 0;
    myth_status st;
    MYTH_TRY(count_blocks(in, &one, two, 1, err));
    MYTH_TRY(count_blocks(in, &both, two, 2, err));
    *cost = both - one;
fail:
    return st;
}

/* What a prompt of one block costs beside the tokens that every prompt has. It is exact, so no part comes out too long
 * and is packed again with less room, which would move the borders of all others. */
typedef struct {
    const myth_inspection *in;
    uint32_t fixed;
} alone;

static myth_status cost_alone(void *user, const myth_block *b, uint32_t *cost, myth_error *err)
{
    const alone *a = user;
    myth_block own = *b;
    uint32_t n = 0;
    myth_blocks_number(&own, 0, 1);
    myth_status st = encode_blocks(a->in, &own, 1, NULL, &n, err);
    *cost = n > a->fixed ? n - a->fixed : 0;
    return st;
}

/* ---- turns ---- */

myth_status myth_inspect_encode_turn(const myth_inspection *in, const char *text, size_t len, int32_t **ids,
                                     uint32_t *n_ids, myth_error *err)
{
    const myth_tokenizer *t = in->model->tokenizer;
    const myth_message msg[] = {
        {MYTH_ROLE_USER, {"x", 1}}, {MYTH_ROLE_ASSISTANT, {"x", 1}}, {MYTH_ROLE_USER, {text, len}}};
    const int32_t end = myth_tokenizer_special(t)->end_of_turn;
    size_t bound = myth_chat_bound(msg, 3), n = 0, at = 0;
    int32_t *all = myth_alloc_n(in->now_mem, MYTH_MEM_STAGING, "turn", bound, sizeof(*all));
    myth_status st;
    if (!all)
        return myth_inspect_no_room("turn", bound * sizeof(*all), err);
    MYTH_TRY(myth_chat_encode(t, in->now_mem, myth_chat_form_of(&in->model->config, in->model->tokenizer), msg, 3, all,
                              bound, &n, err));
    for (int turn = 0; at < n && (turn += all[at] == end) < 2; at++) {}
    *n_ids = (uint32_t)(n - at);
    *ids = myth_alloc_n(in->now_mem, MYTH_MEM_STAGING, "turn", n - at ? n - at : 1, sizeof(**ids));
    if (!*ids)
        MYTH_TRY(myth_inspect_no_room("turn", (n - at) * sizeof(**ids), err));
    memcpy(*ids, all + at, (n - at) * sizeof(**ids));
fail:
    myth_free(in->now_mem, all);
    return st;
}

/* ---- refusals ---- */

static void remedy(myth_inspection *in, const char *text)
{
    if (in->refusal.n_remedy < MYTH_REMEDY_MAX)
        snprintf(in->refusal.remedy[in->refusal.n_remedy++], sizeof(in->refusal.remedy[0]), "%s", text);
}

/* has_numbers: `what` already names the count and the limit, so they are not appended to it. */
static void refuse_for(myth_inspection *in, uint64_t count, uint64_t limit, const char *what, bool has_numbers)
{
    in->refusal = (myth_refusal){.count = count, .limit = limit, .unit = "tokens"};
    if (has_numbers)
        snprintf(in->refusal.reason, sizeof(in->refusal.reason), "%s", what);
    else
        snprintf(in->refusal.reason, sizeof(in->refusal.reason), "%s: %llu tokens, the limit is %llu", what,
                 (unsigned long long)count, (unsigned long long)limit);
    in->report.refusal = &in->refusal;
    in->report.finish_reason = myth_finish_name(MYTH_FINISH_REFUSED);
    in->report.complete = false;
}

static void refuse_because(myth_inspection *in, uint64_t count, uint64_t limit, const char *what)
{
    refuse_for(in, count, limit, what, false);
}

/* Suggests ways to inspect less code at once. */
static void remedy_code(myth_inspection *in)
{
    remedy(in, "fewer files: inspect a file that holds only what matters");
    remedy(in, in->o.split
                   ? "more room for each part: --max-prompt-tokens, -c"
                   : "smaller chunks: without --no-split the file is inspected in parts, each within the limit");
    remedy(in, "summarise first: leave out the code that the findings do not need");
}

static void refuse(myth_inspection *in, uint64_t count, uint64_t limit, const char *what)
{
    refuse_because(in, count, limit, what);
    remedy_code(in);
}

/* ---- shares ---- */

/* Returns the length in bytes of the first k lines. */
static size_t lines_len(const char *text, uint32_t k)
{
    const char *p = text;
    for (const char *end; k && *p; k--)
        p = (end = strchr(p, '\n')) ? end + 1 : p + strlen(p);
    return (size_t)(p - text);
}

/* Copies as many lines from the beginning of the map as fit into its share. */
static myth_status fit_map(myth_inspection *in, myth_error *err)
{
    myth_status st = MYTH_OK;
    const char *map = in->o.map;
    size_t len = strlen(map);
    uint32_t lo = 0, hi = len && map[len - 1] != '\n'; /* the first lo lines fit; more than hi lines do not */
    in->map = myth_inspect_take(in, "map", len + 1, 1);
    if (!in->map)
        return myth_inspect_no_room("map", len + 1, err);
    for (const char *p = map; (p = strchr(p, '\n')); p++)
        hi++;
    const myth_prompt p = {.style = in->o.style, .map = in->map, .task = ""};
    for (uint32_t k = hi; lo < hi; k = lo + (hi - lo + 1) / 2) {
        uint32_t n = 0;
        size_t to = lines_len(map, k);
        memcpy(in->map, map, to);
        in->map[to] = '\0';
        MYTH_TRY(myth_inspect_encode(in, &p, NULL, &n, err));
        n -= myth_min_u32(n, in->budget.rules);
        if (n <= in->budget.map_room) {
            lo = k;
            in->budget.map = n;
        } else {
            hi = k - 1;
        }
    }
    memcpy(in->map, map, lines_len(map, lo));
    in->map[lines_len(map, lo)] = '\0';
    in->budget.is_map_cut = lines_len(map, lo) < len;
fail:
    return st;
}

/* Counts the tokens of rules, map and task, and works out how many remain for code. code_lent is the part of the code's
 * room that it has only because rules, map and task do not fill their own shares. */
static myth_status count_shares(myth_inspection *in, myth_error *err)
{
    enum { RULES_ROOM = 1000 }; /* the rules' share in tokens; code may use what the rules leave of it */
    myth_budget *b = &in->budget;
    myth_prompt p = {.style = in->o.style, .task = ""};
    uint32_t n = 0, max = in->o.max_prompt_tokens;
    myth_status st;
    b->map_room = in->o.map_tokens ? in->o.map_tokens : MYTH_INSPECT_MAP_TOKENS;
    b->map_room = myth_min_u32(b->map_room, b->limit / 4); /* in a short prompt most room is for code */
    b->task_room = in->o.task_tokens ? in->o.task_tokens : MYTH_INSPECT_TASK_TOKENS;
    MYTH_TRY(myth_inspect_encode(in, &p, NULL, &b->rules, err));
    if (in->o.map && *in->o.map)
        MYTH_TRY(fit_map(in, err));
    MYTH_TRY(encode_blocks(in, NULL, 0, NULL, &n, err));
    b->task = n - myth_min_u32(n, b->rules + b->map);
    uint32_t own = RULES_ROOM + b->map_room + b->task_room;
    b->code_room = b->limit > n ? b->limit - n : 0;
    if (in->o.code_tokens)
        b->code_room = myth_min_u32(b->code_room, in->o.code_tokens);
    own = max > own ? max - own : 0;
    b->code_lent = b->code_room > own ? b->code_room - own : 0;
fail:
    return st;
}

/* ---- parts ---- */

/* The most bytes of removed lines beside a block. Half of a part is for them, and the packing counts their tokens; this
 * only bounds the text that it begins with. */
static uint32_t removed_most(const myth_inspection *in)
{
    enum { BYTES_OF_TOKEN = 4 };
    const uint32_t half = in->budget.limit / 2;
    return !myth_prompt_is_full(in->o.style) ? 0 : half > (1 << 24) / BYTES_OF_TOKEN ? 1 << 24 : half * BYTES_OF_TOKEN;
}

/* Whether no part needs a prompt: the model is asked to write nothing. */
static bool is_bare(const myth_inspection *in) { return in->o.only_given && !(in->o.n_given && in->o.explains_given); }

/* Lists all subjects as blocks in the material's order, as if one prompt had them all. *n_context is the number of
 * pieces that are context. */
enum { CODE_MAX = 64 << 20 };
static myth_status whole_blocks(const myth_inspection *in, myth_block **out, uint32_t *n_block, uint32_t *n_context,
                                myth_error *err)
{
    uint32_t n_piece = myth_material_n_piece(in->material), n = 0;
    uint64_t bytes = 0;
    myth_block *list = myth_inspect_take(in, "blocks", n_piece ? n_piece : 1, sizeof(*list));
    if (!list)
        return myth_inspect_no_room("blocks", n_piece * sizeof(*list), err);
    for (uint32_t i = 0; i < n_piece; i++) {
        const myth_piece *p = myth_material_piece(in->material, i);
        const myth_source *src = myth_material_of(in->material, p->source);
        if (!p->is_subject)
            continue;
        if (p->last >= p->first)
            bytes += src->line[p->last - 1].off + src->line[p->last - 1].len - src->line[p->first - 1].off;
        list[n++] = (myth_block){
            .src = src, .first = p->first, .last = p->last, .symbol = p->symbol, .removed_most = removed_most(in)};
    }
    *out = list;
    *n_block = n;
    *n_context = n_piece - n;
    if (!n)
        return myth_fail(err, MYTH_EARG, "nothing to inspect: no lines were given");
    if (bytes > CODE_MAX && !is_bare(in))
        return myth_fail(err, MYTH_ELIMIT, "%llu bytes of code, at most %d are cut into prompts; inspect less at once",
                         (unsigned long long)bytes, (int)CODE_MAX);
    return MYTH_OK;
}

static void drop_parts(myth_inspection *in)
{
    for (uint32_t i = 0; i < in->n_part; i++)
        myth_free(in->mem, in->part[i].ids);
    myth_free(in->mem, in->part);
    myth_free(in->mem, in->block);
    myth_free(in->mem, in->block_piece);
    in->part = NULL;
    in->block = NULL;
    in->block_piece = NULL;
    in->n_part = in->n_block = in->cap_block = 0;
}

/* Makes the parts of a packing, with their blocks and, unless the inspection is bare, their ids. The table of blocks
 * has spare room because rounds append blocks to it. */
static myth_status make_parts(myth_inspection *in, const myth_parts *p, myth_error *err)
{
    const uint32_t n_round = myth_inspect_has_rounds(in) ? in->o.context_rounds : 0,
                   n_summary = myth_inspect_wants_summary(in);
    myth_status st = MYTH_OK;
    drop_parts(in);
    in->cap_block = p->n_row + (p->n_part * n_round + n_summary) * MYTH_BLOCK_MAX;
    in->part = myth_inspect_take(in, "parts", p->n_part + n_summary, sizeof(inspect_part));
    in->block = myth_inspect_take(in, "parts", in->cap_block, sizeof(myth_block));
    in->block_piece = myth_inspect_take(in, "parts", in->cap_block, sizeof(uint32_t));
    if (!in->part || !in->block || !in->block_piece)
        return myth_inspect_no_room("parts", in->cap_block * sizeof(myth_block), err);
    for (uint32_t i = 0; i < p->n_row; i++) {
        inspect_part *at = &in->part[p->row[i].part];
        at->block0 = at->n_block ? at->block0 : i;
        at->n_block++;
        in->block[i] = p->row[i].block;
        in->block_piece[i] = p->row[i].piece;
    }
    in->n_block = p->n_row;
    for (; in->n_part < p->n_part; in->n_part++) {
        inspect_part *at = &in->part[in->n_part];
        if (in->o.is_local)
            myth_blocks_number(in->block + at->block0, 0, at->n_block);
        if (in->is_bare)
            continue;
        if (myth_cancelled(in->o.cancel))
            MYTH_TRY(myth_fail(err, MYTH_ECANCEL, "interrupted while prompts were made"));
        MYTH_TRY(encode_blocks(in, in->block + at->block0, at->n_block, &at->ids, &at->n_ids, err));
    }
fail:
    return st;
}

/* Makes a part without a prompt of each subject: the model is asked about none. */
static myth_status bare_parts(myth_inspection *in, const myth_block *block, uint32_t n_block, myth_error *err)
{
    myth_parts_row *list = myth_inspect_take(in, "parts", n_block, sizeof(*list));
    if (!list)
        return myth_inspect_no_room("parts", n_block * sizeof(*list), err);
    for (uint32_t i = 0, piece = 0; i < n_block; i++, piece++) {
        while (!myth_material_piece(in->material, piece)->is_subject)
            piece++;
        list[i] = (myth_parts_row){.piece = piece, .part = i, .block = block[i]};
    }
    const myth_parts p = {.row = list, .n_row = n_block, .n_part = n_block};
    in->is_bare = true;
    const myth_status st = make_parts(in, &p, err);
    myth_free(in->mem, list);
    return st;
}

static void show_packing(void *user, uint32_t done, uint32_t total)
{
    const myth_inspection *in = user;
    if (in->o.on_progress)
        in->o.on_progress(in->o.user, "cutting code into prompts, line", 0, 1, done, total);
}

static bool is_one_line(const myth_inspection *in, const inspect_part *p)
{
    return p->n_block == 1 && in->block[p->block0].first == in->block[p->block0].last;
}

/* The largest number of tokens by which a part exceeds its limit. A part of one line cannot be cut further, so it may
 * have `hard` tokens; the others may have `soft`. */
static uint32_t excess(const myth_inspection *in, uint32_t soft, uint32_t hard)
{
    uint32_t worst = 0;
    for (uint32_t i = 0; i < in->n_part; i++) {
        uint32_t n = in->part[i].n_ids, most = is_one_line(in, &in->part[i]) ? hard : soft;
        if (n > most && n - most > worst)
            worst = n - most;
    }
    return worst;
}

/* Refuses because the text that every part repeats leaves no room for code. The remedies name those of its shares that
 * can be made smaller. */
static void refuse_fixed(myth_inspection *in, uint32_t fixed, uint32_t soft, uint32_t trained)
{
    char what[96] = "rules, map and task leave no room for code";
    if (soft == trained)
        snprintf(what, sizeof(what),
                 "rules, map and task leave no room for code in what the model was trained to read");
    refuse_because(in, fixed, soft, what);
    if (myth_prompt_is_full(in->o.style))
        remedy(in, "short rules: --prompt-style compact");
    if (in->budget.map)
        remedy(in, "a smaller map: --map-tokens");
    if (in->o.task)
        remedy(in, "a shorter question, or a shorter --task");
    remedy(in, soft == trained ? "a model that was trained to read more: -m"
                               : "more room: --max-prompt-tokens, -c, or a shorter output -n");
}

/* Whether each subject is inspected as if it were alone: many files, none of whose prompts may depend on another. */
static bool is_many_files(const myth_inspection *in)
{
    uint32_t n = 0;
    for (uint32_t i = 0; in->o.is_local && i < myth_material_n_piece(in->material); i++)
        n += myth_material_piece(in->material, i)->is_subject;
    return n > 1;
}

/* Packs the material into parts of at most `soft` tokens, or `hard` for a single line. `fixed` is the number of tokens
 * that every part repeats. */
static myth_status pack_parts(myth_inspection *in, uint32_t soft, uint32_t hard, uint32_t trained, uint32_t fixed,
                              myth_error *err)
{
    enum { TRIES = 8 };
    const myth_source *src = myth_material_of(in->material, 0);
    const myth_block stub = stub_of(src);
    uint32_t with_stub = 0, stub_cost = 0, less = 0, over = 1;
    myth_parts p = {0};
    myth_status st;
    MYTH_TRY(encode_blocks(in, &stub, 1, NULL, &with_stub, err));
    MYTH_TRY(block_cost(in, &stub, &stub_cost, err));
    fixed = with_stub > stub_cost ? with_stub - stub_cost : fixed;
    if (soft <= fixed) {
        refuse_fixed(in, fixed, soft, trained);
        return MYTH_OK;
    }
    for (int i = 0; i < TRIES && over && soft > fixed + less; i++) {
        const uint32_t cap = in->o.code_tokens ? in->o.code_tokens : UINT32_MAX;
        alone a = {in, fixed};
        myth_parts_opts o = {
            .soft = myth_min_u32(soft - fixed - less, in->budget.code_room),
            .hard = myth_min_u32(hard - fixed - less, cap),
            .max_part = MYTH_INSPECT_PARTS_MAX,
            .removed_most = removed_most(in),
            .is_alone = in->o.style == MYTH_PROMPT_COMPACT || is_many_files(in),
            .worker_path = in->o.worker_path,
            .is_local = in->o.is_local,
            .may_skip = is_many_files(in), /* a line of one file does not keep the others from being inspected */
            .cost = in->o.is_local ? cost_alone : block_cost,
            .user = in->o.is_local ? (void *)&a : in,
            .cancel = in->o.cancel,
            .on_progress = show_packing,
            .progress_user = in,
        };
        myth_parts_close(&p);
        MYTH_TRY(myth_parts_make(&p, in->mem, in->material, &o, err));
        if (!p.n_row)
            MYTH_TRY(myth_fail(err, MYTH_ELIMIT, "no line fits a prompt"));
        MYTH_TRY(make_parts(in, &p, err));
        in->budget.n_context = p.n_context;
        in->budget.n_left_out = p.n_left_out;
        over = excess(in, soft, hard);
        less += over;
    }
    in->skip = p.skip;
    in->n_skip = p.n_skip;
    p.skip = NULL;
    if (over)
        st = myth_fail(err, MYTH_ELIMIT, "the parts come out %u tokens too long", over);
fail:
    myth_parts_close(&p);
    return st;
}

/* Makes one part of all subjects, without context. */
static myth_status one_part(myth_inspection *in, const myth_block *block, uint32_t n_block, myth_error *err)
{
    myth_parts_row list[MYTH_BLOCK_MAX];
    uint32_t piece = 0;
    for (uint32_t i = 0; i < n_block; i++, piece++) {
        while (!myth_material_piece(in->material, piece)->is_subject)
            piece++;
        list[i] = (myth_parts_row){.piece = piece, .block = block[i]};
    }
    const myth_parts p = {.row = list, .n_row = n_block, .n_part = 1};
    return make_parts(in, &p, err);
}

static uint32_t common_prefix(const myth_inspection *in)
{
    uint32_t n = in->n_part > 1 && !in->o.is_isolated ? in->part[0].n_ids : 0;
    for (uint32_t i = 1; i < in->n_part; i++) {
        uint32_t k = 0;
        while (k < n && k < in->part[i].n_ids && in->part[i].ids[k] == in->part[0].ids[k])
            k++;
        n = k;
    }
    return n;
}

static void sum_up(myth_inspection *in)
{
    const uint32_t fixed = in->budget.rules + in->budget.map + in->budget.task;
    in->n_prefix = common_prefix(in);
    in->report.prompt_tokens = 0;
    in->report.n_part = in->o.only_given || in->is_bare ? 0 : in->n_part;
    for (uint32_t i = 0; i < in->n_part; i++) {
        uint32_t n = in->part[i].n_ids, code = n > fixed ? n - fixed : 0;
        in->report.prompt_tokens += in->o.only_given ? 0 : n;
        in->budget.code += code;
        in->budget.code_most = code > in->budget.code_most ? code : in->budget.code_most;
    }
}

/* Refuses a task that is longer than its share, and returns whether it did. */
static bool refuse_task(myth_inspection *in)
{
    const myth_budget *b = &in->budget;
    if (!in->o.task || b->task <= b->task_room)
        return false;
    refuse_because(in, b->task, b->task_room, "the task is too long");
    remedy(in, "a shorter question, or a shorter --task");
    remedy(in, "more room for it: --task-tokens");
    return true;
}

myth_status myth_inspect_plan_parts(myth_inspection *in, myth_error *err)
{
    const uint32_t ctx = myth_inspect_context_tokens(in), max = in->o.max_prompt_tokens;
    const uint64_t output = myth_inspect_output_tokens(in);
    uint32_t whole = 0, trained = 0, n_block = 0, n_context = 0, hard = max, soft, fixed;
    myth_block *block = NULL;
    const bool is_many = is_many_files(in);
    myth_error own = {0};
    myth_status st;
    myth_meta_u32(&trained, myth_weights_meta(in->model->weights), "mythos.trained_tokens");
    if (output < ctx)
        hard = myth_min_u32(max, ctx - (uint32_t)output);
    soft = in->budget.limit = trained ? myth_min_u32(hard, trained) : hard;
    MYTH_TRY(whole_blocks(in, &block, &n_block, &n_context, &own));
    MYTH_TRY(count_shares(in, &own));
    fixed = in->budget.rules + in->budget.map + in->budget.task;
    if (!is_many && !is_bare(in)) /* nobody asks how long the prompt of many files would be */
        MYTH_TRY(encode_blocks(in, block, n_block, NULL, &whole, &own));
    in->report.prompt_tokens = whole;
    if (refuse_task(in)) {
    } else if (is_bare(in)) {
        MYTH_TRY(bare_parts(in, block, n_block, &own));
        sum_up(in);
    } else if (whole > max && !in->o.split) {
        refuse(in, whole, max, "the prompt is too long");
    } else if (output >= ctx || (in->o.n_ctx && !in->o.split && whole + output > ctx)) {
        refuse(in, whole + output, ctx, "prompt and output exceed the context");
        remedy(in, "a shorter output: -n; a longer context: -c");
    } else if (in->o.code_tokens && whole - fixed > in->o.code_tokens && !in->o.split) {
        refuse(in, whole - fixed, in->o.code_tokens, "the code is too long");
    } else {
        if (!is_many && !n_context && n_block <= (in->o.style == MYTH_PROMPT_COMPACT ? 1 : MYTH_BLOCK_MAX) &&
            whole <= soft && whole - fixed <= in->budget.code_room)
            MYTH_TRY(one_part(in, block, n_block, &own));
        else
            MYTH_TRY(pack_parts(in, soft, hard, trained, fixed, &own));
        if (is_many && !in->o.split && in->n_part > n_block)
            refuse_for(in, in->n_part, n_block, "a file is too long for one prompt", true);
        if (!in->report.refusal)
            sum_up(in);
    }
fail:
    if (st == MYTH_ECANCEL) { /* what was given is reported, and everything else as missed */
        st = bare_parts(in, block, n_block, &own);
        sum_up(in);
    }
    myth_free(in->mem, block);
    if (st == MYTH_ELIMIT) { /* no place to cut at: refuse; own.msg already has the numbers */
        drop_parts(in);
        refuse_for(in, whole, hard, own.msg, true);
        remedy_code(in);
        st = MYTH_OK;
    }
    if (st != MYTH_OK && err)
        *err = own;
    return st;
}
