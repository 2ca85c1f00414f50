/* rcfile.c - finds and reads the configuration file; rcfile.h has its form. */
#include "rcfile.h"

#include "environment.h"
#include "help.h"
#include "rcfile_tokens.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static char text[MYTH_RCFILE_BYTES + 1];
static char joined[2 * MYTH_RCFILE_BYTES]; /* lists that are one value, a zero byte behind each */

/* Writes the path of the configuration file; false: none is to be read. *is_wanted: it must exist. */
static bool find_file(char path[PATH_MAX], const char *given, bool *is_wanted)
{
    given = given ? given : myth_env_get("MYTHOS_CONFIG");
    *is_wanted = given != NULL;
    const int n = given ? snprintf(path, PATH_MAX, "%s", given)
                        : myth_env_path(path, PATH_MAX, "XDG_CONFIG_HOME", "/.config", "/mythos/config");
    return n > 0 && n < PATH_MAX;
}

/* The option with this name, or another spelling of it. */
static const myth_option *option_of(const myth_option_group *g, size_t n_group, const char *name)
{
    char word[80];
    const int n = snprintf(word, sizeof(word), "--%s", name);
    for (size_t i = 0; i < n_group && n < (int)sizeof(word); i++)
        for (size_t k = 0; k < g[i].n_opt; k++)
            if (myth_args_spells(&g[i].opt[k], word, (size_t)n))
                return &g[i].opt[k];
    return NULL;
}

/* The flag of the section's command, or of any command, c before others, when no section has begun. */
static const myth_option *find_option(const myth_command *section, const myth_command *c, const char *name)
{
    const myth_option *found = option_of(&myth_group_global, 1, name);
    if (!found && (!section || section == c))
        found = option_of(c->group, c->n_group, name);
    for (int i = 0; !found && myth_commands[i]; i++)
        if (!section || section == myth_commands[i])
            found = option_of(myth_commands[i]->group, myth_commands[i]->n_group, name);
    return found;
}

static myth_status unknown(const char *where, const myth_command *section, const char *name, myth_error *err)
{
    const char *list[512];
    size_t n = 0;
    for (int i = 0; myth_commands[i]; i++)
        for (size_t g = 0; (!section || section == myth_commands[i]) && g < myth_commands[i]->n_group; g++)
            for (size_t k = 0; k < myth_commands[i]->group[g].n_opt && n < sizeof(list) / sizeof(list[0]); k++)
                list[n++] = myth_commands[i]->group[g].opt[k].name;
    for (size_t k = 0; k < myth_group_global.n_opt && n < sizeof(list) / sizeof(list[0]); k++)
        list[n++] = myth_group_global.opt[k].name;
    const char *near = myth_args_nearest(name, list, n);
    if (near)
        return myth_fail(err, MYTH_EFORMAT, "%s: unknown flag '%.60s'; did you mean %s?", where, name, near);
    return myth_fail(err, MYTH_EFORMAT, "%s: unknown flag '%.60s'; mythos %s --help lists the flags", where, name,
                     section ? section->name : "COMMAND");
}

/* Sets one option. name is rewritten. */
static myth_status set(myth_parsed *p, const myth_command *c, const myth_command *section, const char *where,
                       char *name, const char *value, myth_error *err)
{
    for (char *at = name; *at; at++)
        *at = *at == '_' ? '-' : *at;
    const myth_option *o = find_option(section, c, name);
    if (!o)
        return unknown(where, section, name, err);
    if (strcmp(o->name, "config") == 0)
        return myth_fail(err, MYTH_EFORMAT, "%s: a configuration file names no other; leave config out", where);
    if ((section && section != c) || !myth_args_find(p, o->name))
        return MYTH_OK; /* the setting is for another command */
    return myth_args_set(p, o->name, value, where, err);
}

/* ---- lines ---- */

static char *trimmed(char *s)
{
    s += strspn(s, " \t\r");
    size_t n = strlen(s);
    while (n && strchr(" \t\r", s[n - 1]))
        s[--n] = '\0';
    return s;
}

static myth_status read_line(myth_parsed *p, const myth_command *c, const myth_command **section, const char *where,
                             char *line, myth_error *err)
{
    size_t n = strlen(line = trimmed(line));
    if (!n || *line == '#')
        return MYTH_OK;
    if (*line == '[') {
        if (line[n - 1] != ']')
            return myth_fail(err, MYTH_EFORMAT, "%s: a section is written [COMMAND]; the closing bracket is missing",
                             where);
        line[n - 1] = '\0';
        *section = myth_command_named(trimmed(line + 1));
        return *section ? MYTH_OK
                        : myth_fail(err, MYTH_EFORMAT, "%s: unknown command '%.60s'; mythos --help lists the commands",
                                    where, trimmed(line + 1));
    }
    char *equal = strchr(line, '=');
    if (!equal)
        return myth_fail(err, MYTH_EFORMAT, "%s: got '%.60s', expected name = value", where, line);
    *equal = '\0';
    char *name = trimmed(line);
    char *value = trimmed(equal + 1);
    size_t n_value = strlen(value);
    if (n_value >= 2 && value[0] == '"' && value[n_value - 1] == '"') {
        value[n_value - 1] = '\0';
        value++;
    } else if (!n_value) {
        return myth_fail(err, MYTH_EFORMAT, "%s: %.60s has no value", where, name);
    }
    return set(p, c, *section, where, name, value, err);
}

static myth_status read_text(myth_parsed *p, const myth_command *c, const char *path, myth_error *err)
{
    const myth_command *section = NULL;
    char where[160];
    uint32_t number = 1;
    for (char *line = text, *next; line; line = next, number++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        snprintf(where, sizeof(where), "%.140s:%u", path, number);
        myth_status st = read_line(p, c, &section, where, line, err);
        if (st != MYTH_OK)
            return st;
    }
    return MYTH_OK;
}

/* ---- JSON and YAML ---- */

enum { KEYS = 512 };

typedef struct {
    myth_parsed *p;
    const myth_command *c, *section;
    const char *path;
    myth_rcfile_tokens tokens;
    size_t n_key, n_joined;
    char where[160];
    struct {
        const myth_command *section;
        const char *name;
    } key[KEYS];
} tree;

/* Writes "path:line" to f->where. */
static const char *place(tree *f, uint32_t line)
{
    snprintf(f->where, sizeof(f->where), "%.140s:%u", f->path, line);
    return f->where;
}

static myth_status set_token(tree *f, char *name, const myth_rcfile_token *t, myth_error *err)
{
    const char *where = place(f, t->line);
    if (t->kind != MYTH_RCFILE_VALUE)
        return myth_fail(err, MYTH_EFORMAT, "%s: %.60s has no value; give a text, a number, true or false", where,
                         name);
    return t->text ? set(f->p, f->c, f->section, where, name, t->text, err)
                   : myth_fail(err, MYTH_EFORMAT, "%s: %.60s has a zero byte", where, name);
}

/* Whether the value of a flag is a list with commas between its items: "ID,ID". */
static bool has_commas(const myth_option *o) { return o->kind == MYTH_OPT_TEXT && o->value && strchr(o->value, ','); }

/* Reads the list of a flag that takes its items as one value. An empty one sets nothing. */
static myth_status read_joined(tree *f, char *name, uint32_t line, myth_error *err)
{
    char *const all = joined + f->n_joined;
    myth_status st = MYTH_OK;
    for (;;) {
        myth_rcfile_token t;
        MYTH_TRY(myth_rcfile_tokens_next(&f->tokens, &t, err));
        if (t.kind == MYTH_RCFILE_LIST_END)
            break;
        if (t.kind != MYTH_RCFILE_VALUE || !t.text)
            return set_token(f, name, &t, err); /* which says what is wrong */
        const size_t n = strlen(t.text), at = f->n_joined;
        if (n + 1 > sizeof(joined) - at)
            return myth_fail(err, MYTH_ELIMIT, "%s: %.60s: a list that is too long", place(f, t.line), name);
        if (joined + at > all)
            joined[at - 1] = ',';
        memcpy(joined + at, t.text, n + 1);
        f->n_joined += n + 1;
    }
    if (joined + f->n_joined > all)
        st = set(f->p, f->c, f->section, place(f, line), name, all, err);
fail:
    return st;
}

/* The value of a key: what is set, or the beginning of a command's object. */
static myth_status read_value(tree *f, char *name, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_rcfile_token t;
    MYTH_TRY(myth_rcfile_tokens_next(&f->tokens, &t, err));
    if (t.kind == MYTH_RCFILE_OBJECT) {
        for (char *at = name; *at; at++)
            *at = *at == '_' ? '-' : *at;
        if (f->section)
            return myth_fail(err, MYTH_EFORMAT, "%s: %.60s: an object in that of a command", place(f, t.line), name);
        f->section = myth_command_named(name);
        return f->section
                 ? MYTH_OK
                 : myth_fail(err, MYTH_EFORMAT, "%s: unknown command '%.60s'; mythos --help lists the commands",
                             place(f, t.line), name);
    }
    if (t.kind != MYTH_RCFILE_LIST)
        return set_token(f, name, &t, err);
    for (char *at = name; *at; at++)
        *at = *at == '_' ? '-' : *at;
    const myth_option *o = find_option(f->section, f->c, name);
    if (o && has_commas(o))
        return read_joined(f, name, t.line, err);
    if (o && o->kind != MYTH_OPT_LIST)
        return myth_fail(err, MYTH_EFORMAT, "%s: %.60s takes one value, not a list", place(f, t.line), name);
    for (;;) {
        MYTH_TRY(myth_rcfile_tokens_next(&f->tokens, &t, err));
        if (t.kind == MYTH_RCFILE_LIST_END)
            return MYTH_OK;
        MYTH_TRY(set_token(f, name, &t, err));
    }
fail:
    return st;
}

static myth_status read_key(tree *f, const myth_rcfile_token *t, myth_error *err)
{
    if (!t->text || f->n_key == KEYS)
        return myth_fail(err, MYTH_EFORMAT, "%s: %s", place(f, t->line),
                         t->text ? "too many keys" : "a key with a zero byte");
    for (size_t i = 0; i < f->n_key; i++)
        if (f->key[i].section == f->section && strcmp(f->key[i].name, t->text) == 0)
            return myth_fail(err, MYTH_EFORMAT, "%s: %.60s is there twice; a list is written [a, b]", place(f, t->line),
                             t->text);
    f->key[f->n_key].section = f->section;
    f->key[f->n_key++].name = t->text;
    return read_value(f, t->text, err);
}

static myth_status read_keys(tree *f, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_rcfile_token t;
    MYTH_TRY(myth_rcfile_tokens_next(&f->tokens, &t, err));
    if (t.kind == MYTH_RCFILE_END || t.kind == MYTH_RCFILE_NOTHING)
        return MYTH_OK; /* YAML without a setting */
    if (t.kind != MYTH_RCFILE_OBJECT)
        return myth_fail(err, MYTH_EFORMAT, "%s: a configuration file has names with values: threads: 4",
                         place(f, t.line));
    for (;;) {
        MYTH_TRY(myth_rcfile_tokens_next(&f->tokens, &t, err));
        if (t.kind == MYTH_RCFILE_KEY)
            MYTH_TRY(read_key(f, &t, err));
        else if (t.kind == MYTH_RCFILE_END)
            return MYTH_OK;
        else
            f->section = NULL; /* the end of a command's object, or of all */
    }
fail:
    return st;
}

static myth_status read_tree(myth_parsed *p, const myth_command *c, const char *path, size_t n, bool is_yaml,
                             myth_error *err)
{
    static tree f; /* too large for a stack */
    f = (tree){.p = p, .c = c, .path = path};
    myth_status st = myth_rcfile_tokens_open(&f.tokens, text, n, path, is_yaml, err);
    if (st == MYTH_OK)
        st = read_keys(&f, err);
    myth_rcfile_tokens_close(&f.tokens);
    return st;
}

/* ---- which form ---- */

typedef enum { FORM_LINES, FORM_JSON, FORM_YAML } form;

/* YAML is what its name says, or what begins with "---", "%YAML" or a name with a colon and a blank behind it. */
static form form_of(const char *path)
{
    static const char name[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    const char *dot = strrchr(path, '.'), *at = text;
    if (dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0))
        return FORM_YAML;
    while (*(at += strspn(at, " \t\r\n")) == '#')
        at += strcspn(at, "\n");
    if (*at == '{' && at == text + strspn(text, " \t\r\n"))
        return FORM_JSON;
    if (strncmp(at, "---", 3) == 0 || strncmp(at, "%YAML", 5) == 0)
        return FORM_YAML;
    at += *at == '"' || *at == '\'';
    const size_t n = strspn(at, name);
    at += n;
    at += *at == '"' || *at == '\'';
    at += strspn(at, " ");
    return n && *at == ':' && strchr(" \t\r\n", at[1]) ? FORM_YAML : FORM_LINES; /* strchr finds the last byte, too */
}

myth_status myth_rcfile_read(myth_parsed *p, const myth_command *c, const char *given, myth_error *err)
{
    char path[PATH_MAX];
    bool is_wanted;
    if (!find_file(path, given, &is_wanted))
        return MYTH_OK;
    FILE *f = fopen(path, "rb");
    if (!f && !is_wanted && (errno == ENOENT || errno == ENOTDIR))
        return MYTH_OK;
    if (!f)
        return myth_fail(err, MYTH_ENOTFOUND,
                         "%.160s: %s; --config or MYTHOS_CONFIG must name a configuration file; empty, MYTHOS_CONFIG "
                         "is none",
                         path, strerror(errno));
    size_t n = fread(text, 1, sizeof(text), f);
    bool is_bad = ferror(f) != 0;
    fclose(f);
    if (is_bad)
        return myth_fail(err, MYTH_EIO, "%.160s: cannot read: %s", path, strerror(errno));
    if (n > MYTH_RCFILE_BYTES)
        return myth_fail(err, MYTH_ELIMIT, "%.160s: more than %d bytes of configuration", path, (int)MYTH_RCFILE_BYTES);
    text[n] = '\0';
    if (strlen(text) != n)
        return myth_fail(err, MYTH_EFORMAT, "%.160s: the file has a zero byte; a configuration file is text", path);
    const form is = form_of(path);
    return is == FORM_LINES ? read_text(p, c, path, err) : read_tree(p, c, path, n, is == FORM_YAML, err);
}
