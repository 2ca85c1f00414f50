/* terminal.c - libedit for the lines, a signal handler for what stops an answer.
 *
 * While a line is edited the signals are blocked, but for the time that it waits for a key: one that came between two
 * keys would otherwise be noticed at the next key only. */
#include "terminal.h"

#include "engine/base/array.h"

#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>
#include <wchar.h>

enum { HISTORY_LINES = 500, CTRL_D = 4 };

static myth_cancel is_stopped, is_ended;
static struct sigaction was[3];
static const int signals[3] = {SIGINT, SIGTERM, SIGHUP};
static const char *prompt_text = "> ";

static void on_signal(int sig)
{
    is_stopped = 1;
    if (sig == SIGINT)
        return;
    is_ended = 1;
    for (int i = 1; i < 3; i++) /* the program's own handler, which ends what hangs */
        if (signals[i] == sig && was[i].sa_handler != SIG_DFL && was[i].sa_handler != SIG_IGN)
            was[i].sa_handler(sig);
}

/* nohup: SIGHUP that was ignored stays ignored. */
static void catch_signals(void)
{
    const struct sigaction on = {.sa_handler = on_signal};
    for (int i = 0; i < 3; i++)
        if (sigaction(signals[i], NULL, &was[i]) == 0 && was[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &on, NULL);
}

static void restore_signals(void)
{
    for (int i = 0; i < 3; i++)
        sigaction(signals[i], &was[i], NULL);
}

static sigset_t open_mask; /* while it waits for a key */

typedef struct {
    myth_mem *mem;
    char *text;
    size_t n, cap;
} message;

/* What is asked while a line is waited for, and what came of it. */
static struct {
    myth_chat_input *in;
    message *m;
    myth_status st;
    myth_error *err;
} waiting;

/* Lets the chat be moved. False: it ends. */
static bool look(void)
{
    sigset_t mask;
    message *m = waiting.m;
    if (!waiting.in->look || !waiting.in->cli->put_off)
        return !*waiting.in->cli->cancel;
    if (m->n == 0) { /* else a message of several lines is being typed */
        myth_free(m->mem, m->text);
        m->text = NULL;
        m->cap = 0;
    }
    sigprocmask(SIG_SETMASK, &open_mask, &mask);
    waiting.st = waiting.in->look(waiting.in->look_user, waiting.err);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return waiting.st == MYTH_OK;
}

/* Waits for a byte of standard input; 0 at its end, -1 when it is stopped or cannot be read. Other signals, such as
 * that of a window's size, interrupt nothing. */
static int read_byte(char *c)
{
    const struct timespec pause = {.tv_nsec = MYTH_CHAT_LOOK_MS * 1000000L};
    while (!is_stopped) {
        fd_set in;
        FD_ZERO(&in);
        FD_SET(STDIN_FILENO, &in);
        const int n = pselect(STDIN_FILENO + 1, &in, NULL, NULL, waiting.in->look ? &pause : NULL, &open_mask);
        if (n > 0)
            return (int)read(STDIN_FILENO, c, 1);
        if (n < 0 && errno != EINTR)
            return -1;
        if (!look())
            return 0;
    }
    return -1;
}

/* libedit's next character: the bytes of one, in the encoding of the locale. Ctrl-D on an empty line ends the input. So
 * does a zero byte, which is what a Ctrl-D becomes that was typed before the terminal was the editor's. */
static int read_key(EditLine *el, wchar_t *key)
{
    const LineInfo *line = el_line(el);
    const bool is_empty = line->buffer == line->lastchar;
    mbstate_t state;
    char c = 0;
    memset(&state, 0, sizeof(state));
    for (;;) {
        const int n = read_byte(&c);
        if (n <= 0 || (is_empty && (c == 0 || c == CTRL_D)))
            return n < 0 ? n : 0;
        switch (mbrtowc(key, &c, 1, &state)) {
        case (size_t)-2: continue; /* more bytes to come */
        case (size_t)-1: *key = 0xfffd; return 1;
        default: return 1;
        }
    }
}

static char *prompt_of(EditLine *el)
{
    (void)el;
    return (char *)prompt_text;
}

/* Reads a message of one or more lines; *is_end at the end of the input. */
static myth_status read_message(EditLine *el, History *past, message *m, bool *is_end, myth_error *err)
{
    HistEvent event;
    m->n = 0;
    *is_end = false;
    for (prompt_text = "> ";; prompt_text = ". ") {
        int n = 0;
        sigset_t block;
        sigemptyset(&block);
        for (int i = 0; i < 3; i++)
            sigaddset(&block, signals[i]);
        sigprocmask(SIG_BLOCK, &block, &open_mask);
        const char *line = el_gets(el, &n);
        sigprocmask(SIG_SETMASK, &open_mask, NULL);
        if (is_stopped) { /* Ctrl-C: the line is forgotten */
            m->n = 0;
            is_stopped = 0;
            fputc('\n', stdout);
            return MYTH_OK;
        }
        if (!line || n <= 0) {
            *is_end = m->n == 0;
            fputc('\n', stdout);
            return MYTH_OK;
        }
        size_t len = (size_t)n;
        len -= line[len - 1] == '\n';
        const bool goes_on = len && line[len - 1] == '\\';
        if (!MYTH_ARRAY_MORE(m->mem, MYTH_MEM_STAGING, "chat", &m->text, m->n, len + 1, &m->cap))
            return myth_fail(err, MYTH_ENOMEM, "out of memory for a message of %zu bytes", m->n + len);
        memcpy(m->text + m->n, line, len);
        m->n += len;
        if (!goes_on)
            break;
        m->text[m->n - 1] = '\n';
    }
    m->text[m->n] = '\0';
    if (m->n)
        history(past, &event, H_ENTER, m->text);
    return MYTH_OK;
}

myth_status myth_chat_terminal(myth_chat_input *in, myth_error *err)
{
    HistEvent event;
    message m = {.mem = in->cli->mem};
    bool is_end = false;
    myth_status st = MYTH_OK;
    const myth_cancel *outer = in->cancel;
    setlocale(LC_CTYPE, "");
    EditLine *el = el_init("mythos", stdin, stdout, stderr);
    History *past = history_init();
    if (!el || !past)
        MYTH_TRY(myth_fail(err, MYTH_ENOMEM, "out of memory for the line editor"));
    history(past, &event, H_SETSIZE, HISTORY_LINES);
    el_set(el, EL_PROMPT, prompt_of);
    el_set(el, EL_EDITOR, "emacs");
    el_set(el, EL_HIST, history, past);
    el_set(el, EL_SIGNAL, 0);
    el_set(el, EL_GETCFN, read_key);
    is_stopped = is_ended = 0;
    waiting.in = in;
    waiting.m = &m;
    waiting.st = MYTH_OK;
    waiting.err = err;
    in->cancel = &is_stopped;
    catch_signals();
    st = myth_chat_input_answer(in, err);
    while (st == MYTH_OK && !in->is_over && !is_ended && !is_end) {
        is_stopped = 0;
        st = read_message(el, past, &m, &is_end, err);
        st = waiting.st != MYTH_OK ? waiting.st : st;
        if (st == MYTH_OK && m.n && !is_ended)
            st = myth_chat_input_line(in, m.text, m.n, err);
        m.n = 0;
        if (st == MYTH_OK && !is_ended && !look())
            st = waiting.st;
    }
    restore_signals();
    in->cancel = outer;
    if (is_ended)
        in->n_cut++;
fail:
    if (past)
        history_end(past);
    if (el)
        el_end(el);
    myth_free(in->cli->mem, m.text);
    return st;
}
