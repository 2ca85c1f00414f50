/* tool_changes.c - recent_changes shows which files were changed lately: those with changes that are not committed,
 * then those of the newest commits. */
#include "shown.h"

#include "frontend/inspect/select/diff.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* More files of one change are counted: one commit of thousands would leave no room for others. */
enum { FILES_SHOWN = 50 };

typedef struct {
    myth_reply *a;
    uint32_t n, most; /* commits */
} commits;

static void put_time(myth_json_out *j, int64_t time_s)
{
    const time_t t = (time_t)time_s;
    struct tm tm;
    char text[40] = "";
    if (gmtime_r(&t, &tm))
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
    myth_jout_key_str(j, "time", text);
}

static bool on_commit(void *arg, const myth_commit *c)
{
    commits *s = arg;
    myth_json_out *j = &s->a->j;
    if (s->n == s->most) {
        myth_reply_note(s->a, false, "the newest %u commits are shown, and there are more; max_commits says how many",
                        s->most);
        return false;
    }
    s->n++;
    if (!myth_reply_begin(s->a))
        return true;
    myth_jout_key_str(j, "commit", c->id);
    put_time(j, c->time_s);
    myth_jout_key(j, "subject");
    myth_shown_put_text(j, c->subject, strlen(c->subject));
    myth_jout_key(j, "files");
    myth_jout_array(j);
    for (uint32_t i = 0; i < c->n_file && i < FILES_SHOWN; i++) {
        myth_jout_object(j);
        myth_jout_key_str(j, "path", c->file[i].path);
        myth_jout_key(j, "change");
        myth_jout_text(j, &c->file[i].change, 1);
        myth_jout_end(j);
    }
    myth_jout_end(j);
    if (c->n_file > FILES_SHOWN)
        myth_jout_key_u64(j, "more_files", c->n_file - FILES_SHOWN);
    myth_reply_end(s->a);
    return true;
}

typedef struct {
    myth_reply *a;
    const myth_diff *diff;
    const char *prefix; /* that paths of diff begin with */
    uint32_t n_file;
    bool is_open; /* the item was begun, and fits */
} uncommitted;

/* The file's part of the difference, if it is one of lines: a renamed file has none of its own. */
static const myth_diff_file *lines_of(const uncommitted *u, const char *path)
{
    const size_t n_prefix = strlen(u->prefix);
    for (uint32_t i = 0; i < u->diff->n_file; i++) {
        const myth_diff_file *f = &u->diff->file[i];
        if (strncmp(f->path, u->prefix, n_prefix) == 0 && strcmp(f->path + n_prefix, path) == 0)
            return f->kind == MYTH_DIFF_RENAMED || f->kind == MYTH_DIFF_COPIED || f->is_binary ? NULL : f;
    }
    return NULL;
}

static void on_uncommitted(void *arg, const myth_commit_file *file)
{
    uncommitted *u = arg;
    myth_json_out *j = &u->a->j;
    if (u->n_file++ == 0 && (u->is_open = myth_reply_begin(u->a))) {
        myth_jout_key_str(j, "commit", NULL);
        myth_jout_key_str(j, "subject", "not committed");
        myth_jout_key(j, "files");
        myth_jout_array(j);
    }
    if (!u->is_open || u->n_file > FILES_SHOWN)
        return;
    const myth_diff_file *f = strchr("AMD", file->change) ? lines_of(u, file->path) : NULL;
    myth_jout_object(j);
    myth_jout_key_str(j, "path", file->path);
    myth_jout_key(j, "change");
    myth_jout_text(j, &file->change, 1);
    if (f) {
        myth_jout_key_u64(j, "lines_added", f->lines_added);
        myth_jout_key_u64(j, "lines_removed", f->lines_removed);
    }
    myth_jout_end(j);
}

/* An item for the files of the working tree that differ from the newest commit, if there are any. */
static myth_status put_uncommitted(myth_reply *a, myth_tools *t, myth_revision *r, const char *under, myth_error *err)
{
    myth_diff diff = {0};
    char *text = NULL;
    size_t n = 0;
    uncommitted u = {.a = a, .diff = &diff, .prefix = myth_revision_prefix(r)};
    myth_status st = myth_revision_diff(r, &text, &n, err);
    if (st == MYTH_OK && n)
        st = myth_diff_parse(&diff, t->cli->mem, text, n, err);
    if (st == MYTH_OK || st == MYTH_ELIMIT) /* too much text: without the numbers of lines */
        st = myth_revision_changes(r, under, on_uncommitted, &u, err);
    if (u.is_open) {
        myth_jout_end(&a->j);
        if (u.n_file > FILES_SHOWN)
            myth_jout_key_u64(&a->j, "more_files", u.n_file - FILES_SHOWN);
        myth_reply_end(a);
    }
    myth_diff_free(&diff);
    myth_free(t->cli->mem, text);
    return st;
}

/* Says of a path without a change whether there is such a path at all. */
static void note_nothing(myth_reply *a, const myth_tools *t, const char *under)
{
    char whole[PATH_MAX];
    struct stat s;
    const int n = snprintf(whole, sizeof(whole), "%s/%s", t->dir, under);
    const bool is_there = n > 0 && (size_t)n < sizeof(whole) && lstat(whole, &s) == 0;
    myth_reply_note(a, false,
                    is_there ? "%.100s: no change of it is known; git may not track it"
                             : "%.100s: there is no such path, and no commit changed one",
                    under);
}

static myth_status run_recent_changes(myth_tools *t, const json_t *args, myth_reply *a, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_revision *r = NULL;
    myth_commits_end end = MYTH_COMMITS_WHOLE;
    char under[MYTH_TOOL_TEXT_MAX + 1] = "";
    commits s = {.a = a, .most = (uint32_t)(myth_tool_number(t, args, "max_commits") + (int64_t)a->skip)};
    if (myth_tool_text(args, "path"))
        MYTH_TRY(myth_tools_path(under, sizeof(under), myth_tool_text(args, "path"), err));
    MYTH_TRY(myth_revision_open(&r, t->cli->mem, &(myth_revision_opts){.root = t->dir}, err));
    MYTH_TRY(put_uncommitted(a, t, r, under, err));
    st = myth_revision_commits(r, under, on_commit, &s, &end, err);
    if (st == MYTH_EIO && a->is_found) { /* what was found before is not lost */
        myth_reply_note(a, true, "the commits could not be read: %.120s", err->msg);
        t->n_missed++;
        st = MYTH_OK;
    }
    if (st == MYTH_OK && under[0] && !a->is_found)
        note_nothing(a, t, under);
    if (end == MYTH_COMMITS_LIMIT)
        myth_reply_note(a, true, "only the newest %d commits were looked at", MYTH_REVISION_WALK);
    if (end == MYTH_COMMITS_SHALLOW)
        myth_reply_note(a, true,
                        "the clone is shallow: older commits, and what its oldest changed, are not here; git "
                        "fetch --unshallow brings them");
fail:
    myth_revision_close(r);
    return st;
}

static const myth_tool_arg recent_changes_args[] = {
    {.name = "path", .kind = MYTH_TOOL_TEXT, .help = "only changes of this file, or below this folder"},
    {.name = "max_commits", .kind = MYTH_TOOL_NUMBER, .def = 10, .min = 1, .max = 1000, .help = "most commits"},
};

const myth_tool myth_tool_recent_changes = {
    .name = "recent_changes",
    .title = "Recent changes",
    .help = "Show which files were changed lately: those with changes that are not committed, then those of the newest "
            "commits with their subjects, merges left out. A change is A added, M changed, D deleted, T of another "
            "type, U in conflict, or ? not tracked by git; a renamed file is D and A.",
    .items = "changes",
    .arg = recent_changes_args,
    .n_arg = sizeof(recent_changes_args) / sizeof(recent_changes_args[0]),
    .run = run_recent_changes,
};
