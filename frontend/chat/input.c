/* input.c - lines to messages and commands, answers and outcomes to lines. */
#include "input.h"

#include "frontend/cli/hints.h"
#include "frontend/cli/json_out.h"
#include "frontend/common/conversation.h"
#include "lock.h"

#include <stdlib.h>
#include <string.h>

const myth_chat_command myth_chat_commands[] = {
    {"help", "", "list the commands"},
    {"stats", "", "tokens held, turns, what was dropped and recomputed"},
    {"turns", "", "list the turns that are kept, with their numbers"},
    {"system", "TEXT", "set the system text; without TEXT there is none"},
    {"pin", "[N]", "never drop turn N, counted from 1; without N the last one"},
    {"unpin", "[N]", "let turn N go when the context is full"},
    {"drop", "[N]", "drop turn N now; without N the oldest that is not pinned"},
    {"undo", "", "take the last turn back"},
    {"retry", "", "answer the last message again, with other random numbers (--temp)"},
    {"save", "FILE", "write the chat to FILE, from which another process goes on"},
    {"load", "FILE", "go on from a saved chat instead of this one"},
    {"quit", "", "end the chat"},
    {NULL, NULL, NULL},
};

/* ---- output ---- */

static void on_prefill(void *user, uint32_t done, uint32_t total)
{
    myth_chat_input *in = user;
    if (total > 512)
        myth_term_progress(in->cli->term, "prompt", done, total);
}

static void end_line(myth_chat_input *in)
{
    if (in->has_line)
        fputc('\n', in->in_thought ? stderr : stdout);
    in->has_line = false;
    in->in_thought = false;
    fflush(stdout);
}

static void on_said(void *user, const char *text, size_t n, bool is_thought)
{
    myth_chat_input *in = user;
    const size_t n_pass = n < in->n_pass ? n : in->n_pass;
    myth_term_progress_end(in->cli->term);
    in->n_said += n;
    in->n_pass -= n_pass;
    text += n_pass;
    n -= n_pass;
    if (in->is_json || n == 0)
        return;
    if (in->has_line && in->in_thought != is_thought)
        end_line(in);
    in->in_thought = is_thought;
    in->has_line = true;
    myth_term_data(in->cli->term, is_thought ? stderr : stdout, text, n);
    fflush(is_thought ? stderr : stdout);
}

void myth_chat_input_start(myth_chat_input *out, myth_cli *cli, myth_session *s, const myth_cancel *cancel,
                           bool is_json)
{
    *out = (myth_chat_input){.cli = cli, .s = s, .cancel = cancel, .is_json = is_json};
    myth_chat_input_again(out, true);
}

/* Says what could not be done. */
static void fail_line(myth_chat_input *in, const myth_error *why)
{
    in->n_failed++;
    if (in->is_json) {
        myth_json_out j;
        myth_jout_start(&j, stdout);
        myth_jout_object(&j);
        myth_jout_key_str(&j, "error", why->msg);
        myth_jout_end(&j);
        fflush(stdout);
    } else {
        myth_term_error(in->cli->term, why->msg);
    }
}

void myth_chat_input_again(myth_chat_input *in, bool is_same)
{
    in->s->on_said = on_said;
    in->s->on_prefill = on_prefill;
    in->s->user = in;
    in->s->put_off = &in->cli->put_off;
    if (!is_same && in->n_pass) {
        in->n_pass = 0;
        if (in->has_line) {
            end_line(in);
            myth_term_note(in->cli->term, "the context is another one: the answer begins anew");
        }
    }
}

void myth_chat_input_save(myth_chat_input *in)
{
    myth_error why = {0};
    const uint64_t n = in->s->talk.n_change;
    if (!in->session || n == in->n_saved)
        return;
    if (myth_chat_save_talk(in->s, in->session, &why) == MYTH_OK)
        in->n_saved = n;
    else
        myth_term_note(in->cli->term, "the chat is not saved: %s", why.msg);
}

void myth_chat_note_turns(const myth_cli *cli, const myth_session *s, const char *path, const myth_chat_loaded *l)
{
    if (l->n_turn_gone)
        myth_term_note(cli->term, "%s: the %zu oldest turn%s went, which a context of %u tokens has no room for", path,
                       l->n_turn_gone, myth_s(l->n_turn_gone), s->n_ctx);
    if (l->n_turn_back)
        myth_term_note(cli->term, "%s: %zu turn%s that went in a shorter context came back", path, l->n_turn_back,
                       myth_s(l->n_turn_back));
}

/* ---- answers ---- */

static const char *how_name(myth_on_full how)
{
    return how == MYTH_FULL_DROP ? "drop" : how == MYTH_FULL_RECOMPUTE ? "recompute" : "none";
}

static void print_rows_of(myth_json_out *j, const char *kind, uint32_t n, uint32_t limit)
{
    myth_jout_key(j, kind);
    myth_jout_object(j);
    myth_jout_key_u64(j, "used", n);
    myth_jout_key_u64(j, "limit", limit);
    myth_jout_end(j);
}

/* "rows": {"global": {"used", "limit"}, "local": ...}, of the kinds of layers that the model has. */
static void print_rows(myth_json_out *j, const myth_seq_use *u)
{
    myth_jout_key(j, "rows");
    myth_jout_object(j);
    if (u->global_limit)
        print_rows_of(j, "global", u->global_rows, u->global_limit);
    if (u->local_limit)
        print_rows_of(j, "local", u->local_rows, u->local_limit);
    myth_jout_end(j);
}

static void print_usage(myth_json_out *j, const myth_chat_input *in, const myth_chat_reply *r)
{
    myth_jout_key(j, "usage");
    myth_jout_object(j);
    myth_jout_key_u64(j, "prompt_tokens", r->n_prompt);
    myth_jout_key_u64(j, "computed_tokens", r->n_fed);
    myth_jout_key_u64(j, "completion_tokens", r->n_answer);
    myth_jout_end(j);
    myth_jout_key(j, "context");
    myth_jout_object(j);
    myth_jout_key_u64(j, "limit", in->s->n_ctx);
    myth_jout_key_u64(j, "held", r->n_held);
    myth_jout_key_u64(j, "room", r->n_room);
    myth_jout_key_u64(j, "evicted_turns", r->n_turn_gone);
    myth_jout_key_u64(j, "evicted_tokens", r->n_row_gone);
    myth_jout_key_str(j, "by", how_name(r->how));
    print_rows(j, &r->rows);
    myth_jout_end(j);
}

static void print_reply(const myth_chat_input *in, const myth_chat_reply *r)
{
    const myth_session *s = in->s;
    myth_json_out j;
    myth_jout_start(&j, stdout);
    myth_jout_object(&j);
    myth_jout_key_str(&j, "role", "assistant");
    myth_jout_key(&j, "content");
    myth_jout_text(&j, s->text, s->n_text);
    if (s->n_thought) {
        myth_jout_key(&j, "reasoning_content");
        myth_jout_text(&j, s->thought, s->n_thought);
    }
    if (r->n_call) {
        myth_jout_key(&j, "tool_calls");
        myth_jout_json(&j, s->calls, s->n_calls);
    }
    myth_jout_key_str(&j, "finish_reason", myth_calls_finish(r->n_call, r->finish));
    print_usage(&j, in, r);
    myth_cli_print_adapters(&j, myth_engine_model(s->e));
    myth_jout_end(&j);
    fflush(stdout);
}

static void note_lost(myth_chat_input *in)
{
    if (in->s->lost.code != MYTH_OK && !in->has_lost)
        myth_term_note(in->cli->term, "the turns that go are not in the chat's file any more: %s", in->s->lost.msg);
    in->has_lost = in->s->lost.code != MYTH_OK;
}

/* What a person is told besides the answer. */
static void print_notes(const myth_chat_input *in, const myth_chat_reply *r)
{
    myth_term *t = in->cli->term;
    if (r->n_turn_gone)
        myth_term_note(t, "the context is full: the %u oldest turn%s of %u tokens went; %s", r->n_turn_gone,
                       myth_s(r->n_turn_gone), r->n_row_gone,
                       r->how == MYTH_FULL_DROP ? "the rest was kept as it was computed"
                                                : "the rest was computed again");
    if (r->n_call)
        myth_term_note(t, "the model calls %u tool%s; results are given with --json, as {\"role\": \"tool\", ...}",
                       r->n_call, myth_s(r->n_call));
    if (r->finish == MYTH_FINISH_CANCELLED && r->n_answer == 0 && !r->has_stayed)
        myth_term_note(t, "interrupted before the first token: the message is taken out of the chat again%s",
                       in->is_interactive ? "; arrow up has it" : "");
    if (r->has_stayed && r->finish == MYTH_FINISH_CANCELLED)
        myth_term_note(t, "the retry was interrupted: the answer before it stays");
    if (r->is_same && in->s->o.sample.temp == 0)
        myth_term_note(t, "the answer is the same: with --temp 0 the likeliest token is always taken; --temp 1 draws");
    if (r->finish == MYTH_FINISH_GRAMMAR)
        myth_term_note(t, "the answer is not whole: %s", myth_grammars_why(in->s->grammars, 0));
    if (r->finish == MYTH_FINISH_LENGTH)
        myth_term_note(t, "the answer was cut at %u tokens; -n sets how many it may have", r->n_answer);
}

static myth_status answer(myth_chat_input *in, myth_error *err)
{
    myth_chat_reply r;
    myth_error why = {0};
    const size_t n_printed = in->n_pass;
    in->n_said = 0;
    const myth_status st = myth_session_answer(in->s, in->cancel, &r, &why);
    myth_term_progress_end(in->cli->term);
    in->is_put_off = st == MYTH_OK && r.is_put_off;
    in->n_pass = !in->is_put_off ? 0 : in->n_said > n_printed ? in->n_said : n_printed;
    if (in->is_put_off)
        return MYTH_OK;
    if (!in->is_json)
        end_line(in);
    note_lost(in);
    myth_chat_input_save(in);
    if (st == MYTH_EARG || st == MYTH_ELIMIT) { /* the template does not take it, or it is too long */
        fail_line(in, &why);
        return MYTH_OK;
    }
    if (st != MYTH_OK) {
        *err = why;
        return st;
    }
    if (r.finish == MYTH_FINISH_REFUSED) {
        myth_fail(
            &why, MYTH_ELIMIT,
            "the message does not fit: prompt and answer would take %u tokens, the context has %u%s; %s, raise -c "
            "or lower -n",
            r.n_needed, in->s->n_ctx,
            in->s->o.on_full == MYTH_FULL_REFUSE ? ", and --on-full refuse drops nothing" : "",
            r.has_stayed ? "the answer before it stays: shorten the system text" : "shorten it");
        fail_line(in, &why);
        return MYTH_OK;
    }
    in->n_cut += r.finish == MYTH_FINISH_CANCELLED || r.finish == MYTH_FINISH_GRAMMAR;
    if (in->is_json)
        print_reply(in, &r);
    else
        print_notes(in, &r);
    return MYTH_OK;
}

static bool wants_answer(const myth_talk *t)
{
    const myth_role role = t->n ? t->msg[t->n - 1].m.role : MYTH_ROLE_ASSISTANT;
    return role == MYTH_ROLE_USER || role == MYTH_ROLE_TOOL;
}

myth_status myth_chat_input_answer(myth_chat_input *in, myth_error *err)
{
    return in->s->is_retry || wants_answer(&in->s->talk) ? answer(in, err) : MYTH_OK;
}

/* Adds a message, and answers it. */
static myth_status take_message(myth_chat_input *in, const myth_message *m, const myth_message_more *more,
                                myth_error *err)
{
    myth_error why = {0};
    const myth_status st = myth_talk_add(&in->s->talk, m, more, &why);
    if (st == MYTH_ELIMIT) {
        fail_line(in, &why);
        return MYTH_OK;
    }
    if (st != MYTH_OK) {
        *err = why;
        return st;
    }
    if (wants_answer(&in->s->talk))
        return answer(in, err);
    myth_chat_input_save(in);
    if (in->is_json) {
        myth_json_out j;
        myth_jout_start(&j, stdout);
        myth_jout_object(&j);
        myth_jout_key_bool(&j, "added", true);
        myth_jout_end(&j);
        fflush(stdout);
    }
    return MYTH_OK;
}

/* ---- commands ---- */

typedef struct {
    const char *name, *rest;
    size_t turn; /* N of the command, from 0; SIZE_MAX = not given */
} order;

static void print_help(void)
{
    for (const myth_chat_command *c = myth_chat_commands; c->name; c++)
        printf("/%s%s%-*s %s\n", c->name, c->args[0] ? " " : "", (int)(14 - strlen(c->name) - (c->args[0] != '\0')),
               c->args, c->help);
    printf("A line that ends in \\ goes on in the next one, as pasted lines do; // at the front stands for /.\n");
}

static void print_stats(const myth_chat_input *in)
{
    const myth_session *s = in->s;
    const myth_session_stats *a = &s->stats;
    const myth_seq_use u = myth_seq_used(s->seq);
    printf("context   %u of %u tokens, position %u", myth_seq_len(s->seq), s->n_ctx, myth_seq_pos(s->seq));
    if (u.global_limit)
        printf("; %u of %u rows in each global layer", u.global_rows, u.global_limit);
    if (u.local_limit)
        printf("%s%u of %u in each local one", u.global_limit ? ", " : "; ", u.local_rows, u.local_limit);
    putchar('\n');
    const size_t n_turn = myth_talk_n_turn(&s->talk);
    printf("kept      %zu turn%s, %zu bytes of text\n", n_turn, myth_s(n_turn), s->talk.n_bytes);
    printf("so far    %llu answers of %llu tokens to %llu tokens, of which %llu were computed\n",
           (unsigned long long)a->n_answer, (unsigned long long)a->n_answer_tok, (unsigned long long)a->n_prompt_tok,
           (unsigned long long)a->n_fed_tok);
    printf("gone      %llu turns of %llu tokens; %llu times dropped, %llu times recomputed, %llu messages refused\n",
           (unsigned long long)a->n_turn_gone, (unsigned long long)a->n_row_gone, (unsigned long long)a->n_drop,
           (unsigned long long)a->n_recompute, (unsigned long long)a->n_refused);
}

static void print_turns(const myth_chat_input *in)
{
    const myth_talk *t = &in->s->talk;
    for (size_t i = 0, from, to; i < myth_talk_n_turn(t); i++) {
        myth_talk_turn(t, i, &from, &to);
        const myth_str s = t->msg[from].m.text;
        printf("%zu%s ", i + 1, t->msg[from].is_pinned ? " pinned" : "");
        myth_term_line(stdout, s.text, s.len < 70 ? s.len : 70);
        printf("%s\n", s.len > 70 ? "..." : "");
    }
}

static void print_turn_list(myth_json_out *j, const myth_talk *t)
{
    myth_jout_key(j, "list");
    myth_jout_array(j);
    for (size_t i = 0, from, to; i < myth_talk_n_turn(t); i++) {
        myth_talk_turn(t, i, &from, &to);
        myth_jout_object(j);
        myth_jout_key_u64(j, "turn", i + 1);
        myth_jout_key_bool(j, "pinned", t->msg[from].is_pinned);
        myth_jout_key_u64(j, "messages", to - from);
        myth_jout_key(j, "text");
        myth_jout_text(j, t->msg[from].m.text.text, t->msg[from].m.text.len);
        myth_jout_end(j);
    }
    myth_jout_end(j);
}

static void print_command_list(myth_json_out *j)
{
    char command[64];
    myth_jout_key(j, "list");
    myth_jout_array(j);
    for (const myth_chat_command *c = myth_chat_commands; c->name; c++) {
        snprintf(command, sizeof(command), "/%s%s%s", c->name, c->args[0] ? " " : "", c->args);
        myth_jout_object(j);
        myth_jout_key_str(j, "command", command);
        myth_jout_key_str(j, "help", c->help);
        myth_jout_end(j);
    }
    myth_jout_end(j);
}

/* The outcome of a command that was done, for scripts. */
static void print_done(const myth_chat_input *in, const order *o, uint64_t bytes, bool is_warm)
{
    const myth_session *s = in->s;
    myth_json_out j;
    if (!in->is_json)
        return;
    myth_jout_start(&j, stdout);
    myth_jout_object(&j);
    myth_jout_key_str(&j, "command", o->name);
    myth_jout_key_bool(&j, "ok", true);
    myth_jout_key_u64(&j, "turns", myth_talk_n_turn(&s->talk));
    myth_jout_key_u64(&j, "held", myth_seq_len(s->seq));
    if (strcmp(o->name, "turns") == 0)
        print_turn_list(&j, &s->talk);
    if (strcmp(o->name, "help") == 0)
        print_command_list(&j);
    if (strcmp(o->name, "save") == 0)
        myth_jout_key_u64(&j, "bytes", bytes);
    if (strcmp(o->name, "load") == 0)
        myth_jout_key_bool(&j, "warm", is_warm);
    if (strcmp(o->name, "stats") == 0) {
        const myth_session_stats *a = &s->stats;
        const struct {
            const char *name;
            uint64_t n;
        } row[] = {{"limit", s->n_ctx},
                   {"position", myth_seq_pos(s->seq)},
                   {"answers", a->n_answer},
                   {"prompt_tokens", a->n_prompt_tok},
                   {"computed_tokens", a->n_fed_tok},
                   {"completion_tokens", a->n_answer_tok},
                   {"evicted_turns", a->n_turn_gone},
                   {"evicted_tokens", a->n_row_gone},
                   {"drops", a->n_drop},
                   {"recomputes", a->n_recompute},
                   {"refused", a->n_refused}};
        for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
            myth_jout_key_u64(&j, row[i].name, row[i].n);
        const myth_seq_use u = myth_seq_used(s->seq);
        print_rows(&j, &u);
    }
    myth_jout_end(&j);
    fflush(stdout);
}

static myth_status need_file(const order *o, myth_error *why)
{
    return o->rest[0] ? MYTH_OK : myth_fail(why, MYTH_EARG, "/%s: give a file", o->name);
}

/* The turn that a command names; the last one without a number. */
static myth_status turn_of(const myth_chat_input *in, const order *o, size_t *turn, myth_error *why)
{
    const size_t n = myth_talk_n_turn(&in->s->talk);
    *turn = o->turn == SIZE_MAX ? n - 1 : o->turn;
    if (n == 0 || *turn >= n)
        return myth_fail(why, MYTH_EARG, "/%s: %zu turn%s kept; /turns lists them", o->name, n,
                         n == 1 ? " is" : "s are");
    return MYTH_OK;
}

static myth_status drop(const myth_chat_input *in, const order *o, myth_error *why)
{
    size_t turn = 0;
    if (o->turn == SIZE_MAX) {
        if (myth_talk_n_droppable(&in->s->talk) == 0)
            return myth_fail(why, MYTH_EARG, "/drop: every turn is pinned, or the last one");
        myth_talk_drop(&in->s->talk, 1);
        return MYTH_OK;
    }
    const myth_status st = turn_of(in, o, &turn, why);
    if (st == MYTH_OK)
        myth_talk_drop_turn(&in->s->talk, turn);
    return st;
}

static myth_status undo(const myth_chat_input *in, myth_error *why)
{
    const size_t n = myth_talk_n_turn(&in->s->talk);
    if (n == 0)
        return myth_fail(why, MYTH_EARG, "/undo: nothing was said yet");
    myth_talk_drop_turn(&in->s->talk, n - 1);
    return MYTH_OK;
}

static myth_status save(const myth_chat_input *in, const order *o, uint64_t *bytes, myth_error *why)
{
    myth_chat_lock lock;
    myth_status st = need_file(o, why);
    if (st == MYTH_OK)
        st = myth_chat_lock_take(&lock, o->rest, why);
    if (st != MYTH_OK)
        return st;
    st = myth_chat_save(in->s, o->rest, in->cancel, bytes, why);
    myth_chat_lock_end(&lock);
    if (st == MYTH_OK && !in->is_json)
        myth_term_note(in->cli->term, "%s: %llu bytes; go on with --session %s", o->rest, (unsigned long long)*bytes,
                       o->rest);
    return st;
}

static bool is_order(const order *o, const char *name) { return strcmp(o->name, name) == 0; }

static myth_status obey(myth_chat_input *in, const order *o, myth_error *why, myth_error *err)
{
    size_t turn = 0;
    uint64_t bytes = 0;
    myth_chat_loaded loaded = {0};
    myth_session *s = in->s;
    myth_status st = MYTH_OK;
    if (is_order(o, "help") && !in->is_json)
        print_help();
    else if (is_order(o, "stats") && !in->is_json)
        print_stats(in);
    else if (is_order(o, "turns") && !in->is_json)
        print_turns(in);
    else if (is_order(o, "quit"))
        in->is_over = true;
    else if (is_order(o, "system"))
        MYTH_TRY(myth_session_set_system(s, (myth_str){o->rest, strlen(o->rest)}, why));
    else if (is_order(o, "pin") || is_order(o, "unpin")) {
        MYTH_TRY(turn_of(in, o, &turn, why));
        myth_talk_pin(&s->talk, turn, is_order(o, "pin"));
    } else if (is_order(o, "drop"))
        MYTH_TRY(drop(in, o, why));
    else if (is_order(o, "undo"))
        MYTH_TRY(undo(in, why));
    else if (is_order(o, "retry"))
        return myth_session_retry(s) ? answer(in, err) : myth_fail(why, MYTH_EARG, "/retry: there is no answer");
    else if (is_order(o, "save"))
        MYTH_TRY(save(in, o, &bytes, why));
    else if (is_order(o, "load")) {
        MYTH_TRY(need_file(o, why));
        MYTH_TRY(myth_chat_load(s, o->rest, &loaded, why));
        if (!loaded.is_warm)
            myth_term_note(in->cli->term, "%s: saved with another model, cache type or context: it is computed again",
                           o->rest);
        myth_chat_note_turns(in->cli, s, o->rest, &loaded);
    }
    myth_chat_input_save(in);
    print_done(in, o, bytes, loaded.is_warm);
fail:
    return st;
}

/* text: "/name rest", ended by a NUL. */
static myth_status take_command(myth_chat_input *in, char *text, myth_error *err)
{
    myth_error why = {0};
    char *rest = text + 1 + strcspn(text + 1, " \t"), *end;
    order o = {.name = text + 1, .turn = SIZE_MAX};
    const myth_chat_command *c = myth_chat_commands;
    if (*rest)
        *rest++ = '\0';
    o.rest = rest + strspn(rest, " \t");
    for (size_t n = strlen(o.rest); n && (o.rest[n - 1] == ' ' || o.rest[n - 1] == '\t'); n--)
        rest[o.rest - rest + n - 1] = '\0';
    if (strcmp(o.name, "exit") == 0)
        o.name = "quit";
    while (c->name && strcmp(c->name, o.name) != 0)
        c++;
    myth_status st = MYTH_OK;
    if (!c->name)
        st =
            myth_fail(&why, MYTH_EARG, "/%.40s: no such command; /help lists them, // begins a message with /", o.name);
    else if (!c->args[0] && o.rest[0])
        st = myth_fail(&why, MYTH_EARG, "/%s takes nothing behind it, got %.40s", o.name, o.rest);
    if (st == MYTH_OK && strcmp(c->args, "[N]") == 0 && o.rest[0]) {
        const unsigned long n = strtoul(o.rest, &end, 10);
        if (*end || n == 0 || o.rest[0] == '-')
            st = myth_fail(&why, MYTH_EARG, "/%s: got %.40s, expected the number of a turn; /turns lists them", o.name,
                           o.rest);
        o.turn = (size_t)n - 1;
    }
    if (st == MYTH_OK)
        st = obey(in, &o, &why, err);
    if (st == MYTH_OK || why.code == MYTH_OK) /* done, or an error that ends the chat */
        return st;
    fail_line(in, &why);
    in->n_failed -= in->is_interactive && why.code == MYTH_EARG;
    return MYTH_OK;
}

/* ---- lines ---- */

static myth_status with_copy(myth_chat_input *in, myth_str s, char **copy, myth_error *err)
{
    *copy = myth_alloc(in->cli->mem, MYTH_MEM_STAGING, "chat", s.len + 3);
    if (!*copy)
        return myth_fail(err, MYTH_ENOMEM, "out of memory for a line of %zu bytes", s.len);
    memcpy(*copy, s.text, s.len);
    (*copy)[s.len] = '\0';
    return MYTH_OK;
}

static myth_status take_text(myth_chat_input *in, myth_str s, myth_error *err)
{
    char *copy = NULL;
    if (s.len == 0)
        return MYTH_OK;
    if (s.text[0] == '/' && !(s.len > 1 && s.text[1] == '/')) {
        myth_status st = with_copy(in, s, &copy, err);
        if (st == MYTH_OK)
            st = take_command(in, copy, err);
        myth_free(in->cli->mem, copy);
        return st;
    }
    const size_t skip = s.text[0] == '/';
    const myth_message m = {MYTH_ROLE_USER, {s.text + skip, s.len - skip}};
    return take_message(in, &m, NULL, err);
}

/* A line of JSON in the buffer [line], so that a message reads as a conversation of one. */
static myth_status take_json(myth_chat_input *in, char *list, size_t n, myth_error *err)
{
    myth_mem *mem = in->cli->mem;
    myth_json_tree t = {0};
    myth_conversation talk = {0};
    myth_error why = {0};
    myth_status st = myth_json_tree_open(&t, mem, list, n, "the line", &why);
    const myth_json_node *one = st == MYTH_OK ? myth_json_tree_first(&t, t.node) : NULL;
    const myth_json_node *command = myth_json_tree_get(&t, one, "command");
    if (st == MYTH_OK && (!one || t.node->n != 1))
        st = myth_fail(&why, MYTH_EFORMAT, "expected one value in a line: a string, a message or a command");
    if (st == MYTH_OK && one->type == MYTH_JSON_STRING) {
        const myth_message m = {MYTH_ROLE_USER, one->text};
        st = take_message(in, &m, NULL, err);
    } else if (st == MYTH_OK && command) {
        char *copy = NULL;
        if (command->type != MYTH_JSON_STRING || command->text.len < 2 || command->text.text[0] != '/')
            st = myth_fail(&why, MYTH_EFORMAT, "\"command\": expected a string such as \"/undo\"");
        else if ((st = with_copy(in, command->text, &copy, err)) == MYTH_OK)
            st = take_command(in, copy, err);
        myth_free(mem, copy);
    } else if (st == MYTH_OK) {
        st = myth_conversation_read(&talk, mem, list, n, "the line", &why);
        if (st == MYTH_OK && (talk.msg[0].role == MYTH_ROLE_SYSTEM || talk.msg[0].role == MYTH_ROLE_DEVELOPER))
            st = myth_fail(&why, MYTH_EARG, "a system text is set by {\"command\": \"/system TEXT\"}");
        if (st == MYTH_OK)
            st = take_message(in, &talk.msg[0], &talk.more[0], err);
    }
    if (why.code != MYTH_OK && why.code != MYTH_ENOMEM) {
        fail_line(in, &why);
        st = MYTH_OK;
    } else if (why.code != MYTH_OK) {
        *err = why;
    }
    myth_conversation_close(&talk);
    myth_json_tree_close(&t);
    return st;
}

myth_status myth_chat_input_line(myth_chat_input *in, const char *line, size_t n, myth_error *err)
{
    char *list = NULL;
    const myth_str s = myth_chat_trim((myth_str){line, n});
    if (!in->is_json)
        return take_text(in, s, err);
    myth_status st = with_copy(in, s, &list, err);
    if (st == MYTH_OK) {
        memmove(list + 1, list, s.len);
        list[0] = '[';
        list[s.len + 1] = ']';
        st = take_json(in, list, s.len + 2, err);
    }
    myth_free(in->cli->mem, list);
    return st;
}
