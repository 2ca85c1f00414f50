/* fuzz_log_rows.c - a run log with any values in any of its rows: every form of the command `log` answers or says what
 * is wrong, prints nothing that a terminal would act on, and frees what it took; a writer goes on or says why not.
 * fuzz_rows.h has the form of the input. */
#include "fuzz_rows.h"

#include "frontend/cli/cli.h"
#include "frontend/inspect/log/runlog_file.h"

#include <xxhash.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WITH_WRITER = 1, WITH_OLD_HASHES = 2 }; /* of the input's flags */

extern const myth_command myth_cmd_log;

static const char *const table[] = {"runs", "texts", "hashes", "sqlite_sequence"};
enum { N_TABLE = sizeof(table) / sizeof(table[0]) };

static const char source[] = "int f(char *s)\n{\n\tchar b[4];\n\tstrcpy(b, s);\n\treturn b[0];\n}\n";
static const char report[] = "a.c:4: strcpy writes past the end of b\n";

static myth_mem *mem;

static void must(myth_status st, const char *what, const myth_error *err)
{
    if (st != MYTH_OK) {
        fprintf(stderr, "%s: status %d: %s\n", what, (int)st, err->msg);
        abort();
    }
}

/* ---- the valid log ---- */

/* A record that can be replayed: its one file is as it was. */
static void put_run(myth_runlog_file *f, const char *dir)
{
    static char record[8192];
    static const char form[] =
        "{\"format\":1,\"run\":1,\"began_ms\":1700000000000,\"command\":\"inspect-file\",\"args\":[\"a.c\"],"
        "\"cwd\":\"%s\",\"root\":\"%s\",\"form\":\"text\",\"device\":\"cpu\",\"weights\":\"sha256:00\","
        "\"options\":[{\"name\":\"format\",\"from\":\"flag\",\"value\":\"text\"},"
        "{\"name\":\"output\",\"from\":\"default\",\"value\":null,\"repeated\":false},"
        "{\"name\":\"split\",\"from\":\"flag\",\"value\":true},"
        "{\"name\":\"path\",\"from\":\"flag\",\"value\":[\"a.c\",{\"hex\":\"62ff\"}]}],"
        "\"binary\":{\"version\":\"1\",\"commit\":\"00\",\"hash\":\"xxh3:00\"},"
        "\"model\":{\"spec\":\"m.gguf\",\"name\":\"m.gguf\",\"files\":[]},"
        "\"index\":{\"files\":2,\"chunks\":3,\"hash\":\"xxh3:00\",\"out\":{\"binary\":1}},"
        "\"inputs\":[{\"role\":\"diff\",\"hash\":\"sha256:00\"}],"
        "\"texts\":{\"query\":\"strcpy\",\"task\":\"find\",\"semantic\":\"off\"},"
        "\"candidates\":[{\"path\":\"a.c\",\"lines\":[1,6],\"symbol\":\"f\",\"kind\":\"function\",\"fate\":\"subject\","
        "\"parts\":{\"body\":1.5,\"kind\":0.5},\"score\":1.0},"
        "{\"path\":\"tests/b.c\",\"lines\":[2,4],\"symbol\":\"\",\"kind\":\"test\",\"fate\":\"below the cut\","
        "\"parts\":{\"kind\":0.5},\"score\":0.5}],"
        "\"files\":[{\"path\":\"a.c\",\"bytes\":%zu,\"lines\":6,\"hash\":\"%s\",\"origin\":\"disk\","
        "\"kinds\":[\"source\"]}],"
        "\"pieces\":[{\"file\":0,\"lines\":[1,6],\"symbol\":\"f\",\"why\":\"search\",\"subject\":true,\"of\":0,"
        "\"parts\":[0],\"shown_lines\":6,\"cut_inside\":false,\"score\":1.0}],"
        "\"prompt\":{\"style\":\"compact\",\"hash\":\"00\",\"parts\":[{\"prompt_tokens\":20,"
        "\"blocks\":[{\"path\":\"a.c\",\"lines\":[1,6]}]}]},"
        "\"exchanges\":[{\"part\":0,\"round\":0,\"kind\":\"first\",\"prompt_tokens\":20,\"kept_tokens\":0,"
        "\"new_tokens\":5,\"finish\":\"stop\",\"ids_hash\":\"sha256:00\",\"answer_hash\":\"sha256:00\","
        "\"seconds\":0.5,\"prompt\":\"prompt/0\",\"answer\":\"answer/0\"}],"
        "\"dropped\":[{\"path\":\"a.c\",\"lines\":[9,9],\"rule\":\"buffer\",\"why\":\"no such line\"}],"
        "\"report\":{\"finish_reason\":\"stop\",\"complete\":true,\"dropped_findings\":1,"
        "\"context_requests\":[{\"name\":\"g\",\"part\":0,\"result\":\"served\"}],"
        "\"findings\":[{\"file\":\"a.c\",\"lines\":[4,4],\"symbol\":\"f\",\"rule\":\"buffer\",\"severity\":\"high\","
        "\"status\":\"new\",\"fingerprint\":\"0123456789abcdef\"}]},"
        "\"no_replay\":[],\"stages\":[{\"name\":\"generate\",\"seconds\":0.5}],\"seconds\":1.0,\"exit_code\":1}";
    char hash[72];
    myth_error err = {0};
    int64_t run = 0;
    const int code = 1;
    myth_runlog_hash_bytes(hash, source, strlen(source));
    const int n = snprintf(record, sizeof(record), form, dir, dir, strlen(source), hash);
    if (n <= 0 || (size_t)n >= sizeof(record))
        abort();
    must(myth_runlog_file_begin(f, &run, 1700000000000, "inspect-file", &err), "begin", &err);
    must(myth_runlog_file_put(f, run, "prompt/0", source, strlen(source), &err), "prompt", &err);
    must(myth_runlog_file_put(f, run, "answer/0", "a.c:4 buffer", 12, &err), "answer", &err);
    must(myth_runlog_file_put(f, run, "report", report, strlen(report), &err), "report", &err);
    must(myth_runlog_file_put(f, run, "index_files", "a.c\0tests/b.c", 14, &err), "files", &err);
    must(myth_runlog_file_save(f, run, "a.c", record, (size_t)n, &code, &err), "save", &err);
}

static void make_log(const char *path, const char *dir, int n_run)
{
    myth_error err = {0};
    myth_runlog_file *f = NULL;
    must(myth_runlog_file_open(&f, mem, path, &(myth_runlog_file_opts){0}, &err), "open", &err);
    for (int i = 0; i < n_run; i++)
        put_run(f, dir);
    myth_runlog_file_close(f);
}

/* A replay starts this program again as `mythos`: the second run writes what the first one did. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char dir[512];
    if (*argc < 1 || strcmp((*argv)[0], "mythos") != 0)
        return 0;
    for (int i = 1; i < *argc; i++)
        if (strncmp((*argv)[i], "--log=", 6) == 0 && getcwd(dir, sizeof(dir)) &&
            myth_mem_open(&mem, 0, NULL) == MYTH_OK)
            make_log((*argv)[i] + 6, dir, 1);
    _exit(MYTH_EXIT_FINDINGS);
}

/* ---- planting ---- */

/* Each record gets its own hash, as whoever plants it would do. */
static void hash_records(void)
{
    sqlite3 *db;
    if (sqlite3_open(rows_path("runs.db"), &db) != SQLITE_OK)
        abort();
    sqlite3_stmt *q = rows_query(db, "SELECT id, record FROM runs"),
                 *put = rows_query(db, "UPDATE runs SET hash=?2 WHERE id=?1");
    if (!q || !put)
        abort();
    while (sqlite3_step(q) == SQLITE_ROW) {
        XXH128_canonical_t c;
        const void *data = sqlite3_column_blob(q, 1);
        XXH128_canonicalFromHash(&c, XXH3_128bits(data, (size_t)sqlite3_column_bytes(q, 1)));
        sqlite3_bind_int64(put, 1, sqlite3_column_int64(q, 0));
        sqlite3_bind_blob(put, 2, c.digest, sizeof(c.digest), SQLITE_TRANSIENT);
        sqlite3_step(put);
        sqlite3_reset(put);
    }
    sqlite3_finalize(q);
    sqlite3_finalize(put);
    sqlite3_close(db);
}

/* ---- readers ---- */

/* What the last command printed for people has no character that a terminal acts on. */
static void check_printed(const char *const word[])
{
    static char text[1 << 16];
    fflush(stdout);
    rewind(stdout);
    for (size_t n; (n = fread(text, 1, sizeof(text), stdout)) > 0;)
        for (size_t i = 0; i < n; i++)
            if (((unsigned char)text[i] < 0x20 && text[i] != '\n' && text[i] != '\t') || text[i] == 0x7f) {
                fprintf(stderr, "log %s prints byte %02x: %.80s\n", word[0], (unsigned char)text[i], text + i);
                abort();
            }
    rewind(stdout);
    if (ftruncate(fileno(stdout), 0) != 0)
        abort();
}

static void run_log(const char *const word[], int n_word)
{
    static _Alignas(max_align_t) unsigned char opts[1024];
    static const myth_global global = {.is_quiet = true};
    static myth_parsed parsed;
    myth_error err = {0};
    myth_term term;
    char *arg[8], flag[600];
    memset(&parsed, 0, sizeof(parsed));
    memset(opts, 0, sizeof(opts));
    for (int i = 0; i < n_word; i++)
        arg[i] = (char *)(uintptr_t)word[i];
    snprintf(flag, sizeof(flag), "--log=%s", rows_path("runs.db"));
    arg[n_word] = flag;
    for (size_t i = 0; i < myth_cmd_log.n_group; i++)
        myth_args_add(&parsed, &myth_cmd_log.group[i], opts);
    must(myth_args_parse(&parsed, n_word + 1, arg, &err), "flags", &err);
    myth_term_start(&term, true, false, false);
    myth_cli cli = {.command = &myth_cmd_log,
                    .global = &global,
                    .parsed = &parsed,
                    .n_arg = parsed.n_arg,
                    .arg = arg,
                    .mem = mem,
                    .term = &term};
    const int code = myth_cmd_log.run(&cli, opts);
    if (code == MYTH_EXIT_INTERNAL || code == MYTH_EXIT_MEMORY || code == MYTH_EXIT_IO || code == MYTH_EXIT_TEMPFAIL) {
        fprintf(stderr, "log %s: exit code %d\n", word[0], code);
        abort();
    }
    check_printed(word);
}

static void read_all(void)
{
    static const char *const line[][3] = {
        {"list"},
        {"list", "--json"},
        {"show"},
        {"show", "1"},
        {"show", "--prompts"},
        {"show", "--json"},
        {"why"},
        {"why", "last", "1"},
        {"why", "last", "a.c:4"},
        {"why", "--json"},
        {"replay"},
    };
    for (size_t i = 0; i < sizeof(line) / sizeof(line[0]); i++) {
        int n = 0;
        while (n < 3 && line[i][n])
            n++;
        run_log(line[i], n);
    }
}

/* A run that is logged into the same file. */
static void write_it(void)
{
    myth_error err = {0};
    myth_runlog_file *f = NULL;
    int64_t run = 0;
    const int code = 0;
    myth_status st = myth_runlog_file_open(&f, mem, rows_path("runs.db"), &(myth_runlog_file_opts){0}, &err);
    if (st == MYTH_OK)
        st = myth_runlog_file_begin(f, &run, 1700000000000, "inspect-file", &err);
    if (st == MYTH_OK)
        st = myth_runlog_file_put(f, run, "report", "x", 1, &err);
    if (st == MYTH_OK)
        st = myth_runlog_file_save(f, run, "a.c", "{}", 2, &code, &err);
    if (st != MYTH_OK && (st != MYTH_EFORMAT || !err.msg[0]))
        must(st, "a new run", &err);
    myth_runlog_file_close(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input in = {data, size};
    if (size > 4096 || myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return 0;
    if (!rows_n_whole) {
        rows_begin();
        rows_text("a.c", source);
        make_log(rows_path("runs.db"), rows_dir, 3);
        rows_keep("runs.db");
        setenv("TMPDIR", rows_dir, 1);
        if (!freopen(rows_path("printed"), "w+", stdout))
            abort();
    }
    const unsigned flags = (unsigned)take(&in, 1);
    rows_plant("runs.db", NULL, table, N_TABLE, &in);
    if (!(flags & WITH_OLD_HASHES))
        hash_records();
    read_all();
    if (flags & WITH_WRITER)
        write_it();
    if (myth_mem_close(mem) != 0)
        abort();
    return 0;
}
