/* test_index_unread.c - files and directories that may not be read: they are named, the commands exit with 3, and
 * their rows stay in the index until the files are known to be gone. Runs in a child process that is not root. */
#include "index_tree.h"
#include "retrieval/rank/search.h"

#include <grp.h>
#include <sys/wait.h>

enum { NOBODY = 65534 };

static myth_mem *mem;

/* In a child of another user, who owns the files of this test; its exit status comes back. */
static int as_nobody(int (*run)(void))
{
    char line[600];
    int status;
    if (getuid() == 0) {
        snprintf(line, sizeof(line), "chown -R %d:%d '%s'", NOBODY, NOBODY, files_dir());
        assert_int_equal(system(line), 0);
    }
    fflush(stdout);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (getuid() == 0 && (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
            _exit(99);
        _exit(run());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

typedef struct {
    char text[1024];
    uint32_t n;
} told;

static void tell(void *arg, const char *path, myth_scan_reason reason, const char *why)
{
    told *t = arg;
    const size_t at = strlen(t->text);
    t->n++;
    snprintf(t->text + at, sizeof(t->text) - at, "%s: %s: %s\n", path, myth_scan_reason_name(reason), why ? why : "-");
}

/* Updates; returns how many files the index has, -1 when it failed. */
static int update(told *t)
{
    myth_index *x = NULL;
    myth_index_stats stats;
    myth_error err = {0};
    const myth_index_opts opts = {.root = files_path("t"), .path = files_path("t.db"), .n_threads = 2};
    const myth_index_update_opts how = {.unread = tell, .unread_arg = t};
    *t = (told){.n = 0};
    myth_status st = myth_index_open(&x, mem, &opts, &err);
    if (st == MYTH_OK)
        st = myth_index_update(x, &how, &stats, &err);
    myth_index_close(x);
    if (st != MYTH_OK)
        fprintf(stderr, "%s\n", err.msg);
    return st == MYTH_OK && stats.n_lost == t->n ? (int)stats.n_file : -1;
}

static uint32_t hits_of(const char *query)
{
    myth_index *x = NULL;
    myth_hits hits = {0};
    const myth_index_opts opts = {.root = files_path("t"), .path = files_path("t.db"), .is_read_only = true};
    const myth_search_opts so = {.query = query, .k = 10};
    uint32_t n = 0;
    if (myth_index_open(&x, mem, &opts, NULL) == MYTH_OK && myth_search(&hits, x, &so, NULL) == MYTH_OK)
        n = hits.n_hit;
    myth_hits_free(&hits);
    myth_index_close(x);
    return n;
}

#define EXPECT(x)                                                     \
    do {                                                              \
        if (!(x)) {                                                   \
            fprintf(stderr, "line %d: %s\n%s", __LINE__, #x, t.text); \
            return 1;                                                 \
        }                                                             \
    } while (0)

/* A directory, a file that has changed, and a new one. */
static int rows_stay(void)
{
    told t;
    EXPECT(update(&t) == 5 && t.n == 0);
    EXPECT(chmod(files_path("t/closed"), 0) == 0);
    files_text("t/changed.txt", "another cherry, and a longer text\n");
    files_text("t/new.txt", "elderberry\n");
    EXPECT(chmod(files_path("t/changed.txt"), 0) == 0 && chmod(files_path("t/new.txt"), 0) == 0);
    for (int i = 0; i < 2; i++) { /* a second look finds the same */
        EXPECT(update(&t) == 5 && t.n == 3);
        EXPECT(strstr(t.text, "closed: unreadable: Permission denied"));
        EXPECT(strstr(t.text, "changed.txt: unreadable: Permission denied"));
        EXPECT(strstr(t.text, "new.txt: unreadable: Permission denied"));
        EXPECT(hits_of("apple") == 1 && hits_of("banana") == 1 && hits_of("cherry") == 1 && hits_of("damson") == 1);
        EXPECT(hits_of("elderberry") == 0 && hits_of("another") == 0);
    }
    EXPECT(unlink(files_path("t/changed.txt")) == 0 && chmod(files_path("t/closed"), 0755) == 0);
    EXPECT(unlink(files_path("t/closed/deep/apple.txt")) == 0); /* now it is known */
    EXPECT(update(&t) == 3 && t.n == 1);
    EXPECT(hits_of("apple") == 0 && hits_of("cherry") == 0 && hits_of("banana") == 1);
    EXPECT(chmod(files_path("t/new.txt"), 0644) == 0);
    EXPECT(update(&t) == 4 && t.n == 0 && hits_of("elderberry") == 1);
    return 0;
}

/* The root itself is an error, and the index stays as it is. */
static int root_is_closed(void)
{
    told t;
    EXPECT(chmod(files_path("t"), 0) == 0);
    EXPECT(update(&t) == -1);
    EXPECT(chmod(files_path("t"), 0755) == 0);
    EXPECT(update(&t) == 4 && hits_of("banana") == 1);
    return 0;
}

static int shell(const char *command)
{
    char line[1200];
    snprintf(line, sizeof(line), "HOME='%s' XDG_CACHE_HOME='%s' XDG_CONFIG_HOME= '%s' %s", files_dir(),
             files_path("cache"), getenv("MYTHOS_BIN"), command);
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int commands_say_so(void)
{
    told t = {.n = 0};
    char command[800], said[800];
    static const struct {
        const char *command;
        int whole, part; /* exit codes */
    } row[] = {
        {"search 'open door'", 0, 3},
        {"search qqqzzz", 1, 3},
        {"search --mode literal open_door", 0, 3},
        {"symbols open_door", 0, 3},
        {"symbols nowhere_at_all", 1, 3},
        {"search --mode literal qqqzzz", 1, 3},
        {"index", 0, 3},
    };
    for (int is_closed = 0; is_closed < 2; is_closed++) {
        EXPECT(!is_closed || chmod(files_path("c/closed"), 0) == 0);
        for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
            const bool is_index = strcmp(row[i].command, "index") == 0;
            snprintf(command, sizeof(command), "%s '%s' >'%s' 2>'%s'", row[i].command, files_path("c"),
                     files_path("out"), files_path("err"));
            const int code = shell(command);
            snprintf(said, sizeof(said), "grep -q '%s' '%s'",
                     strstr(row[i].command, "literal") ? "could not be read" : "closed", files_path("err"));
            if (code != (is_closed ? row[i].part : row[i].whole) || (is_closed && system(said) != 0)) {
                snprintf(t.text, sizeof(t.text), "%s: exit %d, closed %d%s\n", row[i].command, code, is_closed,
                         is_index ? "" : ", or it does not say what");
                EXPECT(false);
            }
        }
    }
    EXPECT(chmod(files_path("c/closed"), 0755) == 0);
    return 0;
}

static void what_cannot_be_read_stays(void **state)
{
    (void)state;
    files_mkdir("t");
    files_mkdir("t/closed");
    files_mkdir("t/closed/deep");
    files_text("t/closed/deep/apple.txt", "apple\n");
    files_text("t/closed/banana.txt", "banana\n");
    files_text("t/changed.txt", "cherry\n");
    files_text("t/same.txt", "damson\n");
    files_text("t/fig.txt", "fig\n");
    assert_int_equal(as_nobody(rows_stay), 0);
    assert_int_equal(as_nobody(root_is_closed), 0);
}

static void commands_end_with_3(void **state)
{
    (void)state;
    files_mkdir("cache");
    files_mkdir("c");
    files_mkdir("c/closed");
    files_text("c/closed/door.c", "int open_door(int n)\n{\n    return n;\n}\n");
    files_text("c/use.c", "int open_door(int n);\nint enter(void)\n{\n    return open_door(1);\n}\n");
    assert_int_equal(as_nobody(commands_say_so), 0);
}

static int begin(void **state)
{
    (void)state;
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_read_stays),
        cmocka_unit_test(commands_end_with_3),
    };
    return cmocka_run_group_tests_name("index_unread", tests, begin, end);
}
