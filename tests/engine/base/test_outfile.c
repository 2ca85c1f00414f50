/* test_outfile.c - output files: nothing under the name until it is complete, nothing left behind, devices stay what
 * they are. */
#include "engine/base/map.h"
#include "engine/base/outfile.h"
#include "engine/make/gguf_write.h"
#include "tests/support/check.h"

#include <sys/stat.h>
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

static void complete_files_appear_under_their_name(void **state)
{
    (void)state;
    myth_error err = {.code = MYTH_OK};
    const char *path = in_dir("a");
    char text[8] = "";
    int fd;
    assert_int_equal(myth_out_open(&fd, path, true, &err), MYTH_OK);
    assert_true(myth_out_write(fd, "xy", 2));
    assert_true(myth_out_write_at(fd, "z", 1, 1));
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(myth_out_finish(path, fd, &err), MYTH_OK);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(text, 1, sizeof(text), f), 2);
    fclose(f);
    assert_string_equal(text, "xz");
    unlink(path);
}

static void abandoned_files_leave_nothing(void **state)
{
    (void)state;
    int fd;
    assert_int_equal(myth_out_open(&fd, in_dir("b"), true, NULL), MYTH_OK);
    myth_out_abandon(in_dir("b"), fd);
    assert_int_not_equal(access(in_dir("b.tmp"), F_OK), 0);
    assert_int_equal(myth_out_open(&fd, in_dir("none/b"), true, NULL), MYTH_ECREATE);
    assert_int_equal(fd, -1);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complete_files_appear_under_their_name),
        cmocka_unit_test(abandoned_files_leave_nothing),
        cmocka_unit_test(devices_are_written_in_place),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
