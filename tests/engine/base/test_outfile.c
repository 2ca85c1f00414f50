/* test_outfile.c - output files: no file has the name until it is complete, no temporary file is left, and devices
 * are written in place. */
#include "engine/base/map.h"
#include "engine/base/outfile.h"
#include "engine/make/gguf_write.h"
#include "tests/support/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/myth_outfile_XXXXXX";

static int setup(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    return rmdir(dir); /* fails when a test left a file */
}

static const char *in_dir(const char *name)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

/* How many names the folder has. */
static int n_names(void)
{
    int n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void expect_text(const char *path, const char *wanted)
{
    char text[64] = "";
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    assert_string_equal(text, wanted);
}

static void complete_files_appear_under_their_name(void **state)
{
    (void)state;
    myth_error err = {.code = MYTH_OK};
    const char *path = in_dir("a");
    myth_out o;
    assert_int_equal(myth_out_open(&o, path, MYTH_OUT_SHARED, &err), MYTH_OK);
    assert_true(myth_out_write(o.fd, "xy", 2));
    assert_true(myth_out_write_at(o.fd, "z", 1, 1));
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(myth_out_finish(&o, &err), MYTH_OK);
    expect_text(path, "xz");
    assert_int_equal(n_names(), 1);
    unlink(path);
}

static void abandoned_files_leave_nothing(void **state)
{
    (void)state;
    myth_out o;
    char name[256];
    assert_int_equal(myth_out_open(&o, in_dir("b"), MYTH_OUT_SHARED, NULL), MYTH_OK);
    assert_int_equal(n_names(), 1);
    myth_out_abandon(&o);
    assert_int_equal(n_names(), 0);
    assert_int_equal(myth_out_open(&o, in_dir("none/b"), MYTH_OUT_SHARED, NULL), MYTH_ECREATE);
    assert_null(o.path);
    myth_out_abandon(&o);
    snprintf(name, sizeof(name), "%s", in_dir("folder"));
    assert_int_equal(myth_out_open(&o, name, MYTH_OUT_SHARED, NULL), MYTH_OK);
    mkdir(name, 0700); /* a file is not renamed onto a folder */
    assert_int_equal(myth_out_finish(&o, NULL), MYTH_ECREATE);
    assert_int_equal(n_names(), 1);
    rmdir(name);
    assert_int_equal(myth_out_open(&o, in_dir("d/"), MYTH_OUT_SHARED, NULL), MYTH_ECREATE);
    char longest[sizeof(dir) + 1 + 255]; /* a name of 255 bytes has no room for more: the unfinished file's is cut */
    snprintf(longest, sizeof(longest), "%s/%0255d", dir, 0);
    assert_int_equal(myth_file_write(longest, "x", 1, NULL), MYTH_OK);
    assert_int_equal(unlink(longest), 0);
}

/* The name of the unfinished file used to be NAME.tmp: whoever put a link there chose what was overwritten. */
static void planted_links_are_not_followed(void **state)
{
    (void)state;
    myth_error err = {0};
    char victim[128], link[128], path[128];
    snprintf(victim, sizeof(victim), "%s", in_dir("victim"));
    snprintf(path, sizeof(path), "%s", in_dir("out"));
    snprintf(link, sizeof(link), "%s", in_dir("out.tmp"));
    assert_int_equal(myth_file_write(victim, "precious", 8, &err), MYTH_OK);
    assert_int_equal(symlink(victim, link), 0);
    assert_int_equal(myth_file_write(path, "new", 3, &err), MYTH_OK);
    expect_text(victim, "precious");
    expect_text(path, "new");
    unlink(path);
    assert_int_equal(symlink(victim, path), 0); /* the name itself is a link: it is replaced, not followed */
    assert_int_equal(myth_file_write(path, "newer", 5, &err), MYTH_OK);
    expect_text(victim, "precious");
    expect_text(path, "newer");
    unlink(link);
    unlink(path);
    unlink(victim);
}

static void private_files_are_their_owners(void **state)
{
    (void)state;
    myth_out o;
    struct stat info;
    const mode_t was = umask(022);
    assert_int_equal(myth_out_open(&o, in_dir("p"), MYTH_OUT_PRIVATE, NULL), MYTH_OK);
    assert_int_equal(myth_out_finish(&o, NULL), MYTH_OK);
    assert_int_equal(stat(in_dir("p"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(myth_file_write(in_dir("p"), "x", 1, NULL), MYTH_OK);
    assert_int_equal(stat(in_dir("p"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0644);
    umask(was);
    unlink(in_dir("p"));
}

/* All of them used to write one NAME.tmp, and who came second could not rename it. */
static void many_processes_write_one_name(void **state)
{
    (void)state;
    enum { N = 8, ROUNDS = 40, BYTES = 30000 };
    static char text[BYTES];
    pid_t pid[N];
    for (int i = 0; i < N; i++) {
        assert_true((pid[i] = fork()) >= 0);
        if (pid[i] == 0) {
            memset(text, 'a' + i, BYTES);
            for (int k = 0; k < ROUNDS; k++)
                if (myth_file_write(in_dir("shared"), text, BYTES, NULL) != MYTH_OK)
                    _exit(1);
            _exit(0);
        }
    }
    for (int i = 0; i < N; i++) {
        int st;
        assert_int_equal(waitpid(pid[i], &st, 0), pid[i]);
        assert_true(WIFEXITED(st) && WEXITSTATUS(st) == 0);
    }
    FILE *f = fopen(in_dir("shared"), "rb");
    assert_non_null(f);
    assert_int_equal(fread(text, 1, BYTES, f), BYTES);
    fclose(f);
    for (int i = 1; i < BYTES; i++)
        assert_int_equal(text[i], text[0]); /* of one process alone */
    assert_int_equal(n_names(), 1);
    unlink(in_dir("shared"));
}

static void paused_files_are_the_same_when_they_go_on(void **state)
{
    (void)state;
    myth_out o;
    struct dirent *e;
    char path[128], name[256] = "";
    snprintf(path, sizeof(path), "%s", in_dir("paused"));
    assert_int_equal(myth_out_open(&o, path, MYTH_OUT_SHARED, NULL), MYTH_OK);
    assert_true(myth_out_write(o.fd, "ab", 2));
    myth_out_pause(&o);
    assert_int_equal(o.fd, -1);
    assert_int_equal(myth_out_resume(&o, NULL), MYTH_OK);
    assert_true(myth_out_write_at(o.fd, "c", 1, 1));
    myth_out_pause(&o);
    assert_int_equal(myth_out_finish(&o, NULL), MYTH_OK);
    expect_text(path, "ac");
    unlink(path);
    assert_int_equal(myth_out_open(&o, path, MYTH_OUT_SHARED, NULL), MYTH_OK);
    myth_out_pause(&o);
    DIR *d = opendir(dir);
    while ((e = readdir(d)) != NULL)
        if (strncmp(e->d_name, "paused.", 7) == 0)
            snprintf(name, sizeof(name), "%.80s/%.100s", dir, e->d_name);
    closedir(d);
    assert_int_equal(rename(name, in_dir("moved")), 0); /* kept, so that its inode is not given out again */
    close(open(name, O_WRONLY | O_CREAT, 0600));
    assert_int_equal(myth_out_resume(&o, NULL), MYTH_ECREATE); /* another file has the name */
    myth_out_abandon(&o);
    unlink(in_dir("moved"));
    assert_int_equal(n_names(), 0);
}

static void a_signal_handler_removes_what_was_begun(void **state)
{
    (void)state;
    int st;
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        static myth_out o[4];
        static char path[4][128];
        for (int i = 0; i < 4; i++) {
            snprintf(path[i], sizeof(path[i]), "%s/s%d", dir, i);
            if (myth_out_open(&o[i], path[i], MYTH_OUT_SHARED, NULL) != MYTH_OK)
                _exit(1);
        }
        myth_out_pause(&o[1]);
        if (myth_out_finish(&o[2], NULL) != MYTH_OK || n_names() != 4)
            _exit(2);
        myth_out_remove_begun();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &st, 0), pid);
    assert_true(WIFEXITED(st));
    assert_int_equal(WEXITSTATUS(st), 0);
    assert_int_equal(n_names(), 1); /* the finished one */
    assert_int_equal(unlink(in_dir("s2")), 0);
}

/* Nobody reads it: opening used to wait for ever. */
static void a_pipe_without_a_reader_is_refused(void **state)
{
    (void)state;
    myth_error err = {0};
    char path[128], got[8] = "";
    snprintf(path, sizeof(path), "%s", in_dir("pipe"));
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(20);
    assert_int_equal(myth_file_write(path, "x", 1, &err), MYTH_ECREATE);
    assert_non_null(strstr(err.msg, "start its reader first"));
    const int fd = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(fd >= 0);
    assert_int_equal(myth_file_write(path, "abc", 3, &err), MYTH_OK);
    alarm(0);
    assert_int_equal(read(fd, got, sizeof(got)), 3);
    assert_string_equal(got, "abc");
    close(fd);
    unlink(path);
}

static void devices_are_written_in_place(void **state)
{
    (void)state;
    myth_error err = {.code = MYTH_OK};
    myth_mem *mem;
    myth_gguf_writer *g = NULL;
    struct stat info;
    assert_int_equal(myth_file_write("/dev/null", "x", 1, &err), MYTH_OK);
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_gguf_open(&g, mem, "/dev/null", 1, &err), MYTH_ECREATE); /* a model's head is written last */
    assert_int_equal(myth_mem_close(mem), 0);
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    assert_int_not_equal(access("/dev/null.tmp", F_OK), 0);
}

static int fails_below(const char *name, const char *at)
{
    char failed[PATH_MAX];
    const int e = myth_out_folders(failed, in_dir(name));
    if (e && strcmp(failed, in_dir(at)) != 0)
        return -1;
    return e;
}

static void missing_folders_are_made(void **state)
{
    char failed[PATH_MAX];
    struct stat info;
    int status = -1;
    (void)state;
    assert_int_equal(myth_out_folders(failed, in_dir("a/b/file")), 0);
    assert_int_equal(myth_out_folders(failed, in_dir("a/b/file")), 0); /* they are there */
    assert_int_equal(stat(in_dir("a/b"), &info), 0);
    assert_true(S_ISDIR(info.st_mode) && (info.st_mode & 0777) == 0700);
    assert_int_equal(access(in_dir("a/b/file"), F_OK), -1);
    assert_int_equal(myth_out_folders(failed, "file"), 0);
    assert_int_equal(myth_out_folders(failed, "/file"), 0);
    assert_int_equal(myth_out_folders(failed, ""), 0);
    close(creat(in_dir("a/is_file"), 0600));
    assert_int_equal(fails_below("a/is_file/b/file", "a/is_file/b"), ENOTDIR);
    /* the reason is that of mkdir, not that the folder is not there */
    assert_int_equal(chmod(dir, 0555), 0);
    const pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(1);
        _exit(fails_below("none/b/file", "none") == EACCES ? 0 : 2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(chmod(dir, 0700), 0);
    assert_true(unlink(in_dir("a/is_file")) == 0 && rmdir(in_dir("a/b")) == 0 && rmdir(in_dir("a")) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complete_files_appear_under_their_name),
        cmocka_unit_test(abandoned_files_leave_nothing),
        cmocka_unit_test(planted_links_are_not_followed),
        cmocka_unit_test(private_files_are_their_owners),
        cmocka_unit_test(many_processes_write_one_name),
        cmocka_unit_test(paused_files_are_the_same_when_they_go_on),
        cmocka_unit_test(a_signal_handler_removes_what_was_begun),
        cmocka_unit_test(a_pipe_without_a_reader_is_refused),
        cmocka_unit_test(devices_are_written_in_place),
        cmocka_unit_test(missing_folders_are_made),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
