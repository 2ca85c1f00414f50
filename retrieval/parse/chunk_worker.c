/* chunk_worker.c - the process in which parsers run.
 *
 * Life      answers requests until the socket closes. A request that runs out of steps, time or memory gets an
 *           answer that says so; the chunker kills a worker whose parser hangs or aborts
 * Limits    system calls (chunk_jail.c); address space; CPU seconds, renewed per request, so that a worker whose
 *           chunker is gone does not run for ever; no core files
 * Parsers   one per grammar, replaced after a parse that was stopped, so that no state of one file affects another
 * Retry     C with errors is parsed again without the macros that no grammar knows, and without conditionals; the tree
 *           with the fewest bytes in errors is kept. So is Rust in which macros hold items, with the macros opened
 * Faults    only in a build with tests: MYTHOS_CHUNK_FAULT=KIND:TEXT makes the worker fail by KIND on a path that
 *           contains TEXT. KIND is hang, slow (uses SLOW_MS of CPU time first), sleep, doze (works a little
 *           every tenth of a second, DOZE_MS long, as on a busy machine), abort, exit, memory, garbage, short, open, or
 *           environ (exits with 5 when it inherited more of the environment than it should) */
#include "blank.h"
#include "chunk_wire.h"
#include "item_macros.h"
#include "symbols.h"

#include "engine/base/asan.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { MAX_GRAMMAR = 64, CPU_SECONDS = 8, KEEP_BYTES = 32 << 20, SLOW_MS = 400, DOZE_MS = 13000 };

typedef struct {
    TSParser *parser;
    myth_symbol_query query;
    myth_grammar grammar;
    bool is_loaded;
} slot;

typedef struct {
    myth_mem *mem;
    const myth_tree_reader *reader; /* NULL = files are only cut */
    slot slot[MAX_GRAMMAR];
    uint64_t deadline_ns;
    uint32_t n_left; /* steps that this request may still take */
    bool is_over, is_late;
} worker;

bool myth_wire_read(int fd, void *dst, uint64_t n)
{
    for (unsigned char *p = dst; n > 0;) {
        ssize_t got = read(fd, p, n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        p += got;
        n -= (uint64_t)got;
    }
    return true;
}

bool myth_wire_write(int fd, const void *src, uint64_t n)
{
    for (const unsigned char *p = src; n > 0;) {
        ssize_t put = write(fd, p, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        p += put;
        n -= (uint64_t)put;
    }
    return true;
}

/* CPU time of this process: on a busy machine a file does not count as slow. */
static uint64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Counts a step: a hundred operations of the parser, or the nodes that queries visit between two questions. False
 * when no step is left, which happens at the same step on every machine. Reading the clock is a system call, so only
 * every eighth step does. */
static bool may_go_on(worker *w)
{
    w->is_over = w->is_over || w->n_left == 0;
    if (w->is_over || w->is_late)
        return false;
    w->is_late = --w->n_left % 8 == 0 && cpu_ns() > w->deadline_ns;
    return !w->is_late;
}

static bool parse_progress(TSParseState *state) { return !may_go_on(state->payload); }
static bool stop_symbols(void *w) { return !may_go_on(w); }

/* ---- trees ---- */

typedef struct {
    const unsigned char *text;
    uint32_t n;
} input;

static const char *read_input(void *payload, uint32_t off, TSPoint at, uint32_t *n)
{
    const input *in = payload;
    (void)at;
    *n = off < in->n ? in->n - off : 0;
    return off < in->n ? (const char *)in->text + off : "";
}

/* `old`: NULL, or a tree of a text of the same length in which what has changed is marked; the rest is taken from
 * it. */
static TSTree *parse(worker *w, slot *s, const unsigned char *text, uint64_t n, const TSTree *old)
{
    input in = {text, (uint32_t)n};
    TSInput from = {.payload = &in, .read = read_input, .encoding = TSInputEncodingUTF8};
    TSTree *tree = ts_parser_parse_with_options(s->parser, old, from,
                                                (TSParseOptions){.payload = w, .progress_callback = parse_progress});
    if (tree)
        return tree;
    ts_parser_delete(s->parser);
    s->parser = ts_parser_new();
    ts_parser_set_language(s->parser, (const TSLanguage *)s->grammar.language());
    return NULL;
}

/* Parses a text that differs from `before`, which `tree` was made of, in bytes that are no line ends. What did not
 * change is taken from the tree, so this takes a part of the time of a first parse. */
static TSTree *parse_again(worker *w, slot *s, const TSTree *tree, const unsigned char *before,
                           const unsigned char *text, uint64_t n)
{
    enum { NEAR = 16 }; /* words that are as near as this are marked as one change */
    TSTree *old = ts_tree_copy(tree);
    TSPoint at = {0, 0};
    for (uint32_t i = 0; i < n; i++) {
        if (text[i] != before[i]) {
            uint32_t end = i + 1;
            for (uint32_t j = end; j < n && j <= end + NEAR && text[j] != '\n'; j++)
                end = text[j] != before[j] ? j + 1 : end;
            const TSPoint to = {at.row, at.column + end - i};
            ts_tree_edit(old, &(TSInputEdit){i, end, end, at, to, to});
            at.column = to.column - 1;
            i = end - 1;
        }
        at = text[i] == '\n' ? (TSPoint){at.row + 1, 0} : (TSPoint){at.row, at.column + 1};
    }
    TSTree *again = parse(w, s, text, n, old);
    ts_tree_delete(old);
    return again;
}

/* The errors in a tree. */
typedef struct {
    uint64_t bytes;
    uint64_t longest; /* bytes of the longest error node, with the whole nodes inside of it */
    uint32_t n;       /* outermost error nodes, and missing nodes */
} wrong;

/* Bytes directly in error nodes. A whole node inside of one (a function in a file whose end is wrong) does not
 * count. */
static wrong errors_of(TSNode root)
{
    enum { DEPTH = 4096 };
    static bool is_error[DEPTH]; /* for each depth, the node on the path to the current one */
    wrong sum = {0};
    TSTreeCursor c = ts_tree_cursor_new(root);
    for (bool is_more = true; is_more;) {
        TSNode node = ts_tree_cursor_current_node(&c);
        uint32_t depth = ts_tree_cursor_current_depth(&c), n = ts_node_end_byte(node) - ts_node_start_byte(node);
        bool is_counted = depth > 0 && is_error[depth - 1]; /* its parent is an error node */
        is_error[depth] = ts_node_is_error(node);
        sum.n += ts_node_is_missing(node) || (is_error[depth] && !is_counted);
        if (is_error[depth] && n > sum.longest)
            sum.longest = n;
        if (is_error[depth] && !is_counted)
            sum.bytes += n;
        else if (is_counted && !is_error[depth] && ts_node_named_child_count(node) > 0)
            sum.bytes -= n;
        if ((ts_node_has_error(node) || is_error[depth]) && depth + 1 < DEPTH && ts_tree_cursor_goto_first_child(&c))
            continue;
        while ((is_more = ts_tree_cursor_goto_next_sibling(&c)) == false && ts_tree_cursor_goto_parent(&c))
            ;
    }
    ts_tree_cursor_delete(&c);
    return sum;
}

static bool is_kotlin(const myth_grammar *g) { return strcmp(g->name, "kotlin") == 0; }

/* The text without the words that the grammar does not know; NULL = there are none, or no memory. */
static unsigned char *blank(worker *w, const myth_grammar *grammar, const unsigned char *text, uint64_t n, bool is_bad)
{
    const bool is_of_kotlin = is_kotlin(grammar);
    unsigned char *out =
        is_of_kotlin || grammar->is->has_directives ? myth_alloc(w->mem, MYTH_MEM_OTHER, "blanked text", n) : NULL;
    if (!out || (is_of_kotlin ? myth_blank_kotlin(out, text, n) : myth_blank(out, text, n, is_bad)))
        return out;
    myth_free(w->mem, out);
    return NULL;
}

static bool is_better(const wrong *a, const wrong *b)
{
    return a->bytes < b->bytes || (a->bytes == b->bytes && a->n < b->n);
}

/* Returns the best of the trees of the text as it is, without the words that the grammar does not know, and without
 * lines too: the latter at once where much is wrong, else where something is left. Later parses get half of the
 * remaining steps; the queries need the rest. */
static TSTree *parse_best(worker *w, slot *s, const unsigned char *text, uint64_t n, wrong *bad)
{
    enum { MANY_ERRORS = 8 };
    TSTree *first = parse(w, s, text, n, NULL), *best = first;
    if (!first)
        return NULL;
    *bad = errors_of(ts_tree_root_node(first));
    const bool is_bad = bad->longest > n / 20 || bad->n > MANY_ERRORS, has_lines = s->grammar.is->has_directives;
    const uint32_t n_rest = w->n_left / 2;
    w->n_left -= n_rest;
    for (int with_lines = is_bad || !has_lines; with_lines <= 1 && bad->n > 0 && !w->is_over; with_lines++) {
        unsigned char *blanked = blank(w, &s->grammar, text, n, with_lines);
        TSTree *next = NULL;
        if (blanked) /* Kotlin's grammar leaves ambiguities, which parts of an old tree would settle otherwise */
            next = is_kotlin(&s->grammar) ? parse(w, s, blanked, n, NULL) : parse_again(w, s, first, text, blanked, n);
        myth_free(w->mem, blanked);
        if (!next)
            continue;
        const wrong next_bad = errors_of(ts_tree_root_node(next));
        if (is_better(&next_bad, bad)) {
            if (best != first)
                ts_tree_delete(best);
            best = next;
            *bad = next_bad;
        } else
            ts_tree_delete(next);
    }
    w->n_left += n_rest;
    w->is_over = false; /* a later parse that ran out of steps does not make the file fail */
    if (best != first)
        ts_tree_delete(first);
    return best;
}

/* The tree of Rust with the items that are inside of macros, else the tree that it was given. */
static TSTree *open_macros(worker *w, slot *s, const unsigned char *text, uint64_t n, TSTree *tree, wrong *bad)
{
    static myth_item_macros macros;
    unsigned char *out = tree && n > 0 ? myth_alloc(w->mem, MYTH_MEM_OTHER, "opened text", 2 * n) : NULL;
    const uint32_t n_rest = w->n_left / 2; /* as for any second parse, the queries need the rest */
    TSTree *now = tree;
    if (!out)
        return tree;
    unsigned char *before = out + n; /* what `now` was made of */
    memset(&macros, 0, sizeof(macros));
    memcpy(out, text, n);
    w->n_left -= n_rest;
    for (int i = 0; i < MYTH_ITEM_ROUNDS && now; i++) {
        memcpy(before, out, n);
        const bool may_open = i + 2 < MYTH_ITEM_ROUNDS; /* the last rounds see whether what was opened is right */
        if (!myth_item_macros_round(&macros, out, text, ts_tree_root_node(now), may_open, stop_symbols, w))
            break;
        TSTree *next = parse_again(w, s, now, before, out, n);
        if (now != tree)
            ts_tree_delete(now);
        now = next;
    }
    w->n_left += n_rest;
    w->is_over = false;
    myth_free(w->mem, out);
    if (!now || now == tree)
        return tree;
    const wrong now_bad = errors_of(ts_tree_root_node(now));
    const bool is_good = now_bad.bytes <= bad->bytes && now_bad.n <= bad->n;
    ts_tree_delete(is_good ? tree : now);
    *bad = is_good ? now_bad : *bad;
    return is_good ? now : tree;
}

/* ---- requests ---- */

#ifdef MYTH_CHUNK_FAULTS
extern char **environ;

static void fault(const char *path)
{
    const char *want = getenv("MYTHOS_CHUNK_FAULT"), *text = want ? strchr(want, ':') : NULL;
    if (!text || !strstr(path, text + 1))
        return;
    if (strncmp(want, "hang", 4) == 0)
        for (volatile unsigned i = 0;; i = i + 1)
            ;
    for (uint64_t end = cpu_ns() + SLOW_MS * 1000000u; strncmp(want, "slow", 4) == 0 && cpu_ns() < end;)
        ;
    if (strncmp(want, "sleep", 5) == 0)
        sleep(60);
    for (int ms = 0; strncmp(want, "doze", 4) == 0 && ms < DOZE_MS; ms += 100)
        usleep(100000);
    if (strncmp(want, "abort", 5) == 0)
        abort();
    if (strncmp(want, "exit", 4) == 0)
        _exit(3);
    if (strncmp(want, "memory", 6) == 0)
        for (volatile char *p; (p = malloc(16 << 20)) != NULL;)
            p[0] = 1;
    if (strncmp(want, "memory", 6) == 0)
        _exit(4);
    if (strncmp(want, "open", 4) == 0)
        _exit(open("/dev/null", O_RDONLY) >= 0 || errno != EPERM || fork() >= 0 ? 5 : 6);
    if (strncmp(want, "environ", 7) == 0) {
        bool is_known = true;
        for (char **e = environ; *e; e++)
            is_known &= !strncmp(*e, "LD_LIBRARY_PATH=", 16) || !strncmp(*e, "MYTHOS_CHUNK_FAULT=", 19) ||
                        !strncmp(*e, "ASAN_OPTIONS=", 13);
        _exit(is_known ? 6 : 5);
    }
    if (strncmp(want, "short", 5) == 0) {
        myth_wire_write(1, &(myth_chunk_answer){.magic = MYTH_WIRE_MAGIC, .n_chunk = 1, .n_names = 1},
                        sizeof(myth_chunk_answer));
        _exit(0);
    }
    if (strncmp(want, "garbage", 7) == 0) {
        static unsigned char noise[1 << 16];
        myth_chunk_answer a = {.magic = MYTH_WIRE_MAGIC, .n_chunk = 2, .n_symbol = 3, .n_ref = 4, .n_names = 5};
        memset(noise, 0xa5, sizeof(noise));
        myth_wire_write(1, &a, sizeof(a));
        myth_wire_write(1, noise, sizeof(noise));
    }
}
#else
static void fault(const char *path) { (void)path; }
#endif

static bool fail(const char *note, bool is_over)
{
    myth_chunk_answer a = {.magic = MYTH_WIRE_MAGIC, .is_failed = 1, .is_over = is_over};
    strncpy(a.note, note, sizeof(a.note) - 1);
    return myth_wire_write(1, &a, sizeof(a));
}

static bool load(worker *w, uint32_t grammar)
{
    slot *s = grammar < MAX_GRAMMAR && (int)grammar < myth_n_grammar ? &w->slot[grammar] : NULL;
    myth_chunk_answer ok = {.magic = MYTH_WIRE_MAGIC};
    if (!s)
        return fail("worker: no such grammar", false);
    if (!s->is_loaded) {
        char note[96];
        s->grammar = myth_grammar_get((int)grammar);
        s->parser = ts_parser_new();
        if (!ts_parser_set_language(s->parser, (const TSLanguage *)s->grammar.language()))
            return fail("worker: the grammar has another version than the parser library", false);
        if (!myth_symbol_query_open(&s->query, w->mem, &s->grammar)) {
            snprintf(note, sizeof(note), "worker: queries/%.20s.scm is wrong at byte %u", s->grammar.name,
                     s->query.error_off);
            return fail(note, false);
        }
        s->is_loaded = true;
    }
    return myth_wire_write(1, &ok, sizeof(ok));
}

static bool answer(const myth_chunks *c)
{
    myth_chunk_answer a = {
        .magic = MYTH_WIRE_MAGIC,
        .n_chunk = c->n_chunk,
        .n_symbol = c->n_symbol,
        .n_ref = c->n_ref,
        .n_names = c->n_names,
        .n_error = c->n_error,
        .error_bytes = c->error_bytes,
        .is_text = !c->is_structured,
    };
    memcpy(a.note, c->note, sizeof(a.note));
    return myth_wire_write(1, &a, sizeof(a)) && myth_wire_write(1, c->chunk, c->n_chunk * sizeof(*c->chunk)) &&
           myth_wire_write(1, c->symbol, c->n_symbol * sizeof(*c->symbol)) &&
           myth_wire_write(1, c->ref, c->n_ref * sizeof(*c->ref)) && myth_wire_write(1, c->names, c->n_names);
}

/* Gives a request its time and steps. */
static void begin_request(worker *w, const char *path)
{
    struct rlimit cpu;
    getrlimit(RLIMIT_CPU, &cpu);
    cpu.rlim_cur = (rlim_t)(cpu_ns() / 1000000000u + CPU_SECONDS);
    setrlimit(RLIMIT_CPU, &cpu);
    w->is_late = w->is_over = false;
    w->n_left = MYTH_PARSE_STEPS;
    w->deadline_ns = cpu_ns() + (uint64_t)MYTH_PARSE_MS * 1000000u * (MYTH_HAS_ASAN ? 10 : 1);
    fault(path);
}

static TSTree *tree_of(worker *w, slot *s, const unsigned char *text, uint64_t n, wrong *bad)
{
    TSTree *tree = parse_best(w, s, text, n, bad);
    return strcmp(s->grammar.name, "rust") == 0 ? open_macros(w, s, text, n, tree, bad) : tree;
}

/* The answer to a request that ran out of time or steps while it did `what`. */
static bool fail_late(const worker *w, const char *what)
{
    char note[64];
    if (w->is_late)
        snprintf(note, sizeof(note), "%s: not finished after %d ms", what, MYTH_PARSE_MS);
    else
        snprintf(note, sizeof(note), "%s: more than %d steps", what, MYTH_PARSE_STEPS);
    return fail(note, !w->is_late);
}

static bool cut_file(worker *w, slot *s, const char *path, const unsigned char *text, uint64_t n)
{
    const char *why = NULL, *what = "parse";
    wrong bad = {0};
    bool is_sent = false, is_late = true;
    begin_request(w, path);
    TSTree *tree = tree_of(w, s, text, n, &bad);
    myth_cut cut;
    myth_cut_open(&cut, w->mem, text, n);
    if (cut.is_out_of_memory)
        why = "worker: out of memory";
    else if (tree) {
        myth_symbols symbols = {.cut = &cut, .grammar = &s->grammar, .query = &s->query, .path = path};
        what = "symbols";
        if (myth_symbols_find(&symbols, ts_tree_root_node(tree), stop_symbols, w)) {
            /* its definitions may be right, but its chunk borders are not */
            bool is_mostly_wrong = bad.bytes > n / 2;
            if (is_mostly_wrong)
                myth_cut_text(&cut);
            else
                myth_cut_tree(&symbols, ts_tree_root_node(tree));
            myth_chunks out;
            if (myth_cut_take(&cut, &out, NULL) == MYTH_OK) {
                out.error_bytes = bad.bytes;
                out.n_error = bad.n;
                out.is_structured = !is_mostly_wrong;
                if (is_mostly_wrong)
                    strcpy(out.note, "parse: the parser of its language does not read most of it");
                is_sent = answer(&out);
                myth_chunks_free(&out, w->mem);
                is_late = false;
            } else
                why = "worker: out of memory";
        }
        myth_symbols_close(&symbols);
    }
    myth_cut_close(&cut);
    if (tree)
        ts_tree_delete(tree);
    if (why)
        return fail(why, false);
    return is_late ? fail_late(w, what) : is_sent;
}

/* n_before > 0: the bytes behind the text are what it was before a change. */
static bool read_file(worker *w, slot *s, const char *path, const unsigned char *text, uint64_t n, uint64_t n_before)
{
    wrong bad = {0};
    bool is_sent;
    if (!w->reader)
        return fail("worker: it has no reader of trees", false);
    begin_request(w, path);
    TSTree *tree = tree_of(w, s, text, n, &bad), *old = NULL;
    if (tree && n_before) {
        w->n_left = MYTH_PARSE_STEPS;
        old = tree_of(w, s, text + n, n_before, &bad);
    }
    if (!tree || (n_before && !old)) {
        if (tree)
            ts_tree_delete(tree);
        return fail_late(w, "parse");
    }
    w->n_left = MYTH_PARSE_STEPS; /* as many again: what a parse needs does not decide how much is read */
    const TSNode root = ts_tree_root_node(tree), old_root = old ? ts_tree_root_node(old) : (TSNode){0};
    myth_tree_answer out = {.mem = w->mem};
    myth_tree in = {
        .grammar = s->grammar.name,
        .language = (const TSLanguage *)s->grammar.language(),
        .root = &root,
        .text = text,
        .n = (uint32_t)n,
        .stop = stop_symbols,
        .stop_arg = w,
    };
    myth_tree before = in;
    if (old) {
        before.root = &old_root;
        before.text = text + n;
        before.n = (uint32_t)n_before;
        in.before = &before;
    }
    if (w->reader->read(&in, &out) && out.n <= MYTH_WIRE_READ_BYTES) {
        const myth_chunk_answer a = {.magic = MYTH_WIRE_MAGIC, .n_names = out.n};
        is_sent = myth_wire_write(1, &a, sizeof(a)) && myth_wire_write(1, out.bytes, out.n);
    } else
        is_sent = w->is_over || w->is_late ? fail_late(w, "reading")
                                           : fail("worker: its reader has no memory or wrong rules", false);
    myth_free(w->mem, out.bytes);
    ts_tree_delete(tree);
    if (old)
        ts_tree_delete(old);
    return is_sent;
}

static void limit(int what, rlim_t most)
{
    struct rlimit r;
    if (getrlimit(what, &r) == 0 && (r.rlim_max == RLIM_INFINITY || r.rlim_max > most)) {
        r.rlim_cur = r.rlim_max = most;
        setrlimit(what, &r);
    }
}

/* A file's tree takes tens of times the file's size, and the next one as much again, so freed pages are kept. */
static void keep_memory(void)
{
#if defined(__GLIBC__)
    mallopt(M_TRIM_THRESHOLD, KEEP_BYTES);
    mallopt(M_MMAP_THRESHOLD, KEEP_BYTES);
    mallopt(M_TOP_PAD, 1 << 20);
#endif
}

int myth_chunk_worker(const myth_tree_reader *reader)
{
    static worker w;
    char path[MYTH_WIRE_PATH + 1];
    unsigned char *text = NULL;
    uint64_t cap = 0;
    myth_chunk_request q;
    for (int i = 0; i < 3; i++) /* sent to the whole process group; the chunker decides when the worker ends */
        signal((const int[]){SIGINT, SIGTERM, SIGHUP}[i], SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    limit(RLIMIT_CORE, 0);
    if (!MYTH_HAS_ASAN) /* the sanitizer's shadow memory alone is larger */
        limit(RLIMIT_AS, MYTH_PARSE_MEM_BYTES);
    keep_memory();
    myth_chunk_jail();
    if (myth_mem_open(&w.mem, 0, NULL) != MYTH_OK)
        return 1;
    w.reader = reader;
    bool is_good = true;
    while (is_good && myth_wire_read(0, &q, sizeof(q))) {
        is_good = q.magic == MYTH_WIRE_MAGIC && q.n <= MYTH_PARSE_FILE_BYTES && q.n_before <= MYTH_PARSE_FILE_BYTES &&
                  q.n_path <= MYTH_WIRE_PATH;
        const uint64_t n_all = is_good ? q.n + q.n_before : 0;
        if (n_all > cap) {
            myth_free(w.mem, text);
            text = myth_alloc(w.mem, MYTH_MEM_OTHER, "text", n_all);
            cap = text ? n_all : 0;
            is_good = text != NULL;
        }
        is_good = is_good && myth_wire_read(0, path, q.n_path) && myth_wire_read(0, text, n_all);
        if (!is_good)
            break;
        path[q.n_path] = '\0';
        slot *s = q.grammar < MAX_GRAMMAR && w.slot[q.grammar].is_loaded ? &w.slot[q.grammar] : NULL;
        if (q.verb == MYTH_WIRE_LOAD)
            is_good = load(&w, q.grammar);
        else if (!s)
            is_good = fail("worker: the grammar is not loaded", false);
        else
            is_good = q.verb == MYTH_WIRE_CUT ? cut_file(&w, s, path, text, q.n)
                                              : read_file(&w, s, path, text, q.n, q.n_before);
    }
    for (int i = 0; i < MAX_GRAMMAR; i++) {
        if (w.slot[i].parser)
            ts_parser_delete(w.slot[i].parser);
        myth_symbol_query_close(&w.slot[i].query);
    }
    if (reader)
        reader->close();
    myth_free(w.mem, text);
    return myth_mem_close(w.mem) == 0 && is_good ? 0 : 1;
}
