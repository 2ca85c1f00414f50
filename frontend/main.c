/* main.c - what happens before and after every command: flags, ledger, signals, the memory report, the exit code. */
#include "frontend/cli/cli.h"
#include "engine/base/outfile.h"
#include "engine/run/devices.h"
#include "retrieval/retrieval.h"
#include "frontend/cli/help.h"
#include "frontend/cli/hints.h"
#include "frontend/cli/live.h"
#include "frontend/cli/memreport.h"
#include "frontend/cli/rcfile.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static volatile sig_atomic_t n_tick;
static myth_cancel is_cancelled, n_interrupt;

static _Noreturn void end_now(int code)
{
    myth_out_remove_begun();
    _exit(code);
}

static void on_interrupt(int sig)
{
    if (n_interrupt++ > 0)
        end_now(MYTH_EXIT_INTERRUPTED);
    myth_cancel_set(&is_cancelled);
    if (sig != SIGINT) /* the system sends SIGTERM and SIGHUP only once: end by ourselves if the run hangs */
        alarm(1);
}

/* Runs once a second after SIGTERM or SIGHUP. The alarm interrupts a read that began to wait just after the signal, so
 * that its loop checks the flag. A run that never checks the flag is ended here after MYTH_END_SECONDS; its report may
 * be out by then. Before any signal it is the time limit (myth_cli_end_after), which ends the run as SIGTERM does. */
static void on_tick(int sig)
{
    (void)sig;
    if (!n_interrupt) {
        on_interrupt(SIGTERM);
        return;
    }
    n_tick++;
    if (n_tick >= MYTH_END_SECONDS)
        end_now(myth_cli_told());
    alarm(1);
}

/* SIGBUS: another process truncated a mapped file, and its last pages can no longer be read. */
static void on_lost_page(int sig)
{
    static const char line[] =
        "mythos: a model file became shorter while it was in use; --load-mode pread copies it into memory first\n";
    ssize_t n = write(STDERR_FILENO, line, sizeof(line) - 1);
    (void)sig;
    (void)n; /* the exit code says the same */
    end_now(MYTH_EXIT_IO);
}

/* libgit2 follows a null pointer where its small requests fail: see myth_git_on_no_memory. */
static void on_no_memory(size_t bytes)
{
    static const char line[] = "mythos: out of memory while git's files were read; free some, or raise the limit that "
                               "this process runs under\n";
    ssize_t n = write(STDERR_FILENO, line, sizeof(line) - 1);
    (void)bytes;
    (void)n;
    end_now(MYTH_EXIT_MEMORY);
}

static void catch_signals(void)
{
    struct sigaction on_int = {.sa_handler = on_interrupt}, on_bus = {.sa_handler = on_lost_page};
    struct sigaction on_alarm = {.sa_handler = on_tick};
    sigemptyset(&on_int.sa_mask);
    sigemptyset(&on_alarm.sa_mask);
    sigemptyset(&on_bus.sa_mask);
    sigaction(SIGINT, &on_int, NULL);
    sigaction(SIGALRM, &on_alarm, NULL);
    for (int i = 0; i < 2; i++) {
        static const int ends[] = {SIGTERM, SIGHUP};
        struct sigaction was;
        if (sigaction(ends[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN) /* nohup */
            sigaction(ends[i], &on_int, NULL);
    }
    sigaction(SIGBUS, &on_bus, NULL);
    signal(SIGPIPE, SIG_DFL); /* a reader that leaves ends us quietly, whatever the parent had set */
}

static int unknown_command(myth_term *term, const char *word)
{
    const char *near = word[0] == '-' ? NULL : myth_hint_command_like(word);
    static const char *const own[] = {"--help", "--version"}, *const topic[] = {MYTH_HELP_EXITS};
    const char *flag = word[0] == '-' && strlen(word) > 2 ? myth_args_nearest(word, own, 2) : NULL;
    char line[256];
    if (flag)
        snprintf(line, sizeof(line), "unknown flag %.60s; did you mean %s?", word, flag);
    else if (word[0] == '-')
        snprintf(line, sizeof(line), "%.60s: flags follow the command; mythos --help lists the commands", word);
    else if (near)
        snprintf(line, sizeof(line), "unknown command '%.60s'; did you mean %s?", word, near);
    else if (myth_args_nearest(word, topic, 1))
        snprintf(line, sizeof(line), "unknown command '%.60s'; did you mean help %s?", word, topic[0]);
    else
        snprintf(line, sizeof(line), "unknown command '%.60s'; mythos --help lists the commands", word);
    myth_term_error(term, line);
    return MYTH_EXIT_USAGE;
}

static void show_config(const myth_parsed *p)
{
    for (int i = 0; i < p->n_slot; i++) {
        char value[256];
        myth_args_text(&p->slot[i], value, sizeof(value));
        printf("%-18s %-24s %s\n", p->slot[i].opt->name, value[0] ? value : "-",
               myth_opt_source_name[p->slot[i].source]);
    }
}

/* A failed write to standard output makes the run fail, whatever the command returned. */
static int flush_stdout(myth_term *term, int code)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    char line[128];
    /* The write that failed may be long ago, and its cause forgotten. The output is broken, and one more byte fails in
     * the same way. */
    if (!errno && putchar('\n') != EOF)
        fflush(stdout);
    snprintf(line, sizeof(line), "standard output: %s", errno ? strerror(errno) : "write failed");
    myth_term_error(term, line);
    return MYTH_EXIT_IO;
}

static void set_limits(const myth_cli *cli)
{
    for (int d = 0; d < MYTH_MEM_DEVICE_MAX; d++)
        myth_mem_set_limit(cli->mem, d, cli->limits.bytes[d]);
}

/* Sets the ledger's limits, runs the command, then writes the memory report and checks that everything was freed. */
static int run_with_ledger(myth_cli *cli, const void *opts)
{
    myth_error err = {0};
    myth_rss_watch watch;
    const char *report = cli->global->mem_report, *limit;
    char room[MYTH_LIMIT_TEXT];
    int code;
    if (myth_hint_check_apart(cli, &err) != MYTH_OK ||
        myth_hint_check_output("--mem-report", report, &err) != MYTH_OK ||
        myth_cli_limit_text(&limit, room, cli->global->mem_limit, &err) != MYTH_OK)
        return myth_cli_fail(cli, &err);
    if (limit && myth_devices_read_limits(&cli->limits, limit, cli->global->device, myth_size_parse, &err) != MYTH_OK)
        return myth_cli_failf(cli, err.code, "--mem-limit: %s", err.msg);
    if (myth_mem_open(&cli->mem, 0, &err) != MYTH_OK)
        return myth_cli_fail(cli, &err);
    set_limits(cli); /* also for the first line of a report */
    if (myth_live_open(&cli->live, cli, &is_cancelled, &n_interrupt, &err) != MYTH_OK) {
        code = myth_cli_fail(cli, &err);
        myth_mem_close(cli->mem);
        return code;
    }
    myth_cli_mem_mode(cli);
    const bool is_whole_report = report && !myth_live_is_stream(report);
    if (is_whole_report)
        myth_rss_start(&watch);
    do {
        set_limits(cli);
        code = cli->command->run(cli, opts);
        myth_term_progress_end(cli->term);
    } while (myth_live_again(cli->live, code, &cli->limits) && (cli->goes_on = true));
    if (is_whole_report && myth_memreport_write(report, cli, myth_rss_stop(&watch), &err) != MYTH_OK)
        code = myth_exit_worse(myth_cli_fail(cli, &err), code);
    myth_live_close(cli->live);
    for (int i = 0; i < MYTH_MEM_DEVICE_MAX * MYTH_MEM_CLASS_N; i++) {
        int c = i % MYTH_MEM_CLASS_N;
        uint64_t live = myth_mem_get(cli->mem, i / MYTH_MEM_CLASS_N, (myth_mem_class)c).live;
        if (live) {
            char line[128];
            snprintf(line, sizeof(line), "internal error: %llu bytes of %s were not freed; please report it",
                     (unsigned long long)live, myth_mem_class_name((myth_mem_class)c));
            myth_term_error(cli->term, line);
            code = MYTH_EXIT_INTERNAL;
        }
    }
    if (code != MYTH_EXIT_INTERNAL)
        myth_mem_close(cli->mem);
    return code;
}

/* Says how many arguments a command takes, and what the one too many was probably meant to be. */
static int wrong_count(myth_cli *cli)
{
    const myth_command *c = cli->command;
    const char *last = cli->n_arg ? cli->arg[cli->n_arg - 1] : NULL;
    char hint[256];
    struct stat st;
    snprintf(hint, sizeof(hint), "see mythos %s --help", c->name);
    const bool is_more = cli->n_arg > c->max_arg, is_there = is_more && stat(last, &st) == 0;
    const bool is_text = is_more && (strncmp(c->args, "QU", 2) == 0);
    if (is_more && is_there && S_ISDIR(st.st_mode) && !myth_help_has_dir(c) && myth_args_find(cli->parsed, "directory"))
        snprintf(hint, sizeof(hint), "the directory is given by -C %.100s", last);
    else if (is_text && cli->n_arg > 1 + c->max_arg)
        snprintf(hint, sizeof(hint), "put a text of several words in quotes: \"%.60s %.60s ...\"", cli->arg[0],
                 cli->arg[1]);
    else if (is_more && !is_there && cli->n_arg == 2 && strstr(c->args, "A..B"))
        snprintf(hint, sizeof(hint), "from one revision to another is %.60s..%.60s", cli->arg[0], last);
    else if (is_there && c->max_arg == 0 && myth_args_find(cli->parsed, "model"))
        snprintf(hint, sizeof(hint), "the model is given by -m %.100s", last);
    return myth_cli_failf(cli, MYTH_EARG, "%s: got %d argument%s, expected %s; %s", c->name, cli->n_arg,
                          myth_s((unsigned)cli->n_arg), c->args[0] ? c->args : "none", hint);
}

static void say_unread_variable(myth_cli *cli)
{
    char plain[80], own[80];
    const myth_option *o = cli->parsed->unread_env;
    myth_args_env_name(o, NULL, plain, sizeof(plain));
    myth_args_env_name(o, cli->command->name, own, sizeof(own));
    myth_term_note(cli->term, "%s is not read, since --%s is another flag in another command; here it is %s", plain,
                   o->name, own);
}

static int run_command(const myth_command *c, int argc, char **argv, myth_term *term)
{
    static _Alignas(max_align_t) unsigned char opts[1024];
    static myth_parsed parsed;
    static myth_global global;
    myth_error err = {0};
    assert(c->opts_bytes <= sizeof(opts));
    for (size_t i = 0; i < c->n_group; i++)
        myth_args_add(&parsed, &c->group[i], opts);
    const char *directory = NULL;
    if (myth_help_has_dir(c))
        myth_args_add(&parsed, &myth_group_directory, &directory);
    myth_args_add(&parsed, &myth_group_global, &global);
    parsed.command = c->name;
    parsed.command_of = myth_hint_command_of;
    if (myth_args_parse(&parsed, argc, argv, &err) != MYTH_OK) {
        myth_term_error(term, err.msg);
        return MYTH_EXIT_USAGE;
    }
    if (parsed.wants_help) {
        myth_help_command(stdout, c);
        return MYTH_EXIT_CLEAN;
    }
    if (myth_rcfile_read(&parsed, c, global.config, &err) != MYTH_OK) { /* --help works with a broken one, too */
        myth_term_error(term, err.msg);
        return MYTH_EXIT_CONFIG;
    }
    if (global.show_config) {
        show_config(&parsed);
        return MYTH_EXIT_CLEAN;
    }
    char limit[32];
    const myth_opt_source by_gb = myth_args_find(&parsed, "max-memory-gb")->source,
                          by_size = myth_args_find(&parsed, "mem-limit")->source;
    if (global.max_memory_gb != 0 && global.mem_limit && by_gb == by_size) {
        myth_term_error(term, "--max-memory-gb and --mem-limit say the same: give one of them");
        return MYTH_EXIT_USAGE;
    }
    if (global.max_memory_gb != 0 && by_gb < by_size)
        global.max_memory_gb = 0; /* a flag stands above a variable, whichever of the two names it has */
    if (global.max_memory_gb != 0) {
        snprintf(limit, sizeof(limit), "%.0fKiB", (double)global.max_memory_gb * (1 << 20));
        global.mem_limit = limit;
    }
    myth_term_start(term, global.is_quiet, global.verbose, global.log_format == 1);
    myth_cli cli = {
        .command = c,
        .global = &global,
        .parsed = &parsed,
        .n_arg = parsed.n_arg,
        .arg = argv,
        .directory = directory,
        .log = {myth_term_log, term,
                global.is_quiet  ? MYTH_LOG_ERROR
                : global.verbose ? MYTH_LOG_DEBUG
                                 : MYTH_LOG_WARN},
        .term = term,
        .cancel = &is_cancelled,
    };
    if (parsed.n_arg < c->min_arg || parsed.n_arg > c->max_arg)
        return wrong_count(&cli);
    if (directory && parsed.n_arg == c->max_arg)
        return myth_cli_failf(&cli, MYTH_EARG, "%s: the directory is given twice, by -C %s and as %s", c->name,
                              directory, argv[parsed.n_arg - 1]);
    if (parsed.unread_env)
        say_unread_variable(&cli);
    catch_signals();
    myth_git_on_no_memory(on_no_memory);
    myth_cli_watch(&is_cancelled);
    return run_with_ledger(&cli, opts);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--chunk-worker") == 0)
        return myth_chunk_worker(&myth_candidates_reader); /* a child: parsers in a process of their own */
    myth_term term;
    myth_term_start(&term, false, false, false);
    const char *word = argc > 1 ? argv[1] : "";
    if (!*word) {
        myth_help_overview(stderr);
        return MYTH_EXIT_USAGE;
    }
    if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0 || (strcmp(word, "help") == 0 && argc < 3)) {
        myth_help_overview(stdout);
        return flush_stdout(&term, MYTH_EXIT_CLEAN);
    }
    if (strcmp(word, "--version") == 0)
        word = "version";
    if (strcmp(word, "help") == 0)
        word = argv[2];
    const bool is_topic = word != argv[1] && strcmp(word, MYTH_HELP_EXITS) == 0 && argc == 3;
    if (is_topic) {
        myth_help_exits(stdout);
        return flush_stdout(&term, MYTH_EXIT_CLEAN);
    }
    const myth_command *c = myth_command_named(word);
    if (!c)
        return unknown_command(&term, word);
    if (strcmp(argv[1], "help") == 0 && argc > 3) {
        char line[256];
        snprintf(line, sizeof(line),
                 "help: got '%.60s' after %s, expected one command; mythos help %s prints its flags", argv[3], c->name,
                 c->name);
        myth_term_error(&term, line);
        return MYTH_EXIT_USAGE;
    }
    if (strcmp(argv[1], "help") == 0) {
        myth_help_command(stdout, c);
        return flush_stdout(&term, MYTH_EXIT_CLEAN);
    }
    return flush_stdout(&term, run_command(c, argc - 2, argv + 2, &term));
}
