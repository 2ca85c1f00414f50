/* test_session.c - what a chat holds when it is full, on every family: recomputed it is a new chat with the same
 * messages, dropped it is a sequence whose rows were evicted by hand, bit for bit; the system text and pins stay; a
 * long chat takes no memory; what is refused, taken back, saved and loaded. */
#include "tests/support/files.h"
#include "tests/support/rig.h"

#include "engine/run/engine_impl.h"
#include "frontend/chat/saved.h"
#include "frontend/chat/session.h"

#include <unistd.h>

enum { CTX = 256, MOST = 8 };

static const char *const families[] = {
    "random:gemma1-tiny:f32", "random:gemma2-tiny:f32",   "random:gemma3-tiny:f32",    "random:gemma3n-tiny:f32",
    "random:gemma4-tiny:f32", "random:gemma4-e-tiny:f32", "random:gemma4-moe-tiny:f32"};
enum { N_FAMILY = sizeof(families) / sizeof(families[0]) };

static const myth_dtype caches[] = {MYTH_F16, MYTH_Q8_0, MYTH_F32};
static myth_dtype cache = MYTH_F16;

/* The next family and type of cache, from f = -1 on: all of them in full runs, else a type for each family. */
static bool next_case(int *f, int *k)
{
    const bool is_new = *f < 0 || !check_is_full() || *k == 2;
    *f += is_new;
    *k = !check_is_full() ? *f % 3 : is_new ? 0 : *k + 1;
    cache = *f < N_FAMILY ? caches[*k] : MYTH_F16;
    return *f < N_FAMILY;
}

static myth_engine_opts opts_of(const myth_session_opts *so, uint32_t n_ctx)
{
    /* Small pages, because the ends of a gap leave rows of two pages unused. */
    myth_engine_opts o = {.n_ctx = n_ctx, .device = "cpu", .want_full_logits = true, .page_tok = 16};
    o.has_cache_type = true;
    o.type_k = o.type_v = cache;
    myth_session_needs(&o, so);
    return o;
}

static void open_session(myth_session *s, rig *r, const char *spec, const myth_session_opts *so, uint32_t n_ctx)
{
    const myth_engine_opts o = opts_of(so, n_ctx);
    rig_open(r, spec, &o);
    assert_ok(myth_session_open(s, r->engine, so, &rig_err));
}

static void close_session(myth_session *s, rig *r)
{
    myth_session_close(s);
    rig_close(r);
}

static myth_chat_reply say(myth_session *s, const char *text)
{
    myth_chat_reply r;
    const myth_message m = {MYTH_ROLE_USER, {text, strlen(text)}};
    assert_ok(myth_talk_add(&s->talk, &m, NULL, &rig_err));
    assert_ok(myth_session_answer(s, NULL, &r, &rig_err));
    return r;
}

static void copy_talk(myth_session *to, const myth_session *from, size_t n_msg)
{
    const char *system = from->talk.system ? from->talk.system : "";
    assert_ok(myth_session_set_system(to, (myth_str){system, strlen(system)}, &rig_err));
    for (size_t i = 0; i < n_msg; i++)
        assert_ok(myth_talk_add(&to->talk, &from->talk.msg[i].m, &from->talk.msg[i].more, &rig_err));
}

static void set_system(myth_session *s, const char *text)
{
    assert_ok(myth_session_set_system(s, (myth_str){text, strlen(text)}, &rig_err));
}

/* The logits of a token behind what the sequence holds. */
static void probe(float *dst, const rig *r, myth_seq *seq)
{
    rows w;
    const int32_t id = 5;
    const myth_batch_run run = {.seq = seq, .token = &id, .n = 1, .want = MYTH_WANT_FULL_LOGITS, .is_ephemeral = true};
    rows_open(&w, r, 1, false);
    assert_ok(myth_forward(r->engine,
                           &(myth_batch){.run = &run, .n_run = 1, .on_full_logits = rows_on_logits, .user = &w}, NULL,
                           &rig_err));
    assert_int_equal(w.n_logits, 1);
    memcpy(dst, w.logits, w.n_vocab * sizeof(*dst));
    rows_close(&w);
}

static const char *line_of(int i)
{
    static char text[64];
    snprintf(text, sizeof(text), "message %d of this chat", i);
    return text;
}

static void recomputed_is_a_new_chat(void **state)
{
    (void)state;
    const myth_session_opts so = {.on_full = MYTH_FULL_RECOMPUTE, .n_most = MOST};
    for (int f = -1, k = 0; next_case(&f, &k);) {
        rig r, fresh_rig;
        myth_session s, fresh;
        static float a[4096], b[4096];
        int n_gone = 0;
        open_session(&s, &r, families[f], &so, CTX);
        set_system(&s, "be brief");
        say(&s, "keep this");
        myth_talk_pin(&s.talk, 0, true);
        for (int i = 0; i < 24; i++) {
            const myth_chat_reply got = say(&s, line_of(i));
            assert_int_not_equal(got.finish, MYTH_FINISH_REFUSED);
            assert_true(got.n_held <= CTX);
            if (!got.n_turn_gone)
                continue;
            n_gone++;
            assert_int_equal(got.how, MYTH_FULL_RECOMPUTE);
            assert_true(myth_talk_is_pinned(&s.talk, 0));
            assert_true(myth_str_is(s.talk.msg[0].m.text, "keep this"));
            assert_int_equal(myth_seq_pos(s.seq), myth_seq_len(s.seq));
            open_session(&fresh, &fresh_rig, families[f], &so, CTX);
            copy_talk(&fresh, &s, s.talk.n - 1);
            myth_chat_reply again;
            assert_ok(myth_session_answer(&fresh, NULL, &again, &rig_err));
            assert_int_equal(again.n_turn_gone, 0);
            assert_int_equal(again.n_prompt, got.n_prompt);
            assert_int_equal(again.n_held, got.n_held);
            assert_memory_equal(myth_seq_tokens(s.seq), myth_seq_tokens(fresh.seq), 4 * got.n_held);
            assert_true(r.model.config.n_vocab <= 4096);
            probe(a, &r, s.seq);
            probe(b, &fresh_rig, fresh.seq);
            assert_same_bits(a, b, r.model.config.n_vocab, families[f]);
            close_session(&fresh, &fresh_rig);
        }
        assert_true(n_gone >= 2);
        close_session(&s, &r);
    }
}

/* Evicts from `seq`, which has all positions that `like` has, those that `like` lacks. */
static void evict_like(myth_seq *seq, const myth_seq *like)
{
    for (uint32_t i = like->kv->n_gap; i-- > 0;) {
        const myth_kv_gap gap = like->kv->gap[i];
        uint32_t from = UINT32_MAX, to = 0; /* rows in the gap */
        for (uint32_t row = 0; row < myth_seq_len(seq); row++) {
            const uint32_t pos = myth_kv_pos(seq->kv, row + 1) - 1;
            if (pos < gap.from || pos >= gap.to)
                continue;
            from = row < from ? row : from;
            to = row + 1;
        }
        if (to)
            assert_ok(myth_seq_evict(seq, from, to - from, &rig_err));
    }
}

/* Every turn that drops rows, with pinned turns among them: the same sequence before it, evicted and fed by hand, has
 * the same bits after it. Where the last answer's text has no room, the chat cuts it off first; those turns are not
 * compared. */
static void dropped_is_a_sequence_evicted_by_hand(void **state)
{
    (void)state;
    const myth_session_opts so = {.on_full = MYTH_FULL_DROP, .positions = MYTH_POSITIONS_GROW, .n_most = 2};
    static unsigned char saved[1 << 22];
    static float a[4096], b[4096];
    static int32_t next[1 << 16];
    for (int f = -1, k = 0; next_case(&f, &k);) {
        rig r, other;
        myth_session s;
        uint32_t at, n_drop = 0, most_gaps = 0;
        open_session(&s, &r, families[f], &so, 2 * CTX);
        const myth_engine_opts o = opts_of(&so, 2 * CTX);
        rig_open(&other, families[f], &o);
        myth_seq *seq = rig_seq(&other);
        set_system(&s, "be brief");
        for (int i = 0; i < 100 && n_drop < 6; i++) {
            if (i == 2 || i == 6 || i == 10)
                myth_talk_pin(&s.talk, myth_talk_n_turn(&s.talk) - 1, true);
            assert_ok(myth_session_settle(&s, NULL, &rig_err));
            const uint32_t len = myth_seq_len(s.seq);
            uint32_t n_next = 0;
            assert_ok(myth_talk_common(&s.talk, s.talk.n, next, 1 << 16, &n_next, &rig_err));
            assert_true(myth_seq_save_bytes(s.seq) <= sizeof(saved));
            assert_ok(myth_seq_save(s.seq, saved, sizeof(saved), &rig_err));
            const uint64_t n_saved = myth_seq_save_bytes(s.seq);
            const uint32_t pos = myth_seq_pos(s.seq);
            const myth_chat_reply got = say(&s, line_of(i));
            if (!got.n_turn_gone || n_next != len)
                continue;
            n_drop++;
            assert_int_equal(got.how, MYTH_FULL_DROP);
            const int32_t *now = myth_seq_tokens(s.seq);
            assert_ok(myth_seq_truncate(seq, 0, &at, &rig_err));
            assert_ok(myth_seq_restore(seq, saved, n_saved, &rig_err));
            evict_like(seq, s.seq);
            at = len - got.n_row_gone;
            rig_feed(&other, seq, now + at, got.n_prompt - at, 0, NULL);
            for (at = got.n_prompt; at < got.n_held; at++)
                rig_decode(&other, seq, now[at], NULL);
            assert_int_equal(myth_seq_pos(seq), myth_seq_pos(s.seq));
            assert_int_equal(myth_seq_pos(s.seq), pos + got.n_held - len + got.n_row_gone);
            probe(a, &r, s.seq);
            probe(b, &other, seq);
            assert_same_bits(a, b, r.model.config.n_vocab, families[f]);
            most_gaps = s.seq->kv->n_gap > most_gaps ? s.seq->kv->n_gap : most_gaps;
        }
        assert_true(n_drop >= 5);
        assert_true(most_gaps >= 3);
        assert_int_equal(s.stats.n_recompute, 0);
        close_session(&s, &r);
        myth_seq_close(seq);
        rig_close(&other);
    }
}

/* Pinned turns stay where they are and what is dropped around them leaves gaps: nothing is computed again. Afterwards
 * the sequence has the rows and bits of one that was given all tokens ever held and evicted those that are gone. */
static void pins_leave_gaps(void **state)
{
    (void)state;
    enum { PIN = 3, TALK_CTX = 400 };
    const myth_session_opts so = {.on_full = MYTH_FULL_DROP, .positions = MYTH_POSITIONS_GROW, .n_most = 2};
    for (int f = -1, k = 0; next_case(&f, &k);) {
        rig r;
        myth_session s;
        int n_pin = 0, n_how = 0;
        uint32_t most_gaps = 0;
        open_session(&s, &r, families[f], &so, TALK_CTX);
        set_system(&s, "be brief");
        for (int i = 0; i < 200 && n_how < 8; i++) {
            const myth_chat_reply got = say(&s, line_of(i));
            assert_int_not_equal(got.finish, MYTH_FINISH_REFUSED);
            if (got.n_turn_gone)
                assert_int_equal(got.how, MYTH_FULL_DROP);
            n_how += got.n_turn_gone > 0;
            if (n_pin < PIN && i % 4 == 2) { /* the turns 2, 6 and 10 */
                myth_talk_pin(&s.talk, myth_talk_n_turn(&s.talk) - 1, true);
                n_pin++;
            }
            int n = 0;
            for (size_t turn = 0; turn < myth_talk_n_turn(&s.talk); turn++)
                n += myth_talk_is_pinned(&s.talk, turn);
            assert_int_equal(n, n_pin);
            most_gaps = s.seq->kv->n_gap > most_gaps ? s.seq->kv->n_gap : most_gaps;
        }
        assert_int_equal(n_how, 8);
        assert_int_equal(s.stats.n_recompute, 0);
        assert_true(most_gaps >= PIN);
        close_session(&s, &r);
    }
}

/* Positions of a model that was trained with so few would pass them after some drops. */
static void positions_begin_anew_before_they_pass_the_training(void **state)
{
    (void)state;
    for (int grows = 0; grows < 2; grows++) {
        const myth_session_opts so = {.on_full = MYTH_FULL_DROP,
                                      .positions = grows ? MYTH_POSITIONS_GROW : MYTH_POSITIONS_WINDOW,
                                      .n_most = MOST};
        rig r;
        myth_session s;
        uint32_t most = 0;
        open_session(&s, &r, "random:gemma3-tiny:f32", &so, 160);
        const uint32_t trained = r.model.config.n_ctx_train = 1024;
        for (int i = 0; i < 60; i++) {
            say(&s, line_of(i));
            most = myth_seq_pos(s.seq) > most ? myth_seq_pos(s.seq) : most;
        }
        assert_true(s.stats.n_drop > 0);
        assert_int_equal(most > trained, grows);
        assert_int_equal(s.stats.n_recompute > 0, !grows);
        close_session(&s, &r);
    }
}

static void a_long_chat_takes_no_memory(void **state)
{
    (void)state;
    const uint32_t n_ctx = check_is_full() ? 2048 : 320;
    static char text[700];
    for (int how = 0; how < 2; how++) {
        const int n_turn = !check_is_full() ? 200 : how ? 10000 : 1000; /* recomputing reads what is held again */
        const myth_session_opts so = {
            .on_full = how ? MYTH_FULL_DROP : MYTH_FULL_RECOMPUTE, .n_most = MOST, .ignores_eos = true};
        rig r;
        myth_session s;
        uint64_t peak[MYTH_MEM_CLASS_N] = {0};
        open_session(&s, &r, "random:gemma3-tiny:f32", &so, n_ctx);
        const uint64_t planned = myth_session_bytes(&r.model, n_ctx, &so),
                       before = myth_mem_get(r.mem, MYTH_MEM_HOST, MYTH_MEM_STAGING).live;
        set_system(&s, "a system text that stays");
        for (int i = 0; i < n_turn; i++) {
            const size_t n = 40 + (size_t)(i * 37 % 60);
            memset(text, 'a' + i % 26, n);
            text[n] = '\0';
            const myth_chat_reply got = say(&s, text);
            assert_true(got.finish == MYTH_FINISH_LENGTH);
            assert_true(got.n_held <= n_ctx);
            assert_memory_equal(s.talk.system, "a system text", 13);
            for (int c = 0; c < MYTH_MEM_CLASS_N; c++) {
                const uint64_t now = myth_mem_get(r.mem, MYTH_MEM_HOST, (myth_mem_class)c).peak;
                if (i >= n_turn / 10 && c != MYTH_MEM_STAGING)
                    assert_int_equal(now, peak[c]);
                peak[c] = now;
            }
        }
        assert_true(peak[MYTH_MEM_STAGING] - before <= planned);
        assert_true(s.stats.n_turn_gone > (uint64_t)n_turn / 2);
        if (check_is_full() && how)
            assert_true(s.stats.n_fed_tok + s.stats.n_answer_tok >= 1000000);
        close_session(&s, &r);
    }
}

static void what_cannot_fit_is_refused_and_the_chat_goes_on(void **state)
{
    (void)state;
    const myth_session_opts so = {.on_full = MYTH_FULL_REFUSE, .n_most = MOST};
    enum { WIDE = 4 * CTX };
    static char text[WIDE + 1];
    rig r;
    myth_session s;
    myth_chat_reply got;
    open_session(&s, &r, "random:gemma3-tiny:f32", &so, WIDE);
    assert_int_not_equal(say(&s, "hello").finish, MYTH_FINISH_REFUSED);
    memset(text, 'x', WIDE);
    const size_t n = s.talk.n;
    got = say(&s, text);
    assert_int_equal(got.finish, MYTH_FINISH_REFUSED);
    assert_true(got.n_needed > WIDE);
    assert_int_equal(s.talk.n, n);
    text[500] = '\0';
    got = say(&s, text); /* with the first one */
    assert_int_not_equal(got.finish, MYTH_FINISH_REFUSED);
    got = say(&s, text);
    assert_int_equal(got.finish, MYTH_FINISH_REFUSED);
    assert_int_equal(s.stats.n_refused, 2);
    assert_int_equal(s.stats.n_turn_gone, 0);
    /* The bound of the text itself: an error, and nothing changed. */
    static char long_text[WIDE * 16 + 2];
    memset(long_text, 'y', sizeof(long_text) - 1);
    const myth_message m = {MYTH_ROLE_USER, {long_text, sizeof(long_text) - 1}};
    assert_int_equal(myth_talk_add(&s.talk, &m, NULL, &rig_err), MYTH_ELIMIT);
    assert_int_not_equal(say(&s, "on").finish, MYTH_FINISH_REFUSED);
    close_session(&s, &r);
    const myth_session_opts half = {.n_most = CTX / 2 + 1};
    const myth_engine_opts o = opts_of(&half, CTX);
    rig_open(&r, "random:gemma3-tiny:f32", &o);
    assert_int_equal(myth_session_open(&s, r.engine, &half, &rig_err), MYTH_EARG);
    rig_close(&r);
}

static void an_answer_is_taken_back_and_given_again(void **state)
{
    (void)state;
    const myth_session_opts so = {.n_most = 32, .ignores_eos = true, .sample = {.temp = 1.0f, .seed = 3}};
    static char first[2][4096];
    rig r;
    myth_session s;
    open_session(&s, &r, "random:gemma3-tiny:f32", &so, 4 * CTX);
    say(&s, "one");
    assert_int_equal(say(&s, "two").n_answer, 32);
    for (int i = 0; i < 2; i++) {
        memcpy(first[i], s.text, s.n_text);
        first[i][s.n_text] = '\0';
        assert_true(myth_session_retry(&s));
        assert_false(myth_session_retry(&s));
        myth_chat_reply got;
        assert_ok(myth_session_answer(&s, NULL, &got, &rig_err));
        assert_true(got.n_fed < 8); /* from the checkpoint at the end of the prompt */
        assert_int_equal(s.talk.n, 4);
        assert_true(strlen(first[i]) != s.n_text || memcmp(first[i], s.text, s.n_text) != 0);
    }
    assert_string_not_equal(first[0], first[1]);
    close_session(&s, &r);
}

static void stop(void *user, const char *text, size_t n, bool is_thought)
{
    (void)text;
    (void)n;
    (void)is_thought;
    *(myth_cancel *)user = 1;
}

static void assert_text(const char *text, myth_str got)
{
    if (!myth_str_is(got, text))
        fail_msg("%.*s, not %s", (int)got.len, got.text, text);
}

static myth_chat_reply retry(myth_session *s, const myth_cancel *cancel)
{
    myth_chat_reply got;
    assert_true(myth_session_retry(s));
    assert_ok(myth_session_answer(s, cancel, &got, &rig_err));
    return got;
}

/* Two turns, and the second one's answer as before. */
static void assert_stays(const myth_session *s, const char *answer)
{
    assert_int_equal(s->talk.n, 4);
    assert_text(answer, s->talk.msg[3].m.text);
}

/* Interrupted before its first token and behind it, or refused, a retry changes nothing. */
static void a_retry_that_comes_to_nothing_changes_nothing(void **state)
{
    (void)state;
    const myth_session_opts so = {.n_most = 32, .ignores_eos = true};
    static char first[4096], system[32 * CTX];
    myth_cancel cancel = 1;
    rig r;
    myth_session s;
    open_session(&s, &r, "random:gemma3-tiny:f32", &so, 4 * CTX);
    say(&s, "one");
    say(&s, "two");
    memcpy(first, s.text, s.n_text);
    const uint64_t n_change = s.talk.n_change;
    myth_chat_reply got = retry(&s, &cancel);
    assert_int_equal(got.finish, MYTH_FINISH_CANCELLED);
    assert_int_equal(got.n_answer, 0);
    assert_true(got.has_stayed);
    assert_stays(&s, first);
    cancel = 0;
    s.on_said = stop;
    s.user = (void *)&cancel;
    got = retry(&s, &cancel);
    s.on_said = NULL;
    assert_int_equal(got.finish, MYTH_FINISH_CANCELLED);
    assert_true(got.n_answer > 0 && got.has_stayed);
    assert_stays(&s, first);
    assert_true(s.talk.n_change == n_change);
    memset(system, 'x', sizeof(system) - 1);
    set_system(&s, system);
    got = retry(&s, NULL);
    assert_int_equal(got.finish, MYTH_FINISH_REFUSED);
    assert_true(got.has_stayed);
    assert_stays(&s, first);
    set_system(&s, "");
    assert_int_equal(say(&s, "three").n_answer, 32);
    assert_int_equal(s.talk.n, 6);
    close_session(&s, &r);
}

/* One that is put off is still a retry when it is asked for again, also by the session that took the chat over. */
static void a_retry_is_put_off(void **state)
{
    (void)state;
    const myth_session_opts so = {.n_most = 32, .ignores_eos = true, .sample = {.temp = 1.0f, .seed = 3}};
    static char first[4096], second[4096];
    myth_cancel put_off = 1;
    bool is_warm = false;
    rig r, other;
    myth_session s, t;
    myth_chat_kept kept;
    myth_chat_reply got;
    open_session(&s, &r, "random:gemma3-tiny:f32", &so, 4 * CTX);
    say(&s, "one");
    say(&s, "two");
    memcpy(first, s.text, s.n_text);
    s.put_off = &put_off;
    got = retry(&s, NULL);
    assert_true(got.is_put_off && !got.has_stayed);
    assert_stays(&s, first);
    assert_false(myth_session_retry(&s));
    assert_ok(myth_chat_keep(&kept, &s, false, &rig_err));
    open_session(&t, &other, "random:gemma3-tiny:f32", &so, 4 * CTX);
    assert_ok(myth_chat_take_back(&t, &kept, &is_warm, &rig_err));
    myth_chat_kept_close(&kept);
    assert_stays(&t, first);
    put_off = 0;
    assert_ok(myth_session_answer(&s, NULL, &got, &rig_err));
    assert_true(got.n_answer == 32 && !got.has_stayed && !got.is_put_off);
    memcpy(second, s.text, s.n_text);
    assert_string_not_equal(first, second);
    assert_stays(&s, second);
    assert_ok(myth_session_answer(&t, NULL, &got, &rig_err));
    assert_stays(&t, second);
    assert_int_equal(myth_session_answer(&t, NULL, &got, &rig_err), MYTH_EARG); /* no retry any more */
    close_session(&t, &other);
    close_session(&s, &r);
}

static void an_interrupted_message_is_taken_out(void **state)
{
    (void)state;
    const myth_session_opts so = {.n_most = MOST};
    myth_cancel cancel = 1;
    rig r;
    myth_session s;
    myth_chat_reply got;
    open_session(&s, &r, "random:gemma3-tiny:f32", &so, CTX);
    say(&s, "one");
    const myth_message m = {MYTH_ROLE_USER, {"two", 3}};
    assert_ok(myth_talk_add(&s.talk, &m, NULL, &rig_err));
    assert_ok(myth_session_answer(&s, &cancel, &got, &rig_err));
    assert_int_equal(got.finish, MYTH_FINISH_CANCELLED);
    assert_int_equal(s.talk.n, 2);
    assert_int_equal(s.stats.n_answer, 1);
    assert_int_equal(myth_session_answer(&s, NULL, &got, &rig_err), MYTH_EARG);
    assert_int_not_equal(say(&s, "three").finish, MYTH_FINISH_CANCELLED);
    close_session(&s, &r);
}

/* Stops the answer at its n-th piece of the prompt (n > 0), or before it (n = 0). */
typedef struct {
    myth_cancel cancel;
    int n;
} stop_at;

static void on_piece(void *user, uint32_t done, uint32_t total)
{
    stop_at *s = user;
    (void)done;
    (void)total;
    s->cancel = --s->n <= 0;
}

/* Turns that went for an answer that came to nothing are there again: pins, order, texts, counts. What follows is what
 * follows in a chat that was never interrupted. */
static void an_interrupted_answer_takes_no_turns(void **state)
{
    (void)state;
    static const myth_on_full how[] = {MYTH_FULL_RECOMPUTE, MYTH_FULL_DROP};
    for (int h = 0; h < 2; h++) {
        const myth_session_opts so = {.on_full = how[h], .n_most = MOST};
        static char before[1 << 14], after[1 << 14];
        rig r, other;
        myth_session s, calm;
        myth_chat_reply got;
        int n_back = 0;
        open_session(&s, &r, "random:gemma3-tiny:f32", &so, CTX);
        set_system(&s, "be brief");
        say(&s, "keep this");
        say(&s, "and another");
        myth_talk_pin(&s.talk, 1, true);
        for (int i = 0; i < 30; i++) {
            const size_t n = s.talk.n, n_bytes = s.talk.n_bytes;
            const myth_session_stats stats = s.stats;
            char *at = before;
            stop_at stop = {.cancel = i % 2, .n = 1};
            for (size_t k = 0; k < n; k++)
                at += snprintf(at, sizeof(before) - (size_t)(at - before), "%d%.*s|", s.talk.msg[k].is_pinned,
                               (int)s.talk.msg[k].m.text.len, s.talk.msg[k].m.text.text);
            const myth_message m = {MYTH_ROLE_USER, {line_of(i), strlen(line_of(i))}};
            assert_ok(myth_talk_add(&s.talk, &m, NULL, &rig_err));
            s.on_prefill = on_piece;
            s.user = &stop;
            assert_ok(myth_session_answer(&s, &stop.cancel, &got, &rig_err));
            s.on_prefill = NULL;
            assert_true(got.finish == MYTH_FINISH_CANCELLED && got.n_answer == 0);
            assert_int_equal(s.talk.n, n);
            assert_int_equal(s.talk.n_bytes, n_bytes);
            assert_int_equal(s.talk.n_aside, 0);
            at = after;
            for (size_t k = 0; k < n; k++)
                at += snprintf(at, sizeof(after) - (size_t)(at - after), "%d%.*s|", s.talk.msg[k].is_pinned,
                               (int)s.talk.msg[k].m.text.len, s.talk.msg[k].m.text.text);
            assert_string_equal(after, before);
            assert_true(got.n_turn_gone == 0 && got.n_row_gone == 0 && s.stats.n_turn_gone == stats.n_turn_gone &&
                        s.stats.n_row_gone == stats.n_row_gone);
            n_back += s.stats.n_drop + s.stats.n_recompute > stats.n_drop + stats.n_recompute;
            /* a chat with these messages that nobody interrupted */
            open_session(&calm, &other, "random:gemma3-tiny:f32", &so, CTX);
            copy_talk(&calm, &s, n);
            myth_talk_pin(&calm.talk, 1, myth_talk_is_pinned(&s.talk, 1));
            myth_talk_pin(&calm.talk, 0, myth_talk_is_pinned(&s.talk, 0));
            const myth_chat_reply x = say(&s, line_of(i));
            if (h == 0) {
                const myth_chat_reply y = say(&calm, line_of(i));
                assert_int_equal(x.n_turn_gone, y.n_turn_gone);
                assert_int_equal(x.n_prompt, y.n_prompt);
                assert_true(s.n_text == calm.n_text && memcmp(s.text, calm.text, s.n_text) == 0);
            }
            close_session(&calm, &other);
        }
        assert_true(n_back > 3);
        close_session(&s, &r);
    }
}

static void a_saved_chat_goes_on_elsewhere(void **state)
{
    (void)state;
    const myth_session_opts so = {.n_most = MOST};
    const char *path = files_path("a.chat");
    for (int f = 0; f < N_FAMILY; f++) {
        rig r, other;
        myth_session s, b;
        uint64_t n_file;
        myth_chat_loaded loaded;
        static char want[4096];
        open_session(&s, &r, families[f], &so, 2 * CTX);
        set_system(&s, "be \"brief\"");
        say(&s, "one\n\ttwo");
        say(&s, "three");
        myth_talk_pin(&s.talk, 1, true);
        assert_ok(myth_chat_save(&s, path, NULL, &n_file, &rig_err));
        open_session(&b, &other, families[f], &so, 2 * CTX);
        say(&b, "what is replaced");
        assert_ok(myth_chat_load(&b, path, &loaded, &rig_err));
        assert_true(loaded.is_warm);
        assert_int_equal(b.talk.n, 4);
        assert_string_equal(b.talk.system, "be \"brief\"");
        assert_true(myth_str_is(b.talk.msg[0].m.text, "one\n\ttwo"));
        assert_true(myth_talk_is_pinned(&b.talk, 1) && !myth_talk_is_pinned(&b.talk, 0));
        const myth_chat_reply x = say(&s, "four");
        memcpy(want, s.text, s.n_text);
        const myth_chat_reply y = say(&b, "four");
        assert_int_equal(x.n_prompt, y.n_prompt);
        assert_true(y.n_fed < y.n_prompt / 2);
        assert_int_equal(s.n_text, b.n_text);
        assert_memory_equal(want, b.text, b.n_text);
        close_session(&b, &other);
        close_session(&s, &r);
    }
}

static void fed(void *user, uint32_t done, uint32_t total)
{
    (void)done;
    (void)total;
    ++*(int *)user;
}

/* What is cold is saved cold, and an interrupt is no reason to save nothing. */
static void saving_computes_the_last_answer_at_most(void **state)
{
    (void)state;
    const myth_session_opts so = {.n_most = MOST};
    char path[1024];
    uint64_t n_file = 0;
    myth_chat_loaded loaded;
    myth_cancel cancel = 1;
    int n_fed = 0;
    rig r;
    myth_session s;
    snprintf(path, sizeof(path), "%s", files_path("c.chat"));
    open_session(&s, &r, "random:gemma3-tiny:f32", &so, 2 * CTX);
    s.on_prefill = fed;
    s.user = &n_fed;
    for (int i = 0; i < 8; i++) {
        const myth_message m = {i % 2 ? MYTH_ROLE_ASSISTANT : MYTH_ROLE_USER, {line_of(i), strlen(line_of(i))}};
        assert_ok(myth_talk_add(&s.talk, &m, NULL, &rig_err));
    }
    assert_ok(myth_chat_save(&s, path, NULL, &n_file, &rig_err));
    assert_int_equal(n_fed, 0);
    assert_int_equal(myth_seq_len(s.seq), 0);
    assert_ok(myth_chat_load(&s, path, &loaded, &rig_err));
    assert_false(loaded.is_warm);
    assert_int_equal(s.talk.n, 8);
    say(&s, "on");
    const uint32_t len = myth_seq_len(s.seq);
    n_fed = 0;
    assert_ok(myth_chat_save(&s, path, &cancel, &n_file, &rig_err));
    assert_int_equal(n_fed, 0);
    assert_true(myth_seq_len(s.seq) <= len);
    assert_ok(myth_chat_save(&s, path, NULL, &n_file, &rig_err));
    assert_true(n_fed > 0);
    assert_true(myth_seq_len(s.seq) > len);
    assert_ok(myth_chat_load(&s, path, &loaded, &rig_err));
    assert_true(loaded.is_warm);
    assert_ok(myth_chat_save_talk(&s, path, &rig_err));
    assert_ok(myth_chat_load(&s, path, &loaded, &rig_err));
    assert_false(loaded.is_warm);
    assert_int_equal(s.talk.n, 10);
    assert_text("on", s.talk.msg[8].m.text);
    close_session(&s, &r);
}

/* Of the chat of a longer context the oldest turns go that have no room in this one, but for pins; with --on-full
 * refuse it is not loaded. A context takes so many messages, however short. */
static void a_longer_chat_is_loaded_without_its_oldest_turns(void **state)
{
    (void)state;
    enum { N = 60, SHORT = 128 };
    const myth_session_opts so = {.n_most = MOST}, refuses = {.n_most = MOST, .on_full = MYTH_FULL_REFUSE};
    const char *path = files_path("long.chat");
    myth_chat_loaded loaded;
    uint64_t n_file;
    rig r;
    myth_session s;
    open_session(&s, &r, "random:gemma3-tiny:f32", &so, 4 * CTX);
    for (int i = 0; i < N; i++) {
        const myth_message m = {i % 2 ? MYTH_ROLE_ASSISTANT : MYTH_ROLE_USER, {line_of(i), strlen(line_of(i))}};
        assert_ok(myth_talk_add(&s.talk, &m, NULL, &rig_err));
    }
    myth_talk_pin(&s.talk, 1, true);
    assert_ok(myth_chat_save(&s, path, NULL, &n_file, &rig_err));
    close_session(&s, &r);
    open_session(&s, &r, "random:gemma3-tiny:f32", &refuses, SHORT);
    say(&s, "stays");
    assert_int_equal(myth_chat_load(&s, path, &loaded, &rig_err), MYTH_ELIMIT);
    assert_non_null(strstr(rig_err.msg, "the chat's 60 messages of "));
    assert_text("stays", s.talk.msg[0].m.text);
    close_session(&s, &r);
    open_session(&s, &r, "random:gemma3-tiny:f32", &so, SHORT);
    assert_ok(myth_chat_load(&s, path, &loaded, &rig_err));
    assert_int_equal(s.talk.n, SHORT / 4); /* a message has four tokens at least; its texts have room */
    assert_int_equal(loaded.n_turn_gone, (N - SHORT / 4) / 2);
    assert_text(line_of(2), s.talk.msg[0].m.text);
    assert_text(line_of(N - SHORT / 4 + 2), s.talk.msg[2].m.text);
    assert_text(line_of(N - 1), s.talk.msg[s.talk.n - 1].m.text);
    assert_int_not_equal(say(&s, "on").finish, MYTH_FINISH_REFUSED);
    const myth_message m = {MYTH_ROLE_ASSISTANT, {"", 0}};
    while (s.talk.n < SHORT / 4 + 2)
        assert_ok(myth_talk_add(&s.talk, &m, NULL, &rig_err));
    assert_int_equal(myth_talk_add(&s.talk, &m, NULL, &rig_err), MYTH_ELIMIT);
    assert_non_null(strstr(rig_err.msg, "the chat has 34 messages"));
    close_session(&s, &r);
}

static void a_damaged_chat_is_refused(void **state)
{
    (void)state;
    const myth_session_opts so = {.n_most = MOST};
    char path[1024];
    static unsigned char file[1 << 20];
    rig r;
    myth_session s;
    snprintf(path, sizeof(path), "%s", files_path("b.chat"));
    uint64_t n_file;
    myth_chat_loaded loaded;
    open_session(&s, &r, "random:gemma3-tiny:f32", &so, CTX);
    say(&s, "one");
    assert_ok(myth_chat_save(&s, path, NULL, &n_file, &rig_err));
    FILE *in = fopen(path, "rb");
    assert_int_equal(fread(file, 1, sizeof(file), in), n_file);
    fclose(in);
    static const struct {
        uint64_t cut;
        int64_t flip; /* from the end when negative; 0 = none */
        const char *says;
    } bad[] = {{0, -1, "damaged"}, {1, 0, "cut off"}, {5000, 0, "cut off"}, {0, 3, "no saved chat"}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const int64_t at = bad[i].flip < 0 ? (int64_t)n_file + bad[i].flip : bad[i].flip;
        file[at] ^= bad[i].flip != 0;
        files_put("bad.chat", file, n_file - bad[i].cut);
        file[at] ^= bad[i].flip != 0;
        assert_int_equal(myth_chat_load(&s, files_path("bad.chat"), &loaded, &rig_err), MYTH_EFORMAT);
        if (!strstr(rig_err.msg, bad[i].says))
            fail_msg("%s", rig_err.msg);
        assert_int_equal(s.talk.n, 2);
    }
    files_put("bad.chat", "", 0);
    assert_int_equal(myth_chat_load(&s, files_path("bad.chat"), &loaded, &rig_err), MYTH_EFORMAT);
    assert_int_equal(myth_chat_load(&s, files_path("none.chat"), &loaded, &rig_err), MYTH_ENOTFOUND);
    assert_int_not_equal(say(&s, "two").finish, MYTH_FINISH_REFUSED);
    close_session(&s, &r);
    /* Another model's rows are of no use; its messages are. */
    open_session(&s, &r, "random:gemma2-tiny:f32", &so, CTX);
    assert_ok(myth_chat_load(&s, path, &loaded, &rig_err));
    assert_false(loaded.is_warm);
    assert_int_equal(s.talk.n, 2);
    assert_int_equal(say(&s, "two").n_turn_gone, 0);
    close_session(&s, &r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recomputed_is_a_new_chat),
        cmocka_unit_test(dropped_is_a_sequence_evicted_by_hand),
        cmocka_unit_test(pins_leave_gaps),
        cmocka_unit_test(positions_begin_anew_before_they_pass_the_training),
        cmocka_unit_test(a_long_chat_takes_no_memory),
        cmocka_unit_test(what_cannot_fit_is_refused_and_the_chat_goes_on),
        cmocka_unit_test(an_answer_is_taken_back_and_given_again),
        cmocka_unit_test(a_retry_that_comes_to_nothing_changes_nothing),
        cmocka_unit_test(a_retry_is_put_off),
        cmocka_unit_test(an_interrupted_message_is_taken_out),
        cmocka_unit_test(an_interrupted_answer_takes_no_turns),
        cmocka_unit_test(a_saved_chat_goes_on_elsewhere),
        cmocka_unit_test(saving_computes_the_last_answer_at_most),
        cmocka_unit_test(a_longer_chat_is_loaded_without_its_oldest_turns),
        cmocka_unit_test(a_damaged_chat_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
