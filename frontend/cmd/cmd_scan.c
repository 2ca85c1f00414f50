/* cmd_scan.c - lists the files of a directory that search and inspection use, and why the others are left out. It reads
 * only the first bytes of files. */
#include "engine/base/utf8.h"
#include "retrieval/retrieval.h"
#include "frontend/cli/json_out.h"
#include "frontend/cli/hints.h"

#include <string.h>

typedef struct {
    myth_opt_list glob;
    bool json, explain, no_ignore, hidden;
} scan_opts;

static const myth_option scan_options[] = {
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(scan_opts, json), NULL, 0, 0,
     "print {\"root\",\"files\",\"out\",\"explain\"}"},
    {"explain", NULL, MYTH_OPT_FLAG, NULL, offsetof(scan_opts, explain), NULL, 0, 0,
     "say for every file why it is used or left out"},
    {"glob", "-g", MYTH_OPT_LIST, "G", offsetof(scan_opts, glob), NULL, 0, 0,
     "use only files that match G, such as *.{c,h}; '!G' leaves them out; may be given several times"},
    {"no-ignore", "-u", MYTH_OPT_FLAG, NULL, offsetof(scan_opts, no_ignore), NULL, 0, 0,
     "ignore .gitignore, .ignore and .mythosignore files"},
    {"hidden", NULL, MYTH_OPT_FLAG, NULL, offsetof(scan_opts, hidden), NULL, 0, 0,
     "also use files and folders whose name begins with a dot, except .git"},
};
static const myth_option_group scan_groups[] = {MYTH_GROUP("scan", scan_opts, scan_options)};

static bool is_utf8(const char *s)
{
    uint32_t cp;
    for (size_t n = strlen(s); n;) {
        int len = myth_utf8_decode((const unsigned char *)s, n, &cp);
        if (len == 0)
            return false;
        s += len;
        n -= (size_t)len;
    }
    return true;
}

/* Writes "path" as text, or "path_bytes" as base64 when the path is not UTF-8. */
static void json_path(myth_json_out *j, const char *path)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (is_utf8(path)) {
        myth_jout_key_str(j, "path", path);
        return;
    }
    const unsigned char *s = (const unsigned char *)path;
    myth_jout_key(j, "path_bytes");
    myth_jout_text_begin(j);
    for (size_t n = strlen(path), i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)s[i] << 16 | (i + 1 < n ? (uint32_t)s[i + 1] << 8 : 0) | (i + 2 < n ? s[i + 2] : 0);
        char four[4] = {digit[v >> 18], digit[v >> 12 & 63], i + 1 < n ? digit[v >> 6 & 63] : '=',
                        i + 2 < n ? digit[v & 63] : '='};
        myth_jout_text_part(j, four, 4);
    }
    myth_jout_text_end(j);
}

/* Why the file is in or out, with the flag that would take it in; NULL when that is not known. */
static const char *why_of(char text[128], const myth_scan_file *f)
{
    if (f->reason != MYTH_SCAN_HIDDEN || !f->why)
        return f->why;
    snprintf(text, 128, "%.90s; --hidden takes it in", f->why);
    return text;
}

static void print_json(const char *root, const myth_scan_list *l, bool explain)
{
    myth_json_out j;
    myth_jout_start(&j, stdout);
    myth_jout_object(&j);
    myth_jout_key_str(&j, "root", root);
    myth_jout_key(&j, "files");
    myth_jout_array(&j);
    for (uint32_t i = 0; i < l->n_file; i++) {
        const myth_scan_file *f = &l->file[i];
        if (f->reason != MYTH_SCAN_IN)
            continue;
        myth_jout_object(&j);
        json_path(&j, f->path);
        myth_jout_key_u64(&j, "bytes", f->bytes);
        myth_jout_key_str(&j, "language", f->language);
        myth_jout_key_bool(&j, "generated", f->is_generated);
        myth_jout_key_bool(&j, "test", f->is_test);
        myth_jout_end(&j);
    }
    myth_jout_end(&j);
    myth_jout_key(&j, "out");
    myth_jout_object(&j);
    for (int r = 1; r < MYTH_SCAN_REASON_N; r++)
        if (l->n_out[r])
            myth_jout_key_u64(&j, myth_scan_reason_name((myth_scan_reason)r), l->n_out[r]);
    myth_jout_end(&j);
    if (explain) {
        char text[128];
        myth_jout_key(&j, "explain");
        myth_jout_array(&j);
        for (uint32_t i = 0; i < l->n_file; i++) {
            myth_jout_object(&j);
            json_path(&j, l->file[i].path);
            myth_jout_key_str(&j, "reason", myth_scan_reason_name(l->file[i].reason));
            myth_jout_key_str(&j, "why", why_of(text, &l->file[i]));
            myth_jout_end(&j);
        }
        myth_jout_end(&j);
    }
    myth_jout_end(&j);
}

static void print_text(const myth_scan_list *l, bool explain)
{
    for (uint32_t i = 0; i < l->n_file; i++) {
        const myth_scan_file *f = &l->file[i];
        if (explain)
            printf("%s\t", myth_scan_reason_name(f->reason));
        myth_term_path(stdout, f->path);
        if (explain) {
            char text[128];
            const char *why = why_of(text, f);
            fputs(f->is_dir ? "/\t" : "\t", stdout);
            myth_term_path(stdout, why ? why : "");
        }
        putchar('\n');
    }
}

/* Writes how many files each reason left out: "12 ignored, 3 binary", or "none". */
static void count_out(char *dst, size_t cap, const myth_scan_list *l)
{
    size_t at = 0;
    snprintf(dst, cap, "none");
    for (int r = 1; r < MYTH_SCAN_REASON_N && at < cap; r++)
        if (l->n_out[r])
            at += (size_t)snprintf(dst + at, cap - at, "%s%llu %s", at ? ", " : "", (unsigned long long)l->n_out[r],
                                   myth_scan_reason_name((myth_scan_reason)r));
}

static int run_scan(myth_cli *cli, const void *opts)
{
    const scan_opts *o = opts;
    const char *root = myth_cli_dir(cli, 0);
    const char *glob[MYTH_OPT_LIST_MAX + 1] = {0};
    for (int i = 0; i < o->glob.n; i++)
        glob[i] = o->glob.item[i];
    myth_scan_opts so = {
        .root = root,
        .globs = glob,
        .no_ignore = o->no_ignore,
        .hidden = o->hidden,
        .explain = o->explain,
        .n_threads = cli->global->n_threads,
        .is_cancelled = cli->cancel,
    };
    myth_scan_list list;
    myth_error err = {0};
    char out[256], size[24];
    int code = MYTH_EXIT_CLEAN;
    if (myth_hint_check_dir(root, &err) != MYTH_OK)
        return myth_cli_fail(cli, &err);
    if (myth_scan(&list, cli->mem, &so, &err) != MYTH_OK)
        return myth_cli_fail(cli, &err);
    if (o->json)
        print_json(root, &list, o->explain);
    else
        print_text(&list, o->explain);
    count_out(out, sizeof(out), &list);
    if (list.n_out[MYTH_SCAN_IN] == 0)
        code = myth_cli_failf(cli, MYTH_ENOTFOUND, "%.80s: no file is used; left out: %s%s", root, out,
                              o->explain ? "" : "; --explain says why");
    else if (list.n_out[MYTH_SCAN_UNREADABLE])
        code = MYTH_EXIT_INCOMPLETE;
    if (code != MYTH_EXIT_NOINPUT)
        myth_term_note(cli->term, "%llu file%s, %s; left out: %s", (unsigned long long)list.n_out[MYTH_SCAN_IN],
                       myth_s(list.n_out[MYTH_SCAN_IN]), myth_size_text(size, list.in_bytes), out);
    myth_scan_close(&list, cli->mem);
    return code;
}

const myth_command myth_cmd_scan = {
    .name = "scan",
    .args = "[DIR]",
    .help = "list the files of a directory that are used, and why others are left out",
    .detail = "Patterns of .gitignore (of the repository's root down), .git/info/exclude and "
              "core.excludesFile, then .ignore, then .mythosignore, then --glob: "
              "a later one overrides an earlier one. A file that git tracks is used whatever git's own patterns "
              "say, also in directories named build, dist, target, vendor and the like; one of these in which git "
              "tracks nothing is left out. With --explain each line has reason, path and why, "
              "separated by tabs. Exit 3 when something could not be read, "
              "66 when no file is used.",
    .group = scan_groups,
    .n_group = 1,
    .opts_bytes = sizeof(scan_opts),
    .max_arg = 1,
    .run = run_scan,
};
