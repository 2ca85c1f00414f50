/* test_chat.c - mythos chat as its users meet it: lines of a pipe, JSON lines, a terminal with its line editor, Ctrl-C,
 * saved chats that other processes go on from, refusals, memory. */
#include "tests/frontend/cli/cli_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>

#define CHAT "chat -m random:gemma3-tiny:f32 -c 512 -n 4 "

static cli_result r;

/* The value of a member, or of a member of a member ("context.held"), of JSON line i of the output. */
static json_t *line_at(int i)
{
    json_error_t e;
    const char *at = r.out;
    for (; i > 0 && at; i--)
        at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
    assert_non_null(at);
    json_t *j = json_loads(at, JSON_DISABLE_EOF_CHECK, &e);
    if (!j)
        fail_msg("line %d: %s in %s", i, e.text, r.out);
    return j;
}

static json_int_t number_at(int i, const char *object, const char *key)
{
    json_t *j = line_at(i);
    const json_t *v = json_object_get(object ? json_object_get(j, object) : j, key);
    if (!json_is_integer(v))
        fail_msg("no %s in line %d of %s", key, i, r.out);
    const json_int_t n = json_integer_value(v);
    json_decref(j);
    return n;
}

/* Line i says how many rows of the cache a chat of n tokens uses in both kinds of layers. */
static void check_rows(int i, json_int_t n)
{
    json_t *j = line_at(i);
    const json_t *context = json_object_get(j, "context"), *rows = json_object_get(context ? context : j, "rows");
    json_int_t global, global_limit, local, local_limit;
    assert_int_equal(json_unpack((json_t *)(uintptr_t)rows, "{s:{s:I,s:I},s:{s:I,s:I}}", "global", "used", &global,
                                 "limit", &global_limit, "local", "used", &local, "limit", &local_limit),
                     0);
    assert_int_equal(global, n);
    assert_int_equal(global_limit, 512);
    assert_true(local_limit < n && local == local_limit);
    json_decref(j);
}

static void a_pipe_is_a_chat(void **state)
{
    (void)state;
    cli_shell(&r, "printf 'hello\\n\\n//etc is a folder\\n/turns\\n/undo\\n/turns\\n/quit\\nnever\\n' | \"$M\" " CHAT);
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "1 hello\n2 /etc is a folder\n1 hello\n"));
    assert_null(strstr(r.out, "never"));
}

/* Without chance a retry is the same, as long as the chat is. */
static void a_retry_without_chance_is_said_to_be_the_same(void **state)
{
    (void)state;
    static const char note[] = "the answer is the same: with --temp 0";
    cli_shell(&r, "printf 'hi\n/retry\n' | \"$M\" " CHAT);
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.err, note));
    cli_shell(&r, "printf 'hi\n/system be brief\n/retry\n' | \"$M\" " CHAT);
    assert_null(strstr(r.err, note));
    cli_shell(&r, "printf 'hi\n/retry\n' | \"$M\" " CHAT "--temp 1");
    assert_null(strstr(r.err, note));
    cli_shell(&r, "printf 'hi\nhi\n' | \"$M\" " CHAT);
    assert_null(strstr(r.err, note));
}

static void json_lines_answer_json_lines(void **state)
{
    (void)state;
    cli_shell(&r, "printf '\"hello\"\\n{\"role\": \"user\", \"content\": \"again\"}\\n{\"command\": \"/stats\"}\\n{]\\n"
                  "{\"command\": \"/fly\"}\\n{\"role\": \"assistant\", \"content\": \"mine\"}\\n' | \"$M\" " CHAT
                  "--json -sys 'be brief'");
    assert_int_equal(r.code, 3); /* two lines could not be done, and two answers in a row are no chat */
    assert_int_equal(number_at(0, "usage", "completion_tokens"), 4);
    assert_int_equal(number_at(0, "usage", "prompt_tokens"), number_at(0, "usage", "computed_tokens"));
    assert_int_equal(number_at(0, "context", "limit"), 512);
    assert_int_equal(number_at(0, "context", "held") + number_at(0, "context", "room"), 512);
    assert_int_equal(number_at(0, "context", "held"), number_at(0, "usage", "prompt_tokens") + 3);
    check_rows(1, number_at(1, "context", "held"));
    check_rows(2, number_at(1, "context", "held"));
    assert_true(number_at(1, "usage", "computed_tokens") < number_at(1, "usage", "prompt_tokens"));
    assert_int_equal(number_at(2, NULL, "answers"), 2);
    assert_int_equal(number_at(2, NULL, "turns"), 2);
    json_t *bad = line_at(3), *unknown = line_at(4);
    assert_non_null(json_object_get(bad, "error"));
    assert_non_null(strstr(json_string_value(json_object_get(unknown, "error")), "/help"));
    json_decref(bad);
    json_decref(unknown);
}

/* What a person reads in the lists of /turns and /help a script reads too. */
static void lists_are_json(void **state)
{
    (void)state;
    json_error_t e;
    cli_shell(&r,
              "printf '\"one\"\n\"two\\\\nlines\"\n{\"command\": \"/pin 2\"}\n{\"command\": \"/turns\"}\n{\"command\": "
              "\"/help\"}\n' | \"$M\" " CHAT "--json");
    assert_int_equal(r.code, 0);
    json_t *turns = line_at(3), *help = line_at(4),
           *want = json_loads("[{\"turn\": 1, \"pinned\": false, \"messages\": 2, \"text\": \"one\"}, {\"turn\": 2, "
                              "\"pinned\": true, \"messages\": 2, \"text\": \"two\\nlines\"}]",
                              0, &e);
    assert_true(json_equal(json_object_get(turns, "list"), want));
    assert_int_equal(number_at(3, NULL, "turns"), 2);
    const json_t *save = json_array_get(json_object_get(help, "list"), 9);
    assert_string_equal(json_string_value(json_object_get(save, "command")), "/save FILE");
    assert_non_null(strstr(json_string_value(json_object_get(save, "help")), "write the chat"));
    json_decref(want);
    json_decref(help);
    json_decref(turns);
}

static void what_goes_is_said(void **state)
{
    (void)state;
    char line[600];
    for (int how = 0; how < 2; how++) {
        snprintf(line, sizeof(line),
                 "i=0; while [ $i -lt 20 ]; do echo \"\\\"message $i\\\"\"; i=$((i+1)); done | \"$M\" " CHAT
                 "--json -sys stay --on-full %s",
                 how ? "recompute" : "drop");
        cli_shell(&r, line);
        assert_int_equal(r.code, 0);
        json_int_t gone = 0;
        for (int i = 0; i < 20; i++) {
            assert_true(number_at(i, "context", "held") <= 512);
            if (number_at(i, "context", "evicted_turns") == 0)
                continue;
            gone += number_at(i, "context", "evicted_turns");
            assert_true(number_at(i, "context", "evicted_tokens") > 0);
            json_t *j = line_at(i);
            assert_string_equal(json_string_value(json_object_get(json_object_get(j, "context"), "by")),
                                how ? "recompute" : "drop");
            json_decref(j);
        }
        assert_true(gone > 0);
    }
    cli_shell(&r,
              "i=0; while [ $i -lt 20 ]; do echo \"message $i\"; i=$((i+1)); done | \"$M\" " CHAT "--on-full refuse");
    assert_int_equal(r.code, 3);
    assert_non_null(strstr(r.err, "--on-full refuse drops nothing"));
}

static void another_process_goes_on(void **state)
{
    (void)state;
    cli_shell(&r, "rm -f \"$D/s\"; printf '\"one\"\\n\"two\"\\n\"three\"\\n' | \"$M\" " CHAT "--json");
    assert_int_equal(r.code, 0);
    json_t *whole = line_at(2);
    cli_shell(&r, "printf '\"one\"\\n\"two\"\\n' | \"$M\" " CHAT "--json --session \"$D/s\" >/dev/null && "
                  "printf '\"three\"\\n' | \"$M\" " CHAT "--json --session \"$D/s\"");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.err, "2 turns\n"));
    json_t *rest = line_at(0);
    assert_string_equal(json_string_value(json_object_get(rest, "content")),
                        json_string_value(json_object_get(whole, "content")));
    assert_int_equal(number_at(0, "usage", "prompt_tokens"),
                     json_integer_value(json_object_get(json_object_get(whole, "usage"), "prompt_tokens")));
    assert_true(number_at(0, "usage", "computed_tokens") * 2 < number_at(0, "usage", "prompt_tokens"));
    json_decref(whole);
    json_decref(rest);
    cli_shell(&r, "printf '/load %s/none\\n/save %s/no/where\\n/save\\n' \"$D\" \"$D\" | \"$M\" " CHAT);
    assert_int_equal(r.code, 3);
    assert_non_null(strstr(r.err, "no such file"));
    assert_non_null(strstr(r.err, "/save: give a file"));
    /* What is no chat is not written over; what is, and an empty file, are. */
    cli_shell(&r, "echo '{\"mythos\": \"no chat at all\"}' >\"$D/text\"; cp \"$D/text\" \"$D/text2\"; : >\"$D/empty\"; "
                  "for f in text empty empty; "
                  "do printf \"hi\\n/save $D/$f\\n\" | \"$M\" " CHAT
                  ">\"$D/said\" 2>\"$D/e\"; echo $?; grep -o 'this is no "
                  "saved chat.*' \"$D/e\"; done; cmp \"$D/text\" \"$D/text2\" && grep -c mythos_chat \"$D/empty\"");
    assert_string_equal(
        r.out, "3\nthis is no saved chat, and is not written over: give another file, or remove it\n0\n0\n1\n");
}

/* The file of --session never has less than was said, nor what another process computed when nothing was said. */
static void a_session_file_loses_nothing(void **state)
{
    (void)state;
    cli_shell(&r, "rm -f \"$D/s\"; printf 'first question\\n' | \"$M\" " CHAT
                  "--session \"$D/s\" && cp \"$D/s\" \"$D/t\" && "
                  "printf '/turns\\n' | \"$M\" " CHAT "-ctk f32 --session \"$D/s\" && cmp \"$D/s\" \"$D/t\"");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.err, "computed again"));
    cli_shell(&r, "x=$(printf '%0500d' 0); printf \"/system $x\\n/retry\\n/system\\n\" | \"$M\" " CHAT
                  "--session \"$D/s\"");
    assert_int_equal(r.code, 3);
    assert_non_null(strstr(r.err, "the answer before it stays"));
    cli_shell(&r, "printf '{\"command\":\"/retry\"}\\n{\"command\":\"/stats\"}\\n' | \"$M\" " CHAT
                  "--json --session \"$D/s\"");
    assert_int_equal(r.code, 0);
    assert_int_equal(number_at(0, "usage", "completion_tokens"), 4);
    assert_int_equal(number_at(1, NULL, "turns"), 1);
    /* Where it cannot be written every turn says so, and the chat goes on. */
    cli_shell(&r,
              "mkdir -p \"$D/f\"; { echo one; while [ ! -s \"$D/o\" ]; do sleep 0.02; done; rm -r \"$D/f\"; echo two; "
              "} | \"$M\" " CHAT "--session \"$D/f/s\" | tee \"$D/o\" | wc -l");
    assert_string_equal(r.out, "2\n");
    assert_non_null(strstr(r.err, "the chat is not saved: "));
}

/* A second chat would take out what the first one says. A lock that nobody holds is no lock. */
static void one_chat_works_on_a_file(void **state)
{
    (void)state;
    cli_shell(&r,
              "rm -f \"$D/s\" \"$D/first\" \"$D/go\"; echo 1 >\"$D/s.lock\"; { echo first; while [ ! -e \"$D/go\" ]; "
              "do sleep 0.02; done; echo "
              "second; } | \"$M\" " CHAT
              "--session \"$D/s\" >\"$D/first\" & while [ ! -s \"$D/first\" ]; do sleep 0.02; done; "
              "echo other | \"$M\" " CHAT "--session \"$D/s\" 2>\"$D/e\"; echo $?; cat \"$D/e\"; printf "
              "\"other\\n/save $D/s\\n\" | \"$M\" " CHAT " >\"$D/o2\" 2>\"$D/e\"; echo $?; cat \"$D/e\"; : >\"$D/go\"; "
              "wait; ls \"$D/s.lock\" 2>&1; printf \"/save $D/../$(basename $D)/s\\n/turns\\n\" | \"$M\" " CHAT
              "--session \"$D/s\"; echo $?");
    const char *refused = strstr(r.out, "75\nmythos: ");
    assert_true(refused && strstr(refused, "is a chat that works on it; end that one, or give this one another file"));
    refused = strstr(refused + 1, "3\n");
    assert_true(refused && strstr(refused, "is a chat that works on it"));
    assert_non_null(strstr(r.out, "No such file"));
    assert_non_null(strstr(r.out, "\n1 first\n2 second\n0\n"));
}

static void a_conversation_begins_it(void **state)
{
    (void)state;
    cli_shell(&r,
              "echo '{\"messages\": [{\"role\": \"system\", \"content\": \"be brief\"}, {\"role\": \"user\", "
              "\"content\": \"hello\"}]}' >\"$D/m\"; printf '\"more\"\\n' | \"$M\" " CHAT "--json --messages \"$D/m\"");
    assert_int_equal(r.code, 0);
    assert_int_equal(number_at(0, "usage", "completion_tokens"), 4);
    assert_int_equal(number_at(1, "usage", "completion_tokens"), 4);
}

/* A chat of more turns than the context has room for begins without the oldest ones, wherever it comes from. */
static void a_long_conversation_begins_without_its_oldest_turns(void **state)
{
    (void)state;
    cli_shell(&r,
              "{ printf '{\"messages\": ['; i=0; while [ $i -lt 600 ]; do printf '{\"role\": \"user\", \"content\": "
              "\"q\"}, {\"role\": \"assistant\", \"content\": \"a\"}, '; i=$((i+1)); done; "
              "printf '{\"role\": \"user\", \"content\": \"last\"}]}'; } >\"$D/many\"; rm -f \"$D/l\"; "
              "printf 'hi\\n/turns\\n' | \"$M\" " CHAT "-c 128 --messages \"$D/many\"");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.err, "/many: the 585 oldest turns went, which a context of 128 tokens has no room for"));
    assert_non_null(strstr(r.out, " last\n"));
    cli_shell(&r, "printf 'hi\\n' | \"$M\" " CHAT "-c 128 --messages \"$D/many\" --on-full refuse");
    assert_int_equal(r.code, 3);
    assert_non_null(strstr(r.err, "the chat's 1201 messages of 1204 bytes do not fit a context of 128 tokens, and "
                                  "--on-full refuse drops nothing: raise -c"));
    cli_shell(&r,
              "x=$(printf '%0400d' 0); i=0; while [ $i -lt 9 ]; do printf \"$x\\n\"; i=$((i+1)); done | \"$M\" " CHAT
              "-c 8192 --session \"$D/l\" >\"$D/o\" && printf \"/turns\\n/load $D/l\\n\" | \"$M\" " CHAT
              "-c 128 --session \"$D/l\"");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.err, "/l: 4 turns, which are computed again\n"));
    const char *note = strstr(r.err, "/l: the 5 oldest turns went");
    assert_true(note && strstr(note + 1, "/l: the 5 oldest turns went")); /* of --session, of /load */
    /* What went for a message is in the file for a larger context. */
    cli_shell(&r, "echo hi | \"$M\" " CHAT "-c 128 --session \"$D/l\" && echo /turns | \"$M\" " CHAT
                  "-c 8192 --session \"$D/l\" | grep -c ' 0000'");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out, "\n9\n"));
    assert_non_null(strstr(r.err, "/l: 9 turns that went in a shorter context came back"));
}

static void a_grammar_holds_for_every_answer(void **state)
{
    (void)state;
    cli_shell(&r, "printf '\"one\"\\n\"two\"\\n{\"command\": \"/retry\"}\\n' | \"$M\" chat -m random:gemma3-tiny:f32 "
                  "-c 512 -n 30 "
                  "--json --temp 1 --grammar 'root ::= [a-f]{3} \"!\"' --mem-report $D/mem.json");
    assert_int_equal(r.code, 0);
    for (int i = 0; i < 3; i++) {
        json_t *j = line_at(i);
        const char *text = json_string_value(json_object_get(j, "content"));
        assert_string_equal(json_string_value(json_object_get(j, "finish_reason")), "stop");
        assert_int_equal(strlen(text), 4);
        assert_int_equal(strspn(text, "abcdef"), 3);
        json_decref(j);
    }
    cli_expect_planned("a chat under a grammar");
    cli_shell(&r, "printf 'x\\n' | \"$M\" chat -m random:gemma3-tiny:f32 -c 512 -n 30 -j '{\"enum\":[12,\"a\"]}'");
    assert_int_equal(r.code, 0);
    assert_true(strstr(r.out, "12") || strstr(r.out, "\"a\""));
    /* An answer whose grammar goes no further has ended, and says why. */
    cli_shell(&r, "printf 'x\\n' | \"$M\" chat -m random:gemma3-tiny:f32 -c 4096 -n 2000 "
                  "--grammar 'root ::= (\"b\"{1,900} | [bc]{1,800}){0,900000} \";\"'");
    assert_int_equal(r.code, 3);
    assert_non_null(strstr(r.err, "the answer is not whole: the grammar needs more states than fit"));
}

/* --stop ends every answer, which is shown and kept up to the text. */
static void a_text_ends_every_answer(void **state)
{
    (void)state;
    cli_shell(&r, "printf '\"hi\"\n\"more\"\n{\"command\": \"/save %s/stopped\"}\n' \"$D\" | \"$M\" " CHAT
                  "-n 60 --temp 2 --ignore-eos --stop nothing --stop sed --json");
    assert_int_equal(r.code, 0);
    for (int i = 0; i < 2; i++) {
        json_t *j = line_at(i);
        const char *text = json_string_value(json_object_get(j, "content"));
        assert_string_equal(json_string_value(json_object_get(j, "finish_reason")), "stop");
        assert_non_null(text);
        assert_string_equal(text + strlen(text) - 4, "<unu");
        assert_null(strstr(text, "sed"));
        json_decref(j);
    }
    cli_shell(&r, "grep -c '<unused' \"$D/stopped\"");
    assert_string_equal(r.out, "0\n");
    cli_shell(&r, "printf 'hi\nmore\n' | \"$M\" " CHAT "-n 60 --temp 2 --ignore-eos --stop nothing --stop sed");
    assert_int_equal(r.code, 0);
    const char *end = strstr(r.out, "<unu\n");
    assert_true(end && strstr(end + 1, "<unu\n") && !strstr(r.out, "sed"));
}

static void the_plan_is_kept(void **state)
{
    (void)state;
    json_error_t e;
    char path[300];
    cli_shell(&r, "i=0; while [ $i -lt 60 ]; do echo \"message $i\"; i=$((i+1)); done | \"$M\" " CHAT
                  "--mem-report \"$D/mem.json\" --on-full drop >/dev/null");
    assert_int_equal(r.code, 0);
    snprintf(path, sizeof(path), "%s/mem.json", cli_dir);
    json_t *report = json_load_file(path, 0, &e), *classes = json_object_get(report, "classes"), *c;
    const char *name;
    assert_true(json_object_size(classes) > 5);
    json_object_foreach(classes, name, c)
    {
        const json_int_t planned = json_integer_value(json_object_get(c, "planned")),
                         peak = json_integer_value(json_object_get(c, "peak"));
        if (strcmp(name, "staging") == 0)
            assert_true(peak > 0 && peak <= planned);
        else if (strcmp(name, "weights_mapped") != 0)
            assert_int_equal(peak, planned);
    }
    json_decref(report);
}

/* ---- a terminal ---- */

static struct {
    int fd;
    pid_t child;
    char seen[1 << 16];
    size_t n, at; /* bytes seen; behind what was expected */
} tty;

static void tty_open(const char *args)
{
    char line[1024];
    struct winsize size = {.ws_row = 24, .ws_col = 100};
    snprintf(line, sizeof(line), "exec '%s' %s", cli_bin(), args);
    tty.n = tty.at = 0;
    tty.child = forkpty(&tty.fd, NULL, NULL, &size);
    if (tty.child == 0) {
        unsetenv("LC_ALL");
        unsetenv("LC_CTYPE");
        unsetenv("LANG");
        setenv("TERM", "xterm", 1);
        setenv("NO_COLOR", "1", 1);
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
    assert_true(tty.child > 0);
}

/* Reads until `text` is seen behind what was expected before; half a minute at most. */
static void tty_expect(const char *text)
{
    struct pollfd p = {.fd = tty.fd, .events = POLLIN};
    for (;;) {
        tty.seen[tty.n] = '\0';
        const char *found = strstr(tty.seen + tty.at, text);
        if (found) {
            tty.at = (size_t)(found - tty.seen) + strlen(text);
            return;
        }
        const ssize_t k = poll(&p, 1, 30000) > 0 ? read(tty.fd, tty.seen + tty.n, sizeof(tty.seen) - 1 - tty.n) : -1;
        if (k <= 0) {
            kill(tty.child, SIGKILL);
            fail_msg("waited for '%s', saw: %s", text, tty.seen + tty.at);
        }
        tty.n += (size_t)k;
    }
}

static void tty_send(const char *keys) { assert_int_equal(write(tty.fd, keys, strlen(keys)), strlen(keys)); }

/* Sends the keys that end the chat, and again every second: between a prompt and the first key that is waited for, the
 * terminal is not yet the editor's, and Ctrl-D is lost in it. */
static int tty_close(const char *keys)
{
    struct pollfd p = {.fd = tty.fd, .events = POLLIN};
    int status = 0, is_gone = 0;
    char rest[256];
    for (int i = 0; i < 30 && !is_gone; i++) {
        if (write(tty.fd, keys, strlen(keys)) < 0)
            break;
        while (poll(&p, 1, 1000) > 0 && read(tty.fd, rest, sizeof(rest)) > 0)
            ;
        is_gone = waitpid(tty.child, &status, WNOHANG) != 0;
    }
    if (!is_gone) {
        kill(tty.child, SIGKILL);
        waitpid(tty.child, &status, 0);
    }
    close(tty.fd);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void a_terminal_edits_and_remembers_lines(void **state)
{
    (void)state;
    tty_open(CHAT);
    tty_expect("> ");
    tty_send("helo\033[Dl\r"); /* helo, left, l */
    tty_expect("-n sets how many");
    tty_expect("> ");
    tty_send("two\t\\\rlines\r"); /* the tab is typed, as code is pasted where a terminal marks nothing */
    tty_expect("-n sets how many");
    tty_expect("> ");
    tty_send("/turns\r");
    tty_expect("\n1 hello");
    tty_expect("\n2 two\\t\\nlines");
    tty_expect("> ");
    tty_send("\033[A\r"); /* up: the last line again */
    tty_expect("\n1 hello");
    tty_expect("> ");
    tty_send("forget this\003");
    tty_expect("> ");
    tty_send("/drop 7\r");
    tty_expect("2 turns are kept"); /* not three */
    tty_expect("> ");
    assert_int_equal(tty_close("\004"), 0);
}

static void tty_resize(int n_col)
{
    const struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)n_col};
    assert_int_equal(ioctl(tty.fd, TIOCSWINSZ, &size), 0);
}

/* The line is drawn again from its beginning, broken at the width that the window has, and nothing above it is cleared.
 */
static void a_line_follows_the_window(void **state)
{
    (void)state;
    static char text[251];
    memset(text, 'x', sizeof(text) - 1);
    tty_open(CHAT); /* 100 columns */
    tty_expect("> ");
    tty_send("y\033[D");
    tty_expect("\b"); /* the terminal is the editor's */
    tty_send("\013");
    tty_send(text);
    tty_send("z");
    tty_expect("z");
    tty_resize(50);
    tty_expect("\r\033[A\033[A\033[J> xxx");
    tty_expect("z");
    tty_resize(60);
    tty_expect("\r\033[A\033[A\033[A\033[A\033[J> xxx");
    tty_expect("z");
    tty_resize(300);
    tty_expect("\r\033[J> xxx");
    tty_expect("z");
    tty_send("\025a 1\r"); /* without all that */
    tty_expect("-n sets how many");
    tty_expect("> ");
    tty_resize(10); /* while an answer is made, or before the prompt */
    tty_send("0123456789\033[D\033[C");
    tty_expect("\b");
    tty_resize(20);
    tty_expect("\r\033[J> 0123");
    tty_send("\025/turns\r");
    tty_expect("\n1 a 1\r\n");
    tty_expect("> ");
    assert_int_equal(tty_close("\004"), 0);
}

/* An interrupt ends the line that it is typed in, and not the one that is typed right behind it. */
static void what_follows_an_interrupt_is_the_next_line(void **state)
{
    (void)state;
    tty_open(CHAT);
    tty_expect("> ");
    tty_send("ab\033[D");
    tty_expect("\b"); /* the terminal is the editor's */
    tty_send("c\003 next\r");
    tty_expect("-n sets how many");
    tty_expect("> ");
    tty_send("/turns\r");
    tty_expect("\n1 next\r\n");
    tty_expect("> ");
    assert_int_equal(tty_close("\004"), 0);
}

/* Also without a locale, as in containers and cron. */
static void letters_are_read_as_utf8(void **state)
{
    (void)state;
    tty_open(CHAT);
    tty_expect("> ");
    tty_send("café ünï 日本 😀\r");
    tty_expect("-n sets how many");
    tty_expect("> ");
    tty_send("é!\033[D");
    tty_expect("\b");          /* the terminal is the editor's */
    tty_send("\177cut\xc3\r"); /* one character is taken back, another one is cut off by Enter */
    tty_expect("-n sets how many");
    tty_expect("> ");
    tty_send("/turns\r");
    tty_expect("\n1 café ünï 日本 😀\r\n2 cut\xef\xbf\xbd!\r\n");
    tty_expect("> ");
    assert_int_equal(tty_close("\004"), 0);
}

static void what_is_pasted_is_one_message(void **state)
{
    (void)state;
    static char text[10000];
    tty_open(CHAT);
    tty_expect("\033[?2004h");
    tty_expect("> ");
    tty_send("see end\033[D\033[D\033[D");
    tty_expect("\b\b\b"); /* the terminal is the editor's */
    tty_send("\033[200~line one,\nline two \\\n\n日 \033[20 three\n\033[201~\r");
    tty_expect("-n sets how many");
    tty_expect("> ");
    tty_send("\033[200~next\033[201~ one\r");
    tty_expect("-n sets how many");
    tty_expect("> ");
    tty_send("/turns\r");
    tty_expect("\n1 see line one,\\nline two \\\\n\\n日 \\x1b[20 three\\nend\r\n2 next one\r\n");
    tty_expect("> ");
    memset(text, 'x', 9000);
    for (int i = 2000; i < 9000; i += 2000) /* no longer than a terminal's lines may be */
        text[i] = '\n';
    tty_send("still \033[200~");
    tty_send(text);
    tty_send("\033[201~");
    tty_expect("pasted text of 9000 bytes was left out");
    tty_send("here\r");
    tty_expect("-n sets how many");
    tty_expect("> ");
    tty_send("/turns\r");
    tty_expect("\n3 still here\r\n");
    tty_expect("> ");
    tty_send("/quit\r");
    tty_expect("\033[?2004l");
    assert_int_equal(tty_close(""), 0);
}

/* A person sees what went wrong and types it again; a script is told by the exit code. */
static void a_mistyped_command_is_forgotten(void **state)
{
    (void)state;
    tty_open(CHAT);
    tty_expect("> ");
    tty_send("/trns\r");
    tty_expect("/trns: no such command");
    tty_expect("> ");
    tty_send("/undo\r");
    tty_expect("nothing was said yet");
    tty_expect("> ");
    tty_send("/pin x\r");
    tty_expect("expected the number of a turn");
    tty_expect("> ");
    assert_int_equal(tty_close("/quit\r"), 0);
    tty_open(CHAT);
    tty_expect("> ");
    tty_send("/save /no/such/folder/x\r"); /* rightly typed, and not done */
    tty_expect("/no/such/folder/x");
    tty_expect("/no/such/folder/x");
    tty_expect("> ");
    assert_int_equal(tty_close("/quit\r"), 3);
    cli_shell(&r, "echo /trns | \"$M\" " CHAT);
    assert_int_equal(r.code, 3);
}

static void an_interrupt_ends_the_answer_alone(void **state)
{
    (void)state;
    char args[400];
    tty_open("chat -m random:gemma3-tiny:f32 -c 30000 -n 15000 --ignore-eos");
    tty_expect("> ");
    /* An interrupt that comes before the first token takes the message back, so a later one is tried. */
    bool is_kept = false;
    for (unsigned i = 1; i < 20 && !is_kept; i++) {
        tty_send("go on for ever\r");
        usleep(50000 * i);
        tty_send("\003");
        tty_expect("> ");
        tty_send("/turns\r");
        const size_t from = tty.at;
        tty_expect("> ");
        is_kept = strstr(tty.seen + from, "\n1 go on for ever") != NULL;
    }
    assert_true(is_kept);
    snprintf(args, sizeof(args), "/save %s/tty.chat\r", cli_dir);
    tty_send(args);
    tty_expect("bytes; go on");
    tty_expect("> ");
    assert_int_equal(tty_close("/quit\r"), 3); /* an answer was cut */
    snprintf(args, sizeof(args), CHAT "-c 30000 --session %s/tty.chat", cli_dir);
    tty_open(args);
    tty_expect("1 turn\r\n");
    tty_expect("> ");
    tty_send("/turns\r");
    tty_expect("\n1 go on for ever");
    tty_expect("> ");
    assert_int_equal(tty_close("\004"), 0);
}

/* Before the first token there is nothing to keep, which is said, and no answer is counted. */
static void an_interrupt_before_the_first_token_takes_the_message_back(void **state)
{
    (void)state;
    char args[300];
    bool is_said = false;
    cli_shell(&r,
              "{ printf '[{\"role\": \"user\", \"content\": \"'; i=0; while [ $i -lt 1200 ]; do printf 'word%d ' $i; "
              "i=$((i+1)); done; printf '\"}, {\"role\": \"assistant\", \"content\": \"ok\"}]'; } >\"$D/long\"");
    snprintf(args, sizeof(args), "chat -m random:gemma3-tiny:f32 -c 32000 -n 4 --messages %s/long", cli_dir);
    tty_open(args);
    tty_expect("> ");
    for (unsigned i = 0; i < 20 && !is_said; i++) { /* the line may be interrupted instead */
        const size_t from = tty.at;
        tty_send("go on\r");
        usleep(1000 * i * i);
        tty_send("\003");
        usleep(100000);
        tty_send("/stats\r");
        tty_expect("messages refused");
        is_said =
            strstr(tty.seen + from, "interrupted before the first token: the message is taken out of the chat again; "
                                    "arrow up has it\r\n") != NULL;
        if (is_said)
            assert_non_null(strstr(tty.seen + from, "so far    0 answers of 0 tokens"));
    }
    assert_true(is_said);
    assert_int_equal(tty_close("/quit\r"), 3);
}

/* Asks the chat at the terminal through its socket; it has answered when this returns. */
static void tty_ask(const char *what, const char *expected)
{
    char line[600];
    snprintf(line, sizeof(line),
             "python3 -c \"import socket; s = socket.socket(socket.AF_UNIX); s.connect('$D/c'); "
             "s.sendall(b'{\\\"cmd\\\":\\\"%s\\\"}\\n'); print(s.makefile().readline())\"",
             what);
    cli_shell(&r, line);
    if (!strstr(r.out, expected))
        fail_msg("%s: %s %s", what, r.out, r.err);
}

/* A pause while a line is typed: nothing is held, and what was typed is still there. */
static void a_pause_keeps_what_is_typed(void **state)
{
    (void)state;
    char args[300];
    snprintf(args, sizeof(args), CHAT "--control %s/c", cli_dir);
    tty_open(args);
    tty_expect("> ");
    tty_send("hello\r");
    tty_expect("-n sets how many");
    tty_expect("> ");
    tty_send("half a li");
    tty_expect("half a li");
    tty_ask("pause", "\"ok\":true");
    tty_ask("stats", "\"used_bytes\":0,");
    tty_ask("resume", "\"ok\":true");
    tty_send("ne\r");
    tty_expect("-n sets how many");
    tty_expect("> ");
    tty_send("/turns\r");
    tty_expect("\n2 half a line");
    tty_expect("> ");
    tty_ask("pause", "\"ok\":true");
    kill(tty.child, SIGTERM);
    assert_int_equal(tty_close(""), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipe_is_a_chat),
        cmocka_unit_test(a_retry_without_chance_is_said_to_be_the_same),
        cmocka_unit_test(json_lines_answer_json_lines),
        cmocka_unit_test(lists_are_json),
        cmocka_unit_test(what_goes_is_said),
        cmocka_unit_test(another_process_goes_on),
        cmocka_unit_test(a_session_file_loses_nothing),
        cmocka_unit_test(one_chat_works_on_a_file),
        cmocka_unit_test(a_conversation_begins_it),
        cmocka_unit_test(a_long_conversation_begins_without_its_oldest_turns),
        cmocka_unit_test(a_grammar_holds_for_every_answer),
        cmocka_unit_test(a_text_ends_every_answer),
        cmocka_unit_test(the_plan_is_kept),
        cmocka_unit_test(a_terminal_edits_and_remembers_lines),
        cmocka_unit_test(a_line_follows_the_window),
        cmocka_unit_test(what_follows_an_interrupt_is_the_next_line),
        cmocka_unit_test(letters_are_read_as_utf8),
        cmocka_unit_test(what_is_pasted_is_one_message),
        cmocka_unit_test(a_mistyped_command_is_forgotten),
        cmocka_unit_test(an_interrupt_ends_the_answer_alone),
        cmocka_unit_test(an_interrupt_before_the_first_token_takes_the_message_back),
        cmocka_unit_test(a_pause_keeps_what_is_typed),
    };
    return cmocka_run_group_tests(tests, cli_begin, cli_end);
}
