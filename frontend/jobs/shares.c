/* shares.c - see shares.h: reads --share, and for --data-parallel starts a process for each device, passes on what they
 * say, and waits. */
#define _GNU_SOURCE
#include "shares.h"

#include "journal.h"
#include "engine/base/program.h"
#include "engine/run/devices.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

const myth_option myth_options_shares[MYTH_N_OPTIONS_SHARES] = {
    {"data-parallel", NULL, MYTH_OPT_FLAG, NULL, offsetof(myth_share_flags, data_parallel), NULL, 0, 0,
     "give each device of --device a process and a share of the job; the results are those of one"},
    {"share", NULL, MYTH_OPT_TEXT, "K/N", offsetof(myth_share_flags, share), NULL, 0, 0,
     "compute only the K-th of N shares, as FILE.K-of-N.journal; merge/N: put them together and write the output"},
};

enum { NAME_BYTES = 32, WORDS_MAX = 512, WORD_BYTES = 1 << 17, LINE_BYTES = 512, WAIT_MS = 100, LIMIT_BYTES = 512 };

/* ---- which ---- */

const char *myth_shares_flag(const myth_share_flags *f)
{
    return f->share ? "--share" : f->data_parallel ? "--data-parallel" : NULL;
}

bool myth_shares_is_part(const myth_cli *cli) { return cli->n_share > 1 && !cli->merges_shares; }

bool myth_shares_has(const myth_cli *cli, uint64_t i)
{
    return !myth_shares_is_part(cli) || i % cli->n_share == cli->share;
}

uint64_t myth_shares_count(const myth_cli *cli, uint64_t n)
{
    if (!myth_shares_is_part(cli))
        return n;
    return n / cli->n_share + (n % cli->n_share > cli->share);
}

const char *myth_shares_output(char dst[PATH_MAX], const myth_cli *cli, const char *output)
{
    if (!myth_shares_is_part(cli))
        return output;
    /* what does not fit PATH_MAX is refused by the journal */
    if (snprintf(dst, PATH_MAX, "%s.%u-of-%u", output, cli->share + 1, cli->n_share) >= PATH_MAX)
        return output;
    return dst;
}

/* A number below 2^31 that begins at *at, which moves behind it; 0 for what is none. */
static uint32_t take_number(const char **at)
{
    char *end;
    const unsigned long n = isdigit((unsigned char)**at) ? strtoul(*at, &end, 10) : 0;
    if (n == 0 || n > INT32_MAX)
        return 0;
    *at = end;
    return (uint32_t)n;
}

/* K/N, or merge/N with *k 0; false for anything else. */
static bool split_share(const char *text, uint32_t *k, uint32_t *n)
{
    const bool is_merge = strncmp(text, "merge/", 6) == 0;
    text += is_merge ? 5 : 0;
    *k = is_merge ? 0 : take_number(&text);
    *n = *text == '/' ? (text++, take_number(&text)) : 0;
    return *n && !*text && (is_merge || (*k && *k <= *n));
}

static myth_status read_share(myth_cli *cli, const char *text, myth_error *err)
{
    uint32_t k, n;
    cli->share = cli->n_share = 0;
    cli->merges_shares = false;
    if (!text)
        return MYTH_OK;
    if (!split_share(text, &k, &n) || n > MYTH_JOURNAL_SHARES)
        return myth_fail(err, MYTH_EARG, "--share: got '%.40s', expected K/N such as 1/2, or merge/N; N is at most %d",
                         text, MYTH_JOURNAL_SHARES);
    cli->merges_shares = k == 0;
    cli->share = k ? k - 1 : 0;
    cli->n_share = n;
    return MYTH_OK;
}

/* ---- the command line of a process ---- */

typedef struct {
    char text[WORD_BYTES];
    char *word[WORDS_MAX];
    int n, n_flag; /* n_flag: words before a "--" */
} command_line;

/* The words that this process was called with; the parser has put those of argv in another order. */
static myth_status read_words(command_line *c, myth_error *err)
{
    const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    for (ssize_t got = 1; fd >= 0 && len < sizeof(c->text) - 1 && got > 0; len += got > 0 ? (size_t)got : 0)
        got = read(fd, c->text + len, sizeof(c->text) - 1 - len);
    if (fd >= 0)
        close(fd);
    c->n = 0;
    for (size_t i = 0; i < len && c->n < WORDS_MAX - 16; i += strlen(c->text + i) + 1)
        c->word[c->n++] = c->text + i;
    if (c->n < 2 || len == sizeof(c->text) - 1 || c->n == WORDS_MAX - 16)
        return myth_fail(err, MYTH_ELIMIT, "--data-parallel: the command line cannot be read again, or is too long");
    for (c->n_flag = 1; c->n_flag < c->n && strcmp(c->word[c->n_flag], "--") != 0;) {
        const char *word = c->word[c->n_flag];
        const int n_gone = strcmp(word, "--data-parallel") == 0       ? 1
                         : strcmp(word, "--max-memory-gb") == 0       ? 2 /* each process has --mem-limit */
                         : strncmp(word, "--max-memory-gb=", 16) == 0 ? 1
                                                                      : 0;
        if (!n_gone || c->n_flag + n_gone > c->n) {
            c->n_flag++;
            continue;
        }
        c->n -= n_gone;
        memmove(c->word + c->n_flag, c->word + c->n_flag + n_gone, (size_t)(c->n - c->n_flag) * sizeof(*c->word));
    }
    return MYTH_OK;
}

/* argv with these flags behind the others: the last of a flag counts. */
static void with_flags(char *argv[WORDS_MAX + 1], const command_line *c, const char *const *flag, int n_flag)
{
    int n = 0;
    for (int i = 0; i < c->n_flag; i++)
        argv[n++] = c->word[i];
    for (int i = 0; i < n_flag && n < WORDS_MAX; i++)
        argv[n++] = (char *)(uintptr_t)flag[i];
    for (int i = c->n_flag; i < c->n && n < WORDS_MAX; i++)
        argv[n++] = c->word[i];
    argv[n] = NULL;
}

/* ---- devices ---- */

typedef struct {
    char name[MYTH_JOURNAL_SHARES][NAME_BYTES];
    uint32_t n;
} device_list;

static myth_status read_devices(device_list *d, const myth_cli *cli, myth_error *err)
{
    const char *at = cli->global->device;
    for (d->n = 0; at && *at; at += strcspn(at, ","), at += *at == ',') {
        const size_t len = strcspn(at, ",");
        if (d->n == MYTH_JOURNAL_SHARES || len == 0 || len >= NAME_BYTES)
            return myth_fail(err, MYTH_EARG, "--device %.80s: expected at most %d names of devices, parted by commas",
                             cli->global->device, MYTH_JOURNAL_SHARES);
        memcpy(d->name[d->n], at, len);
        d->name[d->n++][len] = '\0';
    }
    if (d->n < 2)
        return myth_fail(err, MYTH_EARG,
                         "--data-parallel divides a job among devices; name them: --device cuda:0,cuda:1");
    for (uint32_t i = 1; i < d->n; i++)
        if (strcspn(d->name[i], ":") != strcspn(d->name[0], ":") ||
            strncmp(d->name[i], d->name[0], strcspn(d->name[0], ":")) != 0)
            return myth_fail(err, MYTH_EARG,
                             "--data-parallel: %s and %s are not of one kind, and round differently; name devices of "
                             "one kind",
                             d->name[0], d->name[i]);
    return MYTH_OK;
}

/* One limit divided by n: of bytes, or the n-th part of what there is; nothing for a device that has one process. */
static size_t put_limit(char *dst, size_t cap, const char *name, uint64_t limit, uint32_t n)
{
    if (limit == 0 && n == 1)
        return 0;
    return (size_t)(limit ? snprintf(dst, cap, ",%s=%llu", name, (unsigned long long)(limit / n))
                          : snprintf(dst, cap, ",%s=%.4g%%", name, 100.0 / n));
}

/* The ledger of a device: the one that a limit of its name is for; the host's where it has none of its own. */
static int ledger_of(const char *name)
{
    char text[NAME_BYTES + 8];
    myth_mem_limits limits = {0};
    snprintf(text, sizeof(text), "%s=1MiB", name);
    if (myth_devices_read_limits(&limits, text, NULL, myth_size_parse, NULL) != MYTH_OK)
        return MYTH_MEM_HOST;
    for (int i = 1; i < MYTH_MEM_DEVICE_MAX; i++)
        if (limits.bytes[i])
            return i;
    return MYTH_MEM_HOST;
}

/* The limits of process k: its part of the host's, and of its device's. */
static const char *limits_of(char text[LIMIT_BYTES], const myth_cli *cli, const device_list *d, uint32_t k)
{
    const int ledger = ledger_of(d->name[k]);
    uint32_t n_same = 0;
    for (uint32_t i = 0; i < d->n; i++)
        n_same += strcmp(d->name[i], d->name[k]) == 0;
    size_t n = put_limit(text, LIMIT_BYTES, "host", cli->limits.bytes[MYTH_MEM_HOST], d->n);
    if (ledger != MYTH_MEM_HOST)
        put_limit(text + n, LIMIT_BYTES - n, d->name[k], cli->limits.bytes[ledger], n_same);
    return text + 1; /* without the first comma; there are at least two processes */
}

/* ---- processes ---- */

typedef struct {
    char name[64]; /* "1/2 cuda:0" */
    pid_t pid;
    int fd;                /* its standard error; -1 = ended */
    char line[LINE_BYTES]; /* what it has begun to say */
    size_t n;
    char last[LINE_BYTES]; /* the last line that it said */
} process;

static myth_status begin(process *p, const char *program, char *const *argv, myth_error *err)
{
    int end[2];
    if (pipe2(end, O_CLOEXEC) != 0)
        return myth_fail(err, MYTH_EIO, "pipe: %s", strerror(errno));
    const pid_t parent = getpid();
    p->pid = fork();
    if (p->pid == 0) { /* only calls that are safe after fork */
        const int none = open("/dev/null", O_RDWR);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setpgid(0, 0); /* a Ctrl-C reaches the leader alone, which asks once: asked twice, a process ends at once */
        if (getppid() == parent && none >= 0 && dup2(none, 0) == 0 && dup2(none, 1) == 1 && dup2(end[1], 2) == 2)
            execv(program, argv);
        _exit(127);
    }
    close(end[1]);
    if (p->pid < 0) {
        close(end[0]);
        return myth_fail(err, MYTH_EIO, "%s cannot be started: %s", program, strerror(errno));
    }
    p->fd = end[0];
    return MYTH_OK;
}

static void say(const myth_cli *cli, process *p)
{
    p->line[p->n] = '\0';
    const char *text = strncmp(p->line, "mythos: ", 8) == 0 ? p->line + 8 : p->line;
    if (*text) {
        snprintf(p->last, sizeof(p->last), "%s", text);
        myth_term_note(cli->term, "%s: %s", p->name, text);
    }
    p->n = 0;
}

/* Reads what a process says; false when it has ended. */
static bool listen_to(const myth_cli *cli, process *p)
{
    char piece[LINE_BYTES];
    const ssize_t n = read(p->fd, piece, sizeof(piece));
    for (ssize_t i = 0; i < n; i++) {
        if (piece[i] == '\n' || p->n + 1 == sizeof(p->line))
            say(cli, p);
        if (piece[i] != '\n')
            p->line[p->n++] = piece[i];
    }
    if (n > 0 || (n < 0 && errno == EINTR))
        return true;
    if (p->n)
        say(cli, p);
    close(p->fd);
    p->fd = -1;
    return false;
}

static void stop_all(const process *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (p[i].fd >= 0)
            kill(p[i].pid, SIGTERM);
}

/* Waits for all. The first that failed stops the others, which keep what they have. */
static myth_status wait_for(const myth_cli *cli, process *p, uint32_t n, myth_error *err)
{
    struct pollfd polled[MYTH_JOURNAL_SHARES];
    uint32_t n_left = n;
    bool is_stopped = false;
    myth_status st = MYTH_OK;
    while (n_left) {
        if (myth_cancelled(cli->cancel) && !is_stopped) {
            stop_all(p, n);
            is_stopped = true;
        }
        for (uint32_t i = 0; i < n; i++)
            polled[i] = (struct pollfd){.fd = p[i].fd, .events = POLLIN};
        if (poll(polled, n, WAIT_MS) <= 0)
            continue;
        for (uint32_t i = 0; i < n; i++) {
            int status = 0;
            if (p[i].fd < 0 || !polled[i].revents || listen_to(cli, &p[i]))
                continue;
            n_left--;
            while (waitpid(p[i].pid, &status, 0) < 0 && errno == EINTR)
                ;
            const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            if (code == MYTH_EXIT_CLEAN || code == MYTH_EXIT_INCOMPLETE || st != MYTH_OK || is_stopped)
                continue;
            st = WIFEXITED(status)
                   ? myth_fail(err, myth_exit_status(code), "share %s: %.300s", p[i].name, p[i].last)
                   : myth_fail(err, MYTH_EIO, "share %s was ended by signal %d; the same command goes on", p[i].name,
                               WTERMSIG(status));
            stop_all(p, n);
            is_stopped = true;
        }
    }
    return st == MYTH_OK && is_stopped ? myth_fail(err, MYTH_ECANCEL, "interrupted; the same command goes on") : st;
}

static myth_status run_shares(myth_cli *cli, const device_list *d, const command_line *c, const char *program,
                              myth_error *err)
{
    static process p[MYTH_JOURNAL_SHARES];
    char *argv[WORDS_MAX + 1];
    uint32_t n = 0;
    myth_status st = MYTH_OK;
    memset(p, 0, sizeof(p));
    for (; n < d->n && st == MYTH_OK; n += st == MYTH_OK) {
        char share[24], limits[LIMIT_BYTES], threads[16];
        const long n_core = sysconf(_SC_NPROCESSORS_ONLN);
        const uint32_t n_thread = cli->global->n_threads ? cli->global->n_threads : n_core > 0 ? (uint32_t)n_core : 1;
        snprintf(share, sizeof(share), "%u/%u", n + 1, d->n);
        snprintf(p[n].name, sizeof(p[n].name), "%s %s", share, d->name[n]);
        snprintf(threads, sizeof(threads), "%u", n_thread / d->n ? n_thread / d->n : 1);
        const char *const flag[] = {"--device", d->name[n],  "--share", share,         "--resume",
                                    "on",       "--threads", threads,   "--mem-limit", limits_of(limits, cli, d, n)};
        with_flags(argv, c, flag, sizeof(flag) / sizeof(flag[0]));
        st = begin(&p[n], program, argv, err);
    }
    if (st != MYTH_OK)
        stop_all(p, n);
    myth_error waited = {0};
    const myth_status all = wait_for(cli, p, n, &waited);
    if (st == MYTH_OK && all != MYTH_OK)
        *err = waited;
    return st != MYTH_OK ? st : all;
}

/* Runs the shares on their devices, and becomes the process that merges them. */
static myth_status lead(myth_cli *cli, const device_list *d, const char *output, bool is_dry, myth_error *err)
{
    static command_line c; /* too large for a stack */
    char program[PATH_MAX], merge[24], *argv[WORDS_MAX + 1];
    myth_status st = MYTH_OK;
    MYTH_TRY(read_words(&c, err));
    if (!myth_program_start(program, sizeof(program)))
        return myth_fail(err, MYTH_EIO, "--data-parallel: this program's path is not known; call it by its path");
    if (is_dry) {
        const char *const flag[] = {"--device", d->name[0], "--share", "1/1"};
        myth_term_note(cli->term, "what one process needs, on %s; there are %u of them", d->name[0], d->n);
        with_flags(argv, &c, flag, 4);
    } else {
        if (myth_journal_kind_of(output) == MYTH_JOURNAL_BEGUN && !myth_journal_shares(output))
            MYTH_TRY(myth_fail(err, MYTH_EARG,
                               "%.200s.journal: was begun by one process; finish it without --data-parallel, or begin "
                               "anew with --resume off",
                               output));
        if (myth_journal_kind_of(output) != MYTH_JOURNAL_MERGED) /* else only the output is missing */
            MYTH_TRY(run_shares(cli, d, &c, program, err));
        snprintf(merge, sizeof(merge), "merge/%u", d->n);
        const char *const flag[] = {"--device", d->name[0], "--share", merge, "--resume", "on"};
        with_flags(argv, &c, flag, 6);
    }
    fflush(stdout);
    execv(program, argv);
    st = myth_fail(err, MYTH_EIO, "%s cannot be started: %s", program, strerror(errno));
fail:
    return st;
}

/* A job that was begun in shares goes on in as many. --resume off forgets them. */
static myth_status check_begun(const char *output, uint32_t n_share, bool goes_on, myth_error *err)
{
    const uint32_t was = output ? myth_journal_shares(output) : 0;
    if (!was || was == n_share)
        return MYTH_OK;
    if (!goes_on)
        return myth_journal_remove_all(output, was, err);
    return myth_fail(err, MYTH_EARG,
                     "%.200s.1-of-%u.journal: the job was begun in %u shares; go on with them, or begin anew with "
                     "--resume off",
                     output, was, was);
}

uint32_t myth_shares_forgotten(const myth_share_flags *f, const char *output, bool goes_on)
{
    const uint32_t was = goes_on || !output ? 0 : myth_journal_shares(output);
    uint32_t k, n;
    /* one of as many shares is begun anew alone, and a merge needs them all */
    const bool stay = f->share && split_share(f->share, &k, &n) && (k == 0 || n == was);
    return stay ? 0 : was;
}

myth_status myth_shares_begin(myth_cli *cli, const myth_share_flags *f, const char *input, const char *output,
                              bool goes_on, bool is_dry, myth_error *err)
{
    static device_list d;
    const char *flag = myth_shares_flag(f);
    myth_status st = read_share(cli, f->share, err);
    const bool is_led = f->data_parallel && !cli->n_share; /* not a process that --data-parallel began */
    d.n = 0;
    if (st == MYTH_OK && is_led)
        st = read_devices(&d, cli, err);
    if (st == MYTH_OK && !is_dry)
        st = check_begun(output, is_led ? d.n : cli->n_share, goes_on, err);
    if (st != MYTH_OK || (!is_led && !cli->n_share))
        return st;
    if (input && strcmp(input, "-") == 0)
        return myth_fail(err, MYTH_EARG, "%s: standard input is read by one process; name a file", flag);
    if (!output && !is_dry)
        return myth_fail(err, MYTH_EARG, "%s: -o FILE is missing: the shares are kept beside it", flag);
    if (!is_led)
        return cli->merges_shares && !is_dry ? myth_journal_merge(output, cli->n_share, err) : MYTH_OK;
    if (cli->global->control || cli->global->mem_report || (cli->global->mem_limit && cli->global->mem_limit[0] == '@'))
        return myth_fail(err, MYTH_EARG,
                         "--data-parallel: --control, --mem-report and --mem-limit @FILE are of one process; leave "
                         "them out, or give --share K/N to each");
    if (!goes_on && !is_dry && (st = myth_journal_remove_all(output, d.n, err)) != MYTH_OK)
        return st;
    return lead(cli, &d, output, is_dry, err);
}
