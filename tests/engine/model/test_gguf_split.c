/* test_gguf_split.c - split GGUF files: any part opens the whole model, with its bytes and its ledger; parts that do
 * not belong together are refused. A folder with several GGUF files. */
#include "tests/support/files.h"
#include "tests/support/split.h"

#include "engine/engine.h"
#include "engine/make/convert.h"

#include <sys/stat.h>
#include <unistd.h>

static myth_mem *mem;
static myth_weights *whole; /* the same model in one file */

static myth_weights *open_ok(const char *spec, myth_weights_level level, bool pread)
{
    myth_weights *w = NULL;
    myth_error err = {0};
    if (myth_weights_open(&w, mem, spec, &(myth_weights_opts){.level = level, .pread = pread}, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
    return w;
}

static int set_up(void **state)
{
    (void)state;
    char path[1024];
    myth_model m;
    myth_error err = {0};
    check_path(path, sizeof(path), "tests/golden/models/gemma1-mqa");
    assert_int_equal(myth_mem_open(&mem, 0, NULL), MYTH_OK);
    assert_int_equal(myth_model_open(&m, mem, path, NULL, &err), MYTH_OK);
    const myth_convert_opts to_f32 = {.path = files_path("whole.gguf"), .type = MYTH_F32};
    assert_int_equal(myth_convert(&m, &to_f32, &err), MYTH_OK);
    myth_model_close(&m);
    whole = open_ok(files_path("whole.gguf"), MYTH_WEIGHTS_DATA, false);
    files_mkdir("s");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    myth_weights_close(whole);
    return myth_mem_close(mem) != 0;
}

/* Writes the parts of m in the folder s, which holds nothing else. */
static void make(const split_spec *s)
{
    files_clear("s");
    split_make(files_path("s/m"), whole, mem, s);
}

static const char *part(uint32_t no, uint32_t count)
{
    char name[64];
    snprintf(name, sizeof(name), "s/m-%05u-of-%05u.gguf", no, count);
    return files_path(name);
}

static void same_tensors(const myth_weights *w)
{
    assert_int_equal(myth_weights_n_tensor(w), myth_weights_n_tensor(whole));
    assert_int_equal(myth_weights_bytes(w), myth_weights_bytes(whole));
    for (uint32_t i = 0; i < myth_weights_n_tensor(whole); i++) {
        const myth_tensor *x = myth_weights_at(whole, i), *y = myth_weights_find(w, x->name.text);
        assert_true(y && y->bytes == x->bytes && y->dtype == x->dtype);
        assert_memory_equal(x->data, y->data, x->bytes);
    }
}

/* ---- what is read ---- */

static void any_part_opens_the_whole_model(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 4; n++)
        for (int is_empty = 0; is_empty < 2; is_empty++) {
            make(&(split_spec){.n_part = n, .is_first_empty = is_empty});
            for (uint32_t no = 0; no <= n; no++)
                for (int pread = 0; pread < 2; pread++) {
                    const char *spec = no ? part(no, n) : files_path("s");
                    myth_weights *w = open_ok(spec, MYTH_WEIGHTS_DATA, pread);
                    assert_int_equal(myth_weights_n_file(w), n);
                    same_tensors(w);
                    if (no) {
                        assert_string_equal(myth_weights_path(w), part(1, n));
                        assert_string_equal(myth_weights_name(w), strrchr(part(1, n), '/') + 1);
                    }
                    assert_int_equal(myth_weights_check(w, NULL), MYTH_OK);
                    myth_weights_close(w);
                    files_expect("config", spec, MYTH_WEIGHTS_CONFIG, MYTH_OK);
                }
        }
}

static void plan_and_ledger_read_the_same(void **state)
{
    (void)state;
    uint64_t booked[2], mapped[2];
    make(&(split_spec){.n_part = 3});
    for (int level = MYTH_WEIGHTS_HEADER; level <= MYTH_WEIGHTS_DATA; level++) {
        myth_mem *own;
        myth_weights *w = NULL;
        assert_int_equal(myth_mem_open(&own, 0, NULL), MYTH_OK);
        assert_int_equal(
            myth_weights_open(&w, own, part(2, 3), &(myth_weights_opts){.level = (myth_weights_level)level}, NULL),
            MYTH_OK);
        const int i = level - MYTH_WEIGHTS_HEADER;
        booked[i] = myth_weights_booked(w);
        mapped[i] = myth_weights_mapped(w);
        assert_int_equal(myth_mem_get(own, 0, MYTH_MEM_OTHER).live, booked[i]);
        assert_int_equal(myth_mem_get(own, 0, MYTH_MEM_OTHER).peak, booked[i]);
        assert_int_equal(myth_mem_get(own, 0, MYTH_MEM_WEIGHTS_MAPPED).live, mapped[i]);
        myth_weights_close(w);
        assert_int_equal(myth_mem_close(own), 0);
    }
    assert_int_equal(booked[0], booked[1]);
    assert_int_equal(mapped[0], mapped[1]);
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    make(&(split_spec){.n_part = 3});
    for (uint64_t nth = 1;; nth++) {
        myth_mem *own;
        myth_weights *w = NULL;
        assert_int_equal(myth_mem_open(&own, 0, NULL), MYTH_OK);
        myth_mem_set_fault(own, &(myth_fault){.fail_nth = nth});
        const myth_status st = myth_weights_open(&w, own, part(2, 3), NULL, NULL);
        const bool was_hit = myth_mem_n_alloc(own) >= nth;
        assert_int_equal(st, was_hit ? MYTH_ENOMEM : MYTH_OK);
        myth_weights_close(w);
        assert_int_equal(myth_mem_close(own), 0);
        if (!was_hit)
            break;
    }
}

/* The cache of the hub: links with the names of the parts lead to files that are named after their hash. */
static void parts_are_found_beside_the_link(void **state)
{
    (void)state;
    char to[64], from[128];
    make(&(split_spec){.n_part = 2});
    files_mkdir("hub");
    files_mkdir("hub/models--org--m");
    files_mkdir("hub/models--org--m/refs");
    files_mkdir("hub/models--org--m/blobs");
    files_mkdir("hub/models--org--m/snapshots");
    files_mkdir("hub/models--org--m/snapshots/0a");
    files_text("hub/models--org--m/refs/main", "0a");
    for (uint32_t i = 1; i <= 2; i++) {
        snprintf(from, sizeof(from), "hub/models--org--m/blobs/%x", 0xb00 + i);
        assert_int_equal(rename(part(i, 2), files_path(from)), 0);
        snprintf(to, sizeof(to), "../../blobs/%x", 0xb00 + i);
        snprintf(from, sizeof(from), "hub/models--org--m/snapshots/0a/m-%05u-of-00002.gguf", i);
        assert_int_equal(symlink(to, files_path(from)), 0);
    }
    const char *const spec[] = {"org/m", files_path("hub/models--org--m/snapshots/0a"),
                                files_path("hub/models--org--m/snapshots/0a/m-00002-of-00002.gguf")};
    for (int i = 0; i < 3; i++) {
        myth_weights *w = NULL;
        myth_error err = {0};
        const char *hub = files_path("hub");
        if (myth_weights_open(&w, mem, spec[i], &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA, .hub_dir = hub},
                              &err) != MYTH_OK)
            fail_msg("%s", err.msg);
        same_tensors(w);
        myth_weights_close(w);
    }
}

/* ---- what is refused ---- */

static void refuse(const char *what, const char *spec, myth_status status, const char *text)
{
    myth_error err = {0};
    const myth_status st = files_try(what, spec, MYTH_WEIGHTS_DATA, &err);
    if (st != status || !strstr(err.msg, text))
        fail_msg("%s: got %s (%s), expected %s", what, myth_status_name(st), err.msg, text);
}

static void parts_that_do_not_belong_together_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *what, *text;
        split_spec spec;
    } row[] = {
        {"a tensor twice", "split.tensors.count: got", {.n_part = 3, .has_twice = true}},
        {"a tensor twice that counts", "appears twice", {.n_part = 3, .has_twice = true, .n_more = 1}},
        {"fewer tensors than the count", "but the parts hold", {.n_part = 3, .n_tensor = 4096}},
        {"more tensors than the count", "but this part holds", {.n_part = 2, .n_tensor = 1}},
        {"more tensors in the second part", "but the parts hold more", {.n_part = 2, .n_tensor = 20}},
        {"two parts with one number", "expected part 3 of 3", {.n_part = 3, .has_no = true, .no = {0, 1, 1}}},
        {"parts in another order", "expected part 2 of 3", {.n_part = 3, .has_no = true, .no = {0, 2, 1}}},
        {"no first part", "expected 0 in the first part", {.n_part = 3, .has_no = true, .no = {1, 1, 2}}},
        {"a count above the names'", "does not end in -00001-of-00004.gguf", {.n_part = 3, .count = 4}},
        {"a count below the names'", "does not end in -00001-of-00002.gguf", {.n_part = 3, .count = 2}},
        {"a count of many", "split.count: expected", {.n_part = 3, .count = 1025}},
        {"a number past the count", "split.no: expected", {.n_part = 3, .has_no = true, .no = {3, 1, 2}}},
        {"too many tensors", "split.tensors.count: expected", {.n_part = 3, .n_tensor = 8193}},
        {"less than no tensors", "split.tensors.count: expected", {.n_part = 3, .n_tensor = UINT32_MAX}},
        {"no number", "split.no: expected", {.n_part = 3, .without = "split.no"}},
        {"no number of tensors", "split.tensors.count: expected", {.n_part = 3, .without = "split.tensors.count"}},
        {"another family", "a part of another model", {.n_part = 3, .architecture = "gemma2"}},
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        make(&row[i].spec);
        refuse(row[i].what, part(1, row[i].spec.n_part), MYTH_EFORMAT, row[i].text);
    }
    make(&(split_spec){.n_part = 3, .architecture = "gemma"});
    files_expect("the same family", part(1, 3), MYTH_WEIGHTS_DATA, MYTH_OK);
}

static void a_part_that_is_missing_or_strange_is_named(void **state)
{
    (void)state;
    for (uint32_t no = 1; no <= 3; no++) {
        char text[64];
        make(&(split_spec){.n_part = 3});
        assert_int_equal(unlink(part(no, 3)), 0);
        snprintf(text, sizeof(text), "part %u of 3 is missing", no);
        refuse(text, part(no == 2 ? 3 : 2, 3), MYTH_ENOTFOUND, text);
    }
    make(&(split_spec){.n_part = 3});
    assert_int_equal(rename(part(2, 3), files_path("other.gguf")), 0);
    refuse("a part under another name", files_path("other.gguf"), MYTH_EFORMAT, "does not end in -00002-of-00003.gguf");
    refuse("a part is missing", files_path("s"), MYTH_ENOTFOUND, "part 2 of 3 is missing");
    assert_int_equal(symlink(files_path("other.gguf"), part(2, 3)), 0);
    refuse("a link out of the folder", part(1, 3), MYTH_EFORMAT, "links to a file outside its folder");
    unlink(part(2, 3));
    files_text("s/m-00002-of-00003.gguf", "hello");
    refuse("a part that is no model", part(1, 3), MYTH_EFORMAT, "m-00002-of-00003.gguf: offset 4: not a GGUF file");
    assert_int_equal(rename(files_path("other.gguf"), part(2, 3)), 0);
    struct stat info;
    assert_int_equal(stat(part(2, 3), &info), 0);
    for (off_t n = info.st_size - 1; n > 0; n = n > 2000 ? n - 997 : n - 7) {
        assert_int_equal(truncate(part(2, 3), n), 0);
        refuse("a part that is cut off", part(1, 3), MYTH_EFORMAT, "m-00002-of-00003.gguf: ");
    }
}

/* ---- a folder of several ---- */

static void a_folder_of_several_models_lists_them(void **state)
{
    (void)state;
    make(&(split_spec){.n_part = 2});
    files_text("s/a.gguf", "x");
    refuse("a set and another", files_path("s"), MYTH_ENOTFOUND,
           "3 .gguf files that are not the parts of one; name one of them: a.gguf, m-00001-of-00002.gguf, "
           "m-00002-of-00002.gguf");
    files_text("s/b.gguf", "x");
    refuse("four files", files_path("s"), MYTH_ENOTFOUND, "a.gguf, b.gguf, m-00001-of-00002.gguf and 1 more");
    files_clear("s");
    files_text("s/m-00001-of-00002.gguf", "x");
    files_text("s/n-00002-of-00002.gguf", "x");
    refuse("parts of two", files_path("s"), MYTH_ENOTFOUND, "m-00001-of-00002.gguf, n-00002-of-00002.gguf");
    files_text("s/config.json", "{}");
    refuse("and a config.json", files_path("s"), MYTH_ENOTFOUND, "2 .gguf files that are not the parts of one");
}

static void names_of_parts(void **state)
{
    (void)state;
    static const char *const none[] = {"m.gguf",
                                       "-00001-of-00002.gguf",
                                       "d/-00001-of-00002.gguf",
                                       "m-00000-of-00002.gguf",
                                       "m-00003-of-00002.gguf",
                                       "m-00001-of-00001.gguf",
                                       "m-0001-of-00002.gguf",
                                       "m-00001-of-0000x.gguf",
                                       "m-00001-of-00002.GGUF",
                                       ""};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_false(myth_weights_part_path(path, none[i], 0));
    assert_true(myth_weights_part_path(path, "d/m-00003-of-00012.gguf", 11));
    assert_string_equal(path, "d/m-00012-of-00012.gguf");
    assert_false(myth_weights_part_path(path, "d/m-00003-of-00012.gguf", 12));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_part_opens_the_whole_model),
        cmocka_unit_test(plan_and_ledger_read_the_same),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(parts_are_found_beside_the_link),
        cmocka_unit_test(parts_that_do_not_belong_together_are_refused),
        cmocka_unit_test(a_part_that_is_missing_or_strange_is_named),
        cmocka_unit_test(a_folder_of_several_models_lists_them),
        cmocka_unit_test(names_of_parts),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
