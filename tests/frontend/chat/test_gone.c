/* test_gone.c - turns that went because a context was full are in the chat's file, and a longer context has them again:
 * texts, order, pins; what a person took out stays out; the bound of what is kept; damage. */
#define _GNU_SOURCE /* memmem */
#include "tests/support/files.h"
#include "tests/support/rig.h"

#include "frontend/chat/saved.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { LONG = 2048, SHORT = 256, MOST = 8, N_TURN = 20 };

static rig r;
static myth_session s;
static myth_chat_loaded loaded;
static uint64_t n_file;

static void open_chat(uint32_t n_ctx, myth_on_full how)
{
    const myth_session_opts so = {.on_full = how, .n_most = MOST};
    myth_engine_opts o = {.n_ctx = n_ctx, .device = "cpu", .page_tok = 16};
    myth_session_needs(&o, &so);
    rig_open(&r, "random:gemma3-tiny:f32", &o);
    assert_ok(myth_session_open(&s, r.engine, &so, &rig_err));
}

static void close_chat(void)
{
    myth_session_close(&s);
    rig_close(&r);
}

static myth_chat_reply say(const char *text)
{
    myth_chat_reply got;
    const myth_message m = {MYTH_ROLE_USER, {text, strlen(text)}};
    assert_ok(myth_talk_add(&s.talk, &m, NULL, &rig_err));
    assert_ok(myth_session_answer(&s, NULL, &got, &rig_err));
    assert_int_not_equal(got.finish, MYTH_FINISH_REFUSED);
    return got;
}

static const char *line_of(int i)
{
    static char text[64];
    snprintf(text, sizeof(text), "message \"%d\" of\nthis chat", i);
    return text;
}

/* A chat of N_TURN turns, of which the third is pinned, in the file. */
static void make_chat(const char *path)
{
    open_chat(LONG, MYTH_FULL_AUTO);
    for (int i = 0; i < N_TURN; i++) {
        const myth_message m[2] = {{MYTH_ROLE_USER, {line_of(i), strlen(line_of(i))}},
                                   {MYTH_ROLE_ASSISTANT, {"said", 4}}};
        assert_ok(myth_talk_add(&s.talk, &m[0], NULL, &rig_err));
        assert_ok(myth_talk_add(&s.talk, &m[1], NULL, &rig_err));
    }
    myth_talk_pin(&s.talk, 2, true);
    assert_ok(myth_chat_save_talk(&s, path, &rig_err));
    assert_int_equal(s.gone.bytes, 0);
    close_chat();
}

static void assert_turn(size_t turn, const char *text, bool is_pinned)
{
    const myth_talk_message *m = &s.talk.msg[2 * turn];
    assert_true(m->m.role == MYTH_ROLE_USER && m[1].m.role == MYTH_ROLE_ASSISTANT);
    if (!myth_str_is(m->m.text, text))
        fail_msg("turn %zu is %.*s, not %s", turn, (int)m->m.text.len, m->m.text.text, text);
    assert_int_equal(m->is_pinned, is_pinned);
}

static void assert_all(int n_new)
{
    assert_int_equal(s.talk.n, 2 * (N_TURN + n_new));
    for (int i = 0; i < N_TURN; i++)
        assert_turn((size_t)i, line_of(i), i == 2);
    for (int i = 0; i < n_new; i++)
        assert_turn((size_t)(N_TURN + i), i ? "and on" : "on", false);
}

static void a_longer_context_has_them_again(void **state)
{
    (void)state;
    static const myth_on_full how[] = {MYTH_FULL_RECOMPUTE, MYTH_FULL_DROP};
    for (int h = 0; h < 2; h++) {
        const char *path = files_path("a.chat");
        make_chat(path);
        for (int i = 0; i < 2; i++) { /* twice: what is gone already stays in the file */
            open_chat(SHORT, how[h]);
            assert_ok(myth_chat_load(&s, path, &loaded, &rig_err));
            assert_int_equal(loaded.n_turn_back, 0);
            const uint64_t n_gone = s.gone.bytes;
            assert_int_equal(n_gone > 0, i);
            const myth_chat_reply got = say(i ? "and on" : "on");
            assert_true(i || got.n_turn_gone > 5);
            assert_true(s.gone.bytes >= n_gone && s.talk.n < N_TURN);
            assert_ok(i ? myth_chat_save(&s, path, NULL, &n_file, &rig_err) : myth_chat_save_talk(&s, path, &rig_err));
            close_chat();
        }
        open_chat(LONG, MYTH_FULL_REFUSE); /* which could not let them go again */
        assert_ok(myth_chat_load(&s, path, &loaded, &rig_err));
        assert_true(loaded.n_turn_back == 0 && s.talk.n < N_TURN && s.gone.bytes > 0);
        close_chat();
        open_chat(LONG, how[h]);
        assert_ok(myth_chat_load(&s, path, &loaded, &rig_err));
        assert_true(loaded.n_turn_back > 5 && !loaded.is_warm);
        assert_int_equal(s.gone.bytes, 0);
        assert_all(2);
        assert_int_equal(say("more").n_turn_gone, 0);
        assert_ok(myth_chat_save(&s, path, NULL, &n_file, &rig_err));
        struct stat st;
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_size, n_file);
        assert_ok(myth_chat_load(&s, path, &loaded, &rig_err));
        assert_true(loaded.is_warm && loaded.n_turn_back == 0);
        close_chat();
    }
}

/* Turns that have no room when a file is read, and those of a chat that is kept while it is moved. */
static void they_are_kept_on_every_way(void **state)
{
    (void)state;
    const char *path = files_path("b.chat");
    myth_chat_kept kept;
    bool is_warm;
    make_chat(path);
    open_chat(SHORT / 4, MYTH_FULL_AUTO);
    assert_ok(myth_chat_load(&s, path, &loaded, &rig_err));
    assert_true(loaded.n_turn_gone >= 10 && s.gone.bytes > 0);
    for (int in_memory = 0; in_memory < 2; in_memory++) {
        assert_ok(myth_chat_keep(&kept, &s, in_memory, &rig_err));
        const uint64_t n_gone = s.gone.bytes;
        const size_t n = s.talk.n;
        assert_ok(myth_chat_take_back(&s, &kept, &is_warm, &rig_err));
        assert_true(s.gone.bytes == n_gone && s.talk.n == n);
        assert_ok(myth_chat_kept_save(&kept, path, &rig_err));
        myth_chat_kept_close(&kept);
    }
    close_chat();
    open_chat(LONG, MYTH_FULL_AUTO);
    assert_ok(myth_chat_load(&s, path, &loaded, &rig_err));
    assert_all(0);
    close_chat();
}

/* /drop and /undo take turns out of the file too. */
static void what_is_taken_out_stays_out(void **state)
{
    (void)state;
    const char *path = files_path("c.chat");
    make_chat(path);
    open_chat(LONG, MYTH_FULL_AUTO);
    assert_ok(myth_chat_load(&s, path, &loaded, &rig_err));
    myth_talk_drop(&s.talk, 1);
    myth_talk_drop_turn(&s.talk, 4);
    assert_ok(myth_chat_save_talk(&s, path, &rig_err));
    close_chat();
    open_chat(SHORT, MYTH_FULL_AUTO);
    assert_ok(myth_chat_load(&s, path, &loaded, &rig_err));
    say("on");
    assert_ok(myth_chat_save_talk(&s, path, &rig_err));
    close_chat();
    open_chat(LONG, MYTH_FULL_AUTO);
    assert_ok(myth_chat_load(&s, path, &loaded, &rig_err));
    assert_int_equal(s.talk.n, 2 * (N_TURN - 1));
    assert_turn(0, line_of(1), false);
    assert_turn(3, line_of(4), false);
    assert_turn(4, line_of(6), false);
    close_chat();
}

static void they_come_back_while_they_have_room(void **state)
{
    (void)state;
    const char *path = files_path("d.chat");
    make_chat(path);
    open_chat(SHORT / 4, MYTH_FULL_AUTO);
    assert_ok(myth_chat_load(&s, path, &loaded, &rig_err));
    assert_ok(myth_chat_save_talk(&s, path, &rig_err));
    close_chat();
    open_chat(SHORT / 2, MYTH_FULL_AUTO);
    assert_ok(myth_chat_load(&s, path, &loaded, &rig_err));
    assert_int_equal(s.talk.n, SHORT / 2 / 4); /* the messages that a context takes */
    assert_turn(0, line_of(2), true);
    assert_turn(1, line_of(N_TURN - 15), false); /* the newest ones */
    assert_turn(15, line_of(N_TURN - 1), false);
    close_chat();
}

/* The newest turns of MYTH_GONE_MOST bytes are kept, each whole. */
static void there_is_a_bound(void **state)
{
    (void)state;
    enum { TEXT = 1 << 20, N = 40 };
    char *text = malloc(TEXT + 1);
    myth_talk talk;
    myth_gone gone = {0};
    size_t n_turn = 0;
    open_chat(SHORT, MYTH_FULL_AUTO);
    assert_non_null(text);
    memset(text, 'x', TEXT);
    myth_talk_open(&talk, r.mem, &r.model, false, SIZE_MAX);
    for (int i = 0; i < N; i++) {
        const int n = snprintf(text, TEXT, "%d", i);
        const myth_message m = {MYTH_ROLE_USER, {text, TEXT}};
        text[n] = 'x';
        assert_ok(myth_talk_add(&talk, &m, NULL, &rig_err));
        if (talk.n < 2)
            continue;
        assert_ok(myth_talk_set_aside(&talk, 1, &rig_err));
        assert_ok(myth_gone_add(&gone, &talk, &rig_err));
        myth_talk_forget(&talk);
        assert_true(gone.bytes <= MYTH_GONE_MOST);
    }
    assert_ok(myth_gone_take_back(&gone, &talk, SIZE_MAX, &n_turn, &rig_err));
    assert_int_equal(gone.bytes, 0);
    assert_in_range(n_turn, 7, 15);
    assert_int_equal(talk.n, n_turn + 1);
    for (size_t i = 0; i < talk.n; i++) {
        assert_int_equal(atoi(talk.msg[i].m.text.text), N - talk.n + i);
        assert_int_equal(talk.msg[i].m.text.len, TEXT);
    }
    myth_talk_close(&talk);
    myth_gone_close(&gone);
    free(text);
    close_chat();
}

static void damage_is_refused(void **state)
{
    (void)state;
    const char *path = files_path("e.chat");
    static char file[1 << 16];
    make_chat(path);
    open_chat(SHORT, MYTH_FULL_AUTO);
    assert_ok(myth_chat_load(&s, path, &loaded, &rig_err));
    say("on");
    assert_ok(myth_chat_save_talk(&s, path, &rig_err));
    const size_t n = s.talk.n;
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    const size_t len = fread(file, 1, sizeof(file), f);
    fclose(f);
    file[len - 20] ^= 1;
    files_put("bad.chat", file, len);
    assert_int_equal(myth_chat_load(&s, files_path("bad.chat"), &loaded, &rig_err), MYTH_EFORMAT);
    assert_non_null(strstr(rig_err.msg, "damaged"));
    file[len - 20] ^= 1;
    files_put("bad.chat", file, len - 1);
    assert_int_equal(myth_chat_load(&s, files_path("bad.chat"), &loaded, &rig_err), MYTH_EFORMAT);
    assert_non_null(strstr(rig_err.msg, "cut off"));
    assert_int_equal(s.talk.n, n);
    close_chat();
}

/* No byte of the header changes without being noticed, be it one of a message. A file of the first version, whose
 * header has no sum, is read. */
static void a_changed_message_is_noticed(void **state)
{
    (void)state;
    static const char sum[] = ",\"header_xxh3\":\"";
    const char *path = files_path("g.chat");
    static char file[1 << 20];
    uint64_t rng = check_seed();
    make_chat(path);
    open_chat(LONG, MYTH_FULL_AUTO);
    assert_ok(myth_chat_load(&s, path, &loaded, &rig_err));
    for (int k = 0; k < 2; k++) { /* without the sequence, and with it: then spaces are behind the header */
        assert_ok(k ? myth_chat_save(&s, path, NULL, &n_file, &rig_err) : myth_chat_save_talk(&s, path, &rig_err));
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        const size_t len = fread(file, 1, sizeof(file), f);
        fclose(f);
        const size_t n_head = (size_t)((char *)memchr(file, '\n', len) - file);
        for (uint32_t i = 0, n = check_sample(10000); i < n; i++) {
            const size_t at = check_below(&rng, n_head);
            const char by = (char)(1 << check_below(&rng, 7));
            file[at] ^= by;
            files_put("bad.chat", file, len);
            file[at] ^= by;
            if (myth_chat_load(&s, files_path("bad.chat"), &loaded, &rig_err) != MYTH_EFORMAT)
                fail_msg("byte %zu of %zu, bits %d", at, n_head, by);
        }
        assert_all(0);
        char *end = memmem(file, n_head, sum, sizeof(sum) - 1);
        assert_non_null(end);
        file[sizeof("{\"mythos_chat\":") - 1] = '1';
        files_put("bad.chat", file, len);
        assert_int_equal(myth_chat_load(&s, files_path("bad.chat"), &loaded, &rig_err), MYTH_EFORMAT);
        memset(end, ' ', sizeof(sum) - 1 + 16 + 2);
        *end = '}';
        files_put("old.chat", file, len);
        assert_ok(myth_chat_load(&s, files_path("old.chat"), &loaded, &rig_err));
        assert_all(0);
    }
    close_chat();
}

/* Where the temporary folder takes no file a chat is not read without what it would lose; one that runs says why. */
static void a_place_is_needed(void **state)
{
    (void)state;
    const char *path = files_path("f.chat");
    make_chat(path);
    assert_int_equal(setenv("TMPDIR", files_path("none"), 1), 0);
    open_chat(SHORT / 4, MYTH_FULL_AUTO);
    assert_int_equal(myth_chat_load(&s, path, &loaded, &rig_err), MYTH_ECREATE);
    assert_non_null(strstr(rig_err.msg, "set TMPDIR"));
    close_chat();
    open_chat(SHORT, MYTH_FULL_AUTO);
    assert_ok(myth_chat_load(&s, path, &loaded, &rig_err));
    assert_true(say("on").n_turn_gone > 0);
    assert_int_equal(s.lost.code, MYTH_ECREATE);
    assert_int_equal(s.gone.bytes, 0);
    close_chat();
    unsetenv("TMPDIR");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_longer_context_has_them_again),
        cmocka_unit_test(they_are_kept_on_every_way),
        cmocka_unit_test(what_is_taken_out_stays_out),
        cmocka_unit_test(they_come_back_while_they_have_room),
        cmocka_unit_test(there_is_a_bound),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(a_changed_message_is_noticed),
        cmocka_unit_test(a_place_is_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
