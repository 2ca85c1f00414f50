/* test_progress.c - how far a run is, its rate and the time that is left, from what was answered; when a line is drawn;
 * and that a run on a terminal draws it, while a pipe, --quiet and CI stay without. */
#define _GNU_SOURCE
#include "frontend/rates/progress.h"
#include "tests/frontend/cli/cli_run.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>

static const char *text_of(const myth_progress *p, uint32_t part)
{
    static char line[160];
    myth_progress_text(p, line, sizeof(line), part, "writing", 14, 240);
    return line;
}

static void what_is_left_follows_what_was_asked(void **unused)
{
    (void)unused;
    myth_progress p;
    myth_progress_begin(&p, 4, 4000, 0);
    assert_string_equal(text_of(&p, 0), "part 1 of 4: writing 14/240"); /* nothing is known yet */
    myth_progress_pass(&p, 1000, true);                                 /* kept: it took no time */
    assert_string_equal(text_of(&p, 1), "part 2 of 4: writing 14/240");
    myth_progress_pass(&p, 1000, false);
    myth_progress_add(&p, 1100, 10); /* with an answer of 100 tokens */
    assert_string_equal(text_of(&p, 2), "part 3 of 4: writing 14/240, 110 tok/s, 20.0 s left");
    myth_progress_add(&p, 400, 5); /* a round of context costs, but is no part */
    assert_string_equal(text_of(&p, 2), "part 3 of 4: writing 14/240, 100 tok/s, 30.0 s left");
    myth_progress_pass(&p, 2000, false);
    myth_progress_begin(&p, 1, 500, 0);
    myth_progress_add(&p, 100, 1);
    assert_string_equal(text_of(&p, 0), "writing 14/240, 100 tok/s");
}

static void lines_are_rare(void **unused)
{
    (void)unused;
    myth_progress p;
    uint32_t n = 0;
    myth_progress_begin(&p, 4, 4000, 0);
    for (int i = 0; i < 1000; i++) /* a token each hundredth of a second */
        n += myth_progress_is_due(&p, true, 0.01 * i);
    assert_in_range(n, 80, 100);
    myth_progress_begin(&p, 4, 4000, 0);
    for (int i = n = 0; i < 100 * 95; i++)
        n += myth_progress_is_due(&p, false, 0.01 * i);
    assert_int_equal(n, 3);
}

/* Runs a line with a terminal as standard error, and returns what it drew. */
static const char *drawn(const char *line)
{
    static char out[1 << 16];
    char whole[1024];
    size_t n = 0;
    const int top = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(top >= 0 && grantpt(top) == 0 && unlockpt(top) == 0);
    const int bottom = open(ptsname(top), O_RDWR | O_NOCTTY);
    assert_true(bottom >= 0);
    snprintf(whole, sizeof(whole), "M='%s'; D='%s'; %s >/dev/null 2>'%s'", cli_bin(), cli_dir, line, ptsname(top));
    FILE *p = popen(whole, "r");
    assert_non_null(p);
    const int ended = fileno(p);
    for (bool is_open = true; is_open;) {
        struct pollfd f[] = {{.fd = top, .events = POLLIN}, {.fd = ended, .events = POLLIN}};
        poll(f, 2, -1);
        if (f[0].revents & POLLIN) {
            const ssize_t got = read(top, out + n, sizeof(out) - 1 - n);
            n += got > 0 ? (size_t)got : 0;
            n = n < sizeof(out) - 1 ? n : 0;
        } else {
            is_open = !f[1].revents;
        }
    }
    pclose(p);
    close(bottom);
    close(top);
    out[n] = '\0';
    return out;
}

static void a_terminal_shows_it(void **state)
{
    (void)state;
    static cli_result r;
    char of[32] = "";
#define RUN "$M inspect $D/t --no-log --no-cache --fail-level never -n 60 " TINY
    const char *out = "";
    unsetenv("CI");
    setenv("TERM", "xterm", 1);
    /* A run of less than a tenth of a second draws nothing, so there are more files until the machine takes longer. */
    for (uint32_t n_file = 12; n_file <= 12 << 8 && !strstr(out, " left\033[K"); n_file *= 4) {
        char line[128];
        snprintf(line, sizeof(line),
                 "mkdir -p $D/t && for i in $(seq %u); do echo \"int f$i(void);\" >$D/t/f$i.c; done", n_file);
        cli_shell(&r, line);
        snprintf(of, sizeof(of), " of %u: ", n_file);
        out = drawn(RUN);
    }
    if (!strstr(out, "\rpart ") || !strstr(out, of) || !strstr(out, " tok/s, ") || !strstr(out, " left\033[K"))
        fail_msg("%s", out);
    assert_null(strstr(drawn(RUN "-q"), "part "));
    setenv("CI", "1", 1);
    assert_null(strstr(drawn(RUN), "\rpart "));
    unsetenv("CI");
    cli_shell(&r, RUN); /* a short run into a file has no line of it */
    assert_null(strstr(r.err, "tok/s"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_follows_what_was_asked),
        cmocka_unit_test(lines_are_rare),
        cmocka_unit_test(a_terminal_shows_it),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
