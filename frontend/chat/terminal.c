/* terminal.c - libedit for the lines, a signal handler for what stops an answer.
 *
 * While a line is edited the signals are blocked, but for the time that it waits for a key: one that came between two
 * keys would otherwise be noticed at the next key only.
 * When the window gets another size the line is drawn again. Some terminals have broken it anew by then, others leave
 * it as it was: it is cleared from the lower of both beginnings on, so that nothing above it is lost. */
#define _GNU_SOURCE /* wcwidth */
#include "terminal.h"

#include "engine/base/array.h"
#include "frontend/cli/environment.h"

#include <errno.h>
#include <histedit.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>
#include <wchar.h>

#define PASTE_ON    "\033[?2004h" /* what the terminal then sends around what is pasted: */
#define PASTE_OFF   "\033[?2004l"
#define PASTE_BEGIN "\033[200~"
#define PASTE_END   L"\033[201~"
#define ROW_UP      "\033[A"
#define CLEAR_BELOW "\033[J"

enum { HISTORY_LINES = 500, CTRL_D = 4, PIECE = 256 };

static myth_cancel is_stopped, is_ended, is_resized;
static struct sigaction was[3], was_resized;
static const int signals[3] = {SIGINT, SIGTERM, SIGHUP};
static const char *prompt_text = "> ";
static myth_cancel has_paste; /* PASTE_ON was sent */

/* Also called by the signal handler: the process may be ended before it comes to its own end. */
static void end_paste(void)
{
    if (has_paste && write(STDOUT_FILENO, PASTE_OFF, sizeof(PASTE_OFF) - 1) > 0)
        has_paste = 0;
}

static void on_signal(int sig)
{
    const int error = errno;
    myth_cancel_set(&is_stopped);
    if (sig == SIGINT)
        return;
    is_ended = 1;
    end_paste();
    errno = error;
    for (int i = 1; i < 3; i++) /* the program's own handler, which ends what hangs */
        if (signals[i] == sig && was[i].sa_handler != SIG_DFL && was[i].sa_handler != SIG_IGN)
            was[i].sa_handler(sig);
}

static void on_resized(int sig)
{
    (void)sig;
    is_resized = 1;
}

/* nohup: SIGHUP that was ignored stays ignored. */
static void catch_signals(void)
{
    const struct sigaction on = {.sa_handler = on_signal}, resized = {.sa_handler = on_resized, .sa_flags = SA_RESTART};
    sigaction(SIGWINCH, &resized, &was_resized);
    for (int i = 0; i < 3; i++)
        if (sigaction(signals[i], NULL, &was[i]) == 0 && was[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &on, NULL);
}

static void restore_signals(void)
{
    sigaction(SIGWINCH, &was_resized, NULL);
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
    EditLine *el;
    int n_col; /* of the window, as the editor knows it */
    myth_status st;
    myth_error *err;
} waiting;

/* Lets the chat be moved. False: it ends. */
static bool look(void)
{
    sigset_t mask;
    message *m = waiting.m;
    if (!waiting.in->look || !waiting.in->cli->put_off)
        return !myth_cancelled(waiting.in->cli->cancel);
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

/* Rows of a window of n_col columns above the cursor, in the line that is edited. A letter that has no room in a row
 * stands in the next one. */
static int rows_above(const LineInfoW *line, int n_col)
{
    int row = 0, col = (int)strlen(prompt_text);
    for (const wchar_t *c = line->buffer; c < line->cursor; c++) {
        const int n = *c == L'\t' ? 8 - col % 8 : *c == L'\n' ? n_col - col : wcwidth(*c);
        if (n > 1 && col + n > n_col) {
            row++;
            col = 0;
        }
        col += n > 0 ? n : 0;
        row += col >= n_col;
        col = col >= n_col ? 0 : col;
    }
    return row;
}

static int columns(EditLine *el)
{
    int n = 0;
    return el_get(el, EL_GETTC, "co", &n) == 0 && n > 0 ? n : 80;
}

/* Tells the editor how large the window is. */
static void measure(EditLine *el)
{
    el_resize(el);
    waiting.n_col = columns(el);
    is_resized = 0;
}

static void draw_again(EditLine *el)
{
    const LineInfoW *line = el_wline(el);
    const int before = rows_above(line, waiting.n_col);
    measure(el);
    const int now = rows_above(line, waiting.n_col), up = before < now ? before : now;
    if (!has_paste) { /* it knows no sequences */
        fputc('\n', stdout);
    } else {
        fputc('\r', stdout);
        for (int i = 0; i < up; i++)
            fputs(ROW_UP, stdout);
        fputs(CLEAR_BELOW, stdout);
    }
    fflush(stdout);
    el_set(el, EL_REFRESH);
}

static char held;
static bool has_held; /* a byte was read and is still to be taken */

/* Lets a signal that came while it was blocked be handled. With bytes to read pselect does not: those behind a Ctrl-C
 * would be read into the line that it ends. */
static void take_signals(void)
{
    sigset_t mask;
    sigprocmask(SIG_SETMASK, &open_mask, &mask);
    sigprocmask(SIG_SETMASK, &mask, NULL);
}

/* Waits for a byte of standard input; 0 at its end, -1 when it is stopped or cannot be read. Other signals interrupt
 * nothing. */
static int read_byte(char *c)
{
    const struct timespec pause = {.tv_nsec = MYTH_CHAT_LOOK_MS * 1000000L};
    if (has_held) {
        has_held = false;
        *c = held;
        return 1;
    }
    while (!myth_cancelled(&is_stopped)) {
        fd_set in;
        if (is_resized)
            draw_again(waiting.el);
        FD_ZERO(&in);
        FD_SET(STDIN_FILENO, &in);
        const int n = pselect(STDIN_FILENO + 1, &in, NULL, NULL, waiting.in->look ? &pause : NULL, &open_mask);
        take_signals();
        if (n > 0)
            return is_stopped ? -1 : (int)read(STDIN_FILENO, c, 1);
        if (n < 0 && errno != EINTR)
            return -1;
        if (!look())
            return 0;
    }
    return -1;
}

/* A character, in the encoding of the locale: 1, or what read_byte gives at the end. */
static int read_char(wchar_t *key)
{
    mbstate_t state;
    memset(&state, 0, sizeof(state));
    for (bool is_first = true;; is_first = false) {
        const int n = read_byte(&held);
        if (n <= 0)
            return n;
        switch (mbrtowc(key, &held, 1, &state)) {
        case (size_t)-2: continue; /* more bytes to come */
        case (size_t)-1:
            *key = 0xfffd;
            has_held = !is_first; /* the byte that cuts a character off is not of it */
            return 1;
        default: return 1;
        }
    }
}

/* libedit's next character. Ctrl-D on an empty line ends the input. So does a zero byte, which is what a Ctrl-D becomes
 * that was typed before the terminal was the editor's. */
static int read_key(EditLine *el, wchar_t *key)
{
    const LineInfo *line = el_line(el);
    const bool is_empty = line->buffer == line->lastchar;
    const int n = read_char(key);
    return n > 0 && is_empty && (*key == 0 || *key == CTRL_D) ? 0 : n;
}

/* Text on its way into the line that is edited. */
typedef struct {
    EditLine *el;
    wchar_t piece[PIECE + 1];
    size_t n;
    int n_in;       /* characters that are in the line */
    size_t n_bytes; /* of all that were to be put there */
} pasted;

static void put_piece(pasted *p)
{
    p->piece[p->n] = L'\0';
    if (p->n && p->n_bytes <= waiting.in->s->talk.max_bytes && el_winsertstr(p->el, p->piece) == 0)
        p->n_in += (int)p->n;
    p->n = 0;
}

static void put_char(pasted *p, wchar_t c)
{
    char bytes[MB_LEN_MAX];
    mbstate_t state;
    memset(&state, 0, sizeof(state));
    const size_t n = c ? wcrtomb(bytes, c, &state) : 0;
    p->n_bytes += n < sizeof(bytes) ? n : 1;
    if (c)
        p->piece[p->n++] = c;
    if (p->n == PIECE)
        put_piece(p);
}

/* Bound to PASTE_BEGIN: puts what follows into the line, up to PASTE_END. */
static unsigned char paste(EditLine *el, int key)
{
    static const wchar_t end[] = PASTE_END;
    const size_t most = waiting.in->s->talk.max_bytes;
    pasted p = {.el = el};
    wchar_t c = 0;
    size_t n_end = 0; /* of PASTE_END */
    (void)key;
    while (end[n_end]) {
        if (read_char(&c) <= 0)
            return CC_EOF;
        c = c == L'\r' ? L'\n' : c; /* Enter, as a terminal sends it */
        if (c != end[n_end]) {
            for (size_t i = 0; i < n_end; i++)
                put_char(&p, end[i]);
            n_end = 0;
        }
        if (c == end[n_end])
            n_end++;
        else
            put_char(&p, c);
    }
    put_piece(&p);
    if (p.n_bytes <= most)
        return CC_REFRESH;
    el_deletestr(el, p.n_in);
    fputc('\n', stdout);
    fflush(stdout);
    myth_term_note(waiting.in->cli->term,
                   "pasted text of %zu bytes was left out: a message of this context has at most %zu; raise -c",
                   p.n_bytes, most);
    return CC_REDISPLAY;
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
        sigaddset(&block, SIGWINCH);
        sigprocmask(SIG_BLOCK, &block, &open_mask);
        if (is_resized)
            measure(el);
        const char *line = el_gets(el, &n);
        sigprocmask(SIG_SETMASK, &open_mask, NULL);
        if (myth_cancelled(&is_stopped)) { /* Ctrl-C: the line is forgotten */
            m->n = 0;
            myth_cancel_clear(&is_stopped);
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

static void read_utf8(const myth_chat_input *in)
{
    setlocale(LC_CTYPE, "");
    if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0 && !setlocale(LC_CTYPE, "C.UTF-8"))
        myth_term_note(in->cli->term, "this system has no locale C.UTF-8: letters beyond ASCII are left out of what is "
                                      "typed; install it, or set LC_ALL to a locale in UTF-8");
}

static void begin_paste(void)
{
    const char *term = myth_env_get("TERM");
    if (!isatty(STDOUT_FILENO) || !term || strcmp(term, "dumb") == 0)
        return;
    fputs(PASTE_ON, stdout);
    fflush(stdout);
    has_paste = 1;
}

myth_status myth_chat_terminal(myth_chat_input *in, myth_error *err)
{
    HistEvent event;
    message m = {.mem = in->cli->mem};
    bool is_end = false;
    myth_status st = MYTH_OK;
    const myth_cancel *outer = in->cancel;
    read_utf8(in);
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
    /* el_set would make copies of the names, and never free them. */
    el_wset(el, EL_ADDFN, L"mythos-paste", L"put what is pasted into the line", paste);
    el_set(el, EL_BIND, PASTE_BEGIN, "mythos-paste", NULL);
    el_set(el, EL_BIND, "\t", "ed-insert", NULL);
    myth_cancel_clear(&is_stopped);
    is_ended = 0;
    waiting.in = in;
    waiting.el = el;
    measure(el);
    waiting.m = &m;
    waiting.st = MYTH_OK;
    waiting.err = err;
    in->cancel = &is_stopped;
    catch_signals();
    begin_paste();
    st = myth_chat_input_answer(in, err);
    while (st == MYTH_OK && !in->is_over && !is_ended && !is_end) {
        myth_cancel_clear(&is_stopped);
        st = read_message(el, past, &m, &is_end, err);
        st = waiting.st != MYTH_OK ? waiting.st : st;
        if (st == MYTH_OK && m.n && !is_ended)
            st = myth_chat_input_line(in, m.text, m.n, err);
        m.n = 0;
        if (st == MYTH_OK && !is_ended && !look())
            st = waiting.st;
    }
    end_paste();
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
