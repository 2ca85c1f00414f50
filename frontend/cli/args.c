/* args.c - parses flags, environment variables and values by the option tables. */
#include "args.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const myth_opt_source_name[MYTH_FROM_N] = {"default", "file", "environment", "flag"};

/* ---- values ---- */

bool myth_size_parse(uint64_t *out, const char *text)
{
    if (!isdigit((unsigned char)text[0]) || tolower((unsigned char)text[1]) == 'x') /* strtod reads 0x10 */
        return false;
    char *end;
    errno = 0;
    double v = strtod(text, &end);
    if (errno || !isfinite(v))
        return false;
    static const char unit[] = "kmgt";
    int shift = 0;
    if (*end && strchr(unit, tolower((unsigned char)*end))) {
        shift = 10 * (int)(strchr(unit, tolower((unsigned char)*end)) - unit + 1);
        end++;
        if (tolower((unsigned char)*end) == 'i')
            end++;
    }
    if (tolower((unsigned char)*end) == 'b')
        end++;
    v = ldexp(v, shift);
    if (*end || v >= 9.2e18 || (v > 0 && v < 1)) /* 0.5 without a unit is half a byte, and 0 means no limit */
        return false;
    *out = (uint64_t)v;
    return true;
}

const char *myth_size_text(char dst[24], uint64_t bytes)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double v = (double)bytes;
    int u = 0;
    while (v >= 1024 && u < 4) {
        v /= 1024;
        u++;
    }
    snprintf(dst, 24, u == 0 ? "%.0f %s" : v < 10 ? "%.2f %s" : "%.1f %s", v, unit[u]);
    return dst;
}

static bool parse_u64(uint64_t *out, const char *text)
{
    if (!isdigit((unsigned char)text[0]))
        return false;
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno || *end)
        return false;
    *out = v;
    return true;
}

static bool parse_bool(bool *out, const char *text)
{
    static const char *const yes[] = {"1", "on", "true", "yes"}, *const no[] = {"0", "off", "false", "no"};
    for (int i = 0; i < 4; i++) {
        if (strcasecmp(text, yes[i]) == 0 || strcasecmp(text, no[i]) == 0) {
            *out = strcasecmp(text, yes[i]) == 0;
            return true;
        }
    }
    return false;
}

static bool parse_choice(int *out, const char *choices, const char *text)
{
    size_t len = strlen(text);
    int idx = 0;
    for (const char *c = choices; len > 0; idx++) {
        size_t n = strcspn(c, "|");
        if (n == len && memcmp(c, text, n) == 0) {
            *out = idx;
            return true;
        }
        if (!c[n])
            return false;
        c += n + 1;
    }
    return false;
}

static bool in_range(const myth_option *o, double v)
{
    return (o->min == 0 && o->max == 0) || (v >= o->min && v <= o->max);
}

/* Whether the option also takes the word all, which is its largest number. */
static bool takes_all(const myth_option *o)
{
    return o->kind == MYTH_OPT_U32 && o->value && strcmp(o->value, "N|all") == 0;
}

static bool set_value(const myth_option *o, void *field, const char *text)
{
    uint64_t u;
    char *end;
    switch (o->kind) {
    case MYTH_OPT_FLAG: return parse_bool(field, text);
    case MYTH_OPT_U32:
        if (takes_all(o) && strcmp(text, "all") == 0) {
            *(uint32_t *)field = UINT32_MAX;
            return true;
        }
        if (!parse_u64(&u, text) || u > UINT32_MAX || !in_range(o, (double)u))
            return false;
        *(uint32_t *)field = (uint32_t)u;
        return true;
    case MYTH_OPT_U64:
        if (!parse_u64(&u, text) || !in_range(o, (double)u))
            return false;
        *(uint64_t *)field = u;
        return true;
    case MYTH_OPT_SIZE:
        if (!myth_size_parse(&u, text) || !in_range(o, (double)u))
            return false;
        *(uint64_t *)field = u;
        return true;
    case MYTH_OPT_F32: {
        double v = strtod(text, &end);
        if (end == text || *end || !isfinite(v) || !in_range(o, v))
            return false;
        *(float *)field = (float)v;
        return true;
    }
    case MYTH_OPT_TEXT:
    case MYTH_OPT_OUT: *(const char **)field = text; return true;
    case MYTH_OPT_CHOICE: return parse_choice(field, o->value, text);
    case MYTH_OPT_LIST: {
        myth_opt_list *list = field;
        if (list->n == MYTH_OPT_LIST_MAX)
            return false;
        list->item[list->n++] = text;
        return true;
    }
    }
    return false;
}

static myth_status bad_value(const myth_option *o, const char *where, const char *got, myth_error *err)
{
    switch (o->kind) {
    case MYTH_OPT_FLAG: return myth_fail(err, MYTH_EARG, "%s: got '%s', expected on or off", where, got);
    case MYTH_OPT_SIZE:
        return myth_fail(err, MYTH_EARG, "%s: got '%s', expected a size such as 512M or 2GiB", where, got);
    case MYTH_OPT_CHOICE: return myth_fail(err, MYTH_EARG, "%s: got '%s', expected %s", where, got, o->value);
    case MYTH_OPT_LIST:
        return myth_fail(err, MYTH_EARG, "%s: '%s' is one value too many; the flag may be given %d times", where, got,
                         (int)MYTH_OPT_LIST_MAX);
    case MYTH_OPT_F32:
        if (o->min == 0 && o->max == 0)
            return myth_fail(err, MYTH_EARG, "%s: got '%s', expected a number", where, got);
        return myth_fail(err, MYTH_EARG, "%s: got '%s', expected a number from %.10g to %.10g", where, got, o->min,
                         o->max);
    default: {
        const bool is_any = o->min == 0 && o->max == 0;
        const unsigned long long low = is_any ? 0 : (unsigned long long)o->min,
                                 high = !is_any                 ? (unsigned long long)o->max
                                      : o->kind == MYTH_OPT_U32 ? UINT32_MAX
                                                                : UINT64_MAX;
        const bool has_default = o->def && o->def[0] == '(';
        return myth_fail(err, MYTH_EARG, "%s: got '%s', expected a whole number from %llu to %llu%s%s%s", where, got,
                         low, high, takes_all(o) ? ", or all" : "", has_default ? "; without the flag: " : "",
                         has_default ? o->def : "");
    }
    }
}

void myth_args_text(const myth_opt_slot *s, char *dst, size_t cap)
{
    char size[24];
    switch (s->opt->kind) {
    case MYTH_OPT_FLAG: snprintf(dst, cap, "%s", *(bool *)s->field ? "on" : "off"); break;
    case MYTH_OPT_U32:
        if (takes_all(s->opt) && *(uint32_t *)s->field == UINT32_MAX)
            snprintf(dst, cap, "all");
        else
            snprintf(dst, cap, "%u", *(uint32_t *)s->field);
        break;
    case MYTH_OPT_U64: snprintf(dst, cap, "%llu", (unsigned long long)*(uint64_t *)s->field); break;
    case MYTH_OPT_SIZE: snprintf(dst, cap, "%s", myth_size_text(size, *(uint64_t *)s->field)); break;
    case MYTH_OPT_F32: snprintf(dst, cap, "%g", (double)*(float *)s->field); break;
    case MYTH_OPT_TEXT:
    case MYTH_OPT_OUT: snprintf(dst, cap, "%s", *(const char **)s->field ? *(const char **)s->field : ""); break;
    case MYTH_OPT_CHOICE: {
        const char *c = s->opt->value;
        for (int i = *(int *)s->field; i > 0; i--)
            c += strcspn(c, "|") + 1;
        snprintf(dst, cap, "%.*s", (int)strcspn(c, "|"), c);
        break;
    }
    case MYTH_OPT_LIST: {
        const myth_opt_list *list = s->field;
        size_t n = 0;
        dst[0] = '\0';
        for (int i = 0; i < list->n && n < cap; i++)
            n += (size_t)snprintf(dst + n, cap - n, "%s%s", i ? " " : "", list->item[i]);
        break;
    }
    }
}

/* ---- names ---- */

/* Names that mean different things in different commands, and flags that overwrite a file. test_args checks that every
 * other name means the same in all commands. */
static const char *const own_names[] = {
    "batch",  "chunks",  "files",  "for",  "format", "hidden", "jsonl",           "output",
    "prompt", "rebuild", "report", "rows", "top",    "type",   "update-baseline", "weights",
};

bool myth_args_is_text(const myth_option *o) { return o->kind == MYTH_OPT_TEXT || o->kind == MYTH_OPT_OUT; }

bool myth_args_is_json(const myth_option *o) { return o->kind == MYTH_OPT_FLAG && strcmp(o->name, "json") == 0; }

bool myth_args_is_own(const char *name)
{
    for (size_t i = 0; i < sizeof(own_names) / sizeof(own_names[0]); i++)
        if (strcmp(own_names[i], name) == 0)
            return true;
    return false;
}

void myth_args_env_name(const myth_option *o, const char *command, char *dst, size_t cap)
{
    const bool is_own = command && myth_args_is_own(o->name);
    int n = snprintf(dst, cap, "MYTHOS_%s%s%s", is_own ? command : "", is_own ? "_" : "", o->name);
    for (int i = 0; i < n && (size_t)i < cap; i++)
        dst[i] = dst[i] == '-' ? '_' : (char)toupper((unsigned char)dst[i]);
}

/* Edit distance of two short words: insertions, deletions, substitutions and swaps of neighbouring letters. Capitals
 * and small letters are the same. */
static size_t distance(const char *a, const char *b)
{
    enum { CAP = 40 };
    size_t n = strlen(a), m = strlen(b), d[CAP + 1][CAP + 1];
    if (n > CAP || m > CAP)
        return SIZE_MAX;
    for (size_t i = 0; i <= n; i++)
        d[i][0] = i;
    for (size_t j = 0; j <= m; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        for (size_t j = 1; j <= m; j++) {
            size_t best = d[i - 1][j - 1] + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
            if (d[i - 1][j] + 1 < best)
                best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best)
                best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    }
    return d[n][m];
}

const char *myth_args_nearest(const char *word, const char *const *list, size_t n)
{
    const char *best = NULL;
    size_t best_distance = strlen(word) / 3 + 1, len = strlen(word);
    for (size_t i = 0; i < n; i++) {
        if (len >= 3 && strncmp(list[i], word, len) == 0)
            return list[i];
        size_t dist = distance(word, list[i]);
        if (dist <= best_distance && (!best || dist < best_distance)) {
            best = list[i];
            best_distance = dist;
        }
    }
    return best;
}

myth_status myth_args_read_names(uint64_t *bits, const char *flag, const char *what, const char *list,
                                 const char *const *names, size_t n, myth_error *err)
{
    *bits = 0;
    for (const char *p = list; *p;) {
        const size_t len = strcspn(p, ", ");
        size_t i = 0;
        while (i < n && !(strlen(names[i]) == len && memcmp(names[i], p, len) == 0))
            i++;
        if (len && i == n) {
            char word[64];
            snprintf(word, sizeof(word), "%.*s", (int)(len < 48 ? len : 48), p);
            const char *near = myth_args_nearest(word, names, n);
            return near ? myth_fail(err, MYTH_EARG, "%s: no %s '%s'; did you mean %s?", flag, what, word, near)
                        : myth_fail(err, MYTH_EARG, "%s: no %s '%s'; %ss have names such as %s and %s", flag, what,
                                    word, what, names[0], names[1]);
        }
        *bits |= len ? (uint64_t)1 << i : 0;
        p += len + (p[len] != '\0');
    }
    return *bits ? MYTH_OK : myth_fail(err, MYTH_EARG, "%s: the list names no %s", flag, what);
}

/* `list` is "-ub, --prefill-chunk". */
static bool is_in_list(const char *list, const char *word, size_t len)
{
    while (list && *list) {
        size_t n = strcspn(list, ", ");
        if (n == len && memcmp(list, word, n) == 0)
            return true;
        list += n;
        list += strspn(list, ", ");
    }
    return false;
}

bool myth_args_spells(const myth_option *o, const char *word, size_t len)
{
    return (len > 2 && word[0] == '-' && word[1] == '-' && strlen(o->name) == len - 2 &&
            memcmp(o->name, word + 2, len - 2) == 0) ||
           is_in_list(o->also, word, len);
}

static myth_opt_slot *find_spelling(myth_parsed *p, const char *word, size_t len)
{
    for (int i = 0; i < p->n_slot; i++)
        if (myth_args_spells(p->slot[i].opt, word, len))
            return &p->slot[i];
    return NULL;
}

const myth_opt_slot *myth_args_find(const myth_parsed *p, const char *name)
{
    for (int i = 0; i < p->n_slot; i++)
        if (strcmp(p->slot[i].opt->name, name) == 0)
            return &p->slot[i];
    return NULL;
}

bool myth_args_is_given(const myth_parsed *p, const char *name)
{
    const myth_opt_slot *s = myth_args_find(p, name);
    return s && s->source != MYTH_FROM_DEFAULT;
}

bool myth_args_is_flag(const myth_parsed *p, const char *name)
{
    const myth_opt_slot *s = myth_args_find(p, name);
    return s && s->source == MYTH_FROM_FLAG;
}

/* A word such as -il or -k5: letters that are flags in one word, or a value that is not a word of its own. */
static bool is_glued(const myth_parsed *p, const char *word, size_t len, char *dst, size_t cap)
{
    size_t n = 0;
    if (len < 3 || word[1] == '-')
        return false;
    const myth_opt_slot *first = find_spelling((myth_parsed *)p, word, 2);
    if (first && first->opt->kind != MYTH_OPT_FLAG && !isalpha((unsigned char)word[2])) {
        const char *value = word + 2 + (word[2] == '=');
        snprintf(dst, cap, "%.2s %.*s", word, (int)(len - (size_t)(value - word)), value);
        return true;
    }
    for (size_t i = 1; i < len; i++) {
        const char one[] = {'-', word[i], '\0'};
        const myth_opt_slot *s = find_spelling((myth_parsed *)p, one, 2);
        if (!s || (s->opt->kind != MYTH_OPT_FLAG && i + 1 < len) || n + 4 > cap)
            return false;
        n += (size_t)snprintf(dst + n, cap - n, "%s%s", n ? " " : "", one);
    }
    return true;
}

static myth_status unknown_flag(const myth_parsed *p, const char *word, size_t len, myth_error *err)
{
    char name[64], apart[64];
    const char *list[MYTH_ARGS_MAX + 1], *command = p->command ? p->command : "COMMAND";
    size_t n = 0;
    for (; n < (size_t)p->n_slot; n++)
        list[n] = p->slot[n].opt->name;
    if (myth_args_find(p, "json"))
        list[n++] = "format"; /* --format json is another spelling of --json */
    size_t skip = strspn(word, "-");
    snprintf(name, sizeof(name), "%.*s", (int)(len - skip), word + skip);
    if (is_glued(p, word, len, apart, sizeof(apart)))
        return myth_fail(err, MYTH_EARG, "unknown flag %.*s; write it apart: %s", (int)len, word, apart);
    snprintf(apart, sizeof(apart), "-%.1s", name);
    const myth_opt_slot *letter = name[0] && !name[1] ? find_spelling((myth_parsed *)p, apart, 2) : NULL;
    if (letter)
        return myth_fail(err, MYTH_EARG, "unknown flag %.*s; did you mean %s (--%s)?", (int)len, word, apart,
                         letter->opt->name);
    const char *near = myth_args_nearest(name, list, n), *other = p->command_of ? p->command_of(word, len) : NULL;
    if (near && (!other || distance(name, near) <= 1))
        return myth_fail(err, MYTH_EARG, "unknown flag %.*s; did you mean --%s?", (int)len, word, near);
    if (other)
        return myth_fail(err, MYTH_EARG,
                         "%s has no flag %.*s, which is one of mythos %s; mythos %s --help lists the flags", command,
                         (int)len, word, other, command);
    return myth_fail(err, MYTH_EARG, "unknown flag %.*s; mythos %s --help lists the flags", (int)len, word, command);
}

/* ---- parsing ---- */

void myth_args_add(myth_parsed *p, const myth_option_group *g, void *base)
{
    for (size_t i = 0; i < g->n_opt; i++) {
        const myth_option *o = &g->opt[i];
        assert(p->n_slot < MYTH_ARGS_MAX);
        myth_opt_slot *s = &p->slot[p->n_slot++];
        *s = (myth_opt_slot){.opt = o, .field = (unsigned char *)base + g->off + o->off};
        if (o->def && o->def[0] != '(') {
            bool ok = set_value(o, s->field, o->def);
            assert(ok);
            (void)ok;
        }
    }
}

/* The first item from a stronger source (flag > environment > file) empties the list that a weaker source filled. */
static void begin_list(const myth_opt_slot *s, myth_opt_source source)
{
    if (s->opt->kind == MYTH_OPT_LIST && s->source != source)
        ((myth_opt_list *)s->field)->n = 0;
}

myth_status myth_args_set(myth_parsed *p, const char *name, const char *text, const char *where, myth_error *err)
{
    char whole[256];
    myth_opt_list unused; /* for a value that is checked only: as large as any */
    for (int i = 0; i < p->n_slot; i++) {
        myth_opt_slot *s = &p->slot[i];
        if (strcmp(s->opt->name, name) != 0)
            continue;
        void *const field = s->source > MYTH_FROM_FILE ? &unused : s->field;
        if (s->source > MYTH_FROM_FILE)
            memset(&unused, 0, sizeof(unused));
        else
            begin_list(s, MYTH_FROM_FILE);
        snprintf(whole, sizeof(whole), "%.160s: %.60s", where, name);
        if (!set_value(s->opt, field, text)) {
            bad_value(s->opt, whole, text, err);
            if (err)
                err->code = MYTH_EFORMAT;
            return MYTH_EFORMAT;
        }
        if (s->source > MYTH_FROM_FILE)
            continue;
        s->source = MYTH_FROM_FILE;
        s->text = text;
    }
    return MYTH_OK;
}

static myth_status read_environment(myth_parsed *p, myth_error *err)
{
    for (int i = 0; i < p->n_slot; i++) {
        char name[80];
        myth_opt_slot *s = &p->slot[i];
        myth_args_env_name(s->opt, p->command, name, sizeof(name));
        const char *text = getenv(name);
        if (!text || !*text) {
            char plain[80];
            myth_args_env_name(s->opt, NULL, plain, sizeof(plain));
            if (strcmp(plain, name) != 0 && (text = getenv(plain)) && *text)
                p->unread_env = s->opt;
            continue;
        }
        begin_list(s, MYTH_FROM_ENV);
        if (!set_value(s->opt, s->field, text))
            return bad_value(s->opt, name, text, err);
        s->source = MYTH_FROM_ENV;
        s->text = text;
    }
    return MYTH_OK;
}

/* Reads --format for a command that has --json, and --json for one that has --format. *is_read: it was one of them. */
static myth_status read_format(myth_parsed *p, int argc, char **argv, int *i, const char *word, size_t len,
                               const char *text, bool *is_read, myth_error *err)
{
    const bool is_format = len == 8 && memcmp(word, "--format", len) == 0,
               is_json = len == 6 && memcmp(word, "--json", len) == 0 && !text;
    const char *other = is_format ? "--json" : "--format";
    myth_opt_slot *s = is_format || is_json ? find_spelling(p, other, strlen(other)) : NULL;
    if (!s || s->opt->kind != (is_format ? MYTH_OPT_FLAG : MYTH_OPT_CHOICE) ||
        (is_json && !parse_choice(s->field, s->opt->value, "json")))
        return MYTH_OK;
    *is_read = true;
    if (is_format) {
        if (!text && *i + 1 >= argc)
            return myth_fail(err, MYTH_EARG, "--format: the value is missing (text|json)");
        text = text ? text : argv[++*i];
        if (strcmp(text, "json") != 0 && strcmp(text, "text") != 0)
            return myth_fail(err, MYTH_EARG, "--format: got '%s', expected text|json", text);
        *(bool *)s->field = strcmp(text, "json") == 0;
    }
    s->source = MYTH_FROM_FLAG;
    s->text = is_format ? text : "json";
    return MYTH_OK;
}

/* Reads the flag at argv[*i] and its value; *i ends on the last word that belongs to it. */
static myth_status read_flag(myth_parsed *p, int argc, char **argv, int *i, myth_error *err)
{
    myth_status st = MYTH_OK;
    bool is_read = false;
    const char *word = argv[*i], *text = NULL;
    size_t len = strlen(word);
    if (word[1] == '-' && strchr(word, '=')) {
        len = strcspn(word, "=");
        text = word + len + 1;
    }
    myth_opt_slot *s = find_spelling(p, word, len);
    if (!s && len > 5 && strncmp(word, "--no-", 5) == 0 && !text) {
        char name[80];
        snprintf(name, sizeof(name), "--%s", word + 5);
        s = find_spelling(p, name, strlen(name));
        if (s && s->opt->kind == MYTH_OPT_FLAG)
            text = "off";
        else
            s = NULL;
    }
    if (!s && (st = read_format(p, argc, argv, i, word, len, text, &is_read, err), is_read))
        return st;
    if (!s)
        return unknown_flag(p, word, len, err);
    if (s->opt->kind == MYTH_OPT_FLAG && !text)
        text = "on";
    if (!text) {
        if (*i + 1 >= argc)
            return myth_fail(err, MYTH_EARG, "%s: the value is missing (%s)", word, s->opt->value);
        text = argv[++*i];
        if (strncmp(text, "--", 2) == 0 && find_spelling(p, text, strlen(text)))
            return myth_fail(err, MYTH_EARG, "%s: the value is missing (%s): the next word is the flag %s", word,
                             s->opt->value, text);
    }
    char where[80];
    const bool is_short = word[1] != '-';
    snprintf(where, sizeof(where), "%.*s%s%s%s", (int)len, word, is_short ? " (--" : "", is_short ? s->opt->name : "",
             is_short ? ")" : "");
    begin_list(s, MYTH_FROM_FLAG);
    if (!set_value(s->opt, s->field, text))
        return bad_value(s->opt, where, text, err);
    s->source = MYTH_FROM_FLAG;
    s->text = text;
    return MYTH_OK;
}

myth_status myth_args_parse(myth_parsed *p, int argc, char **argv, myth_error *err)
{
    myth_status st;
    bool options_end = false;
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0)
            break;
        if (strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "--help") == 0) {
            p->wants_help = true;
            return MYTH_OK;
        }
    }
    if ((st = read_environment(p, err)) != MYTH_OK)
        return st;
    for (int i = 0; i < argc; i++) {
        if (options_end || argv[i][0] != '-' || argv[i][1] == '\0') {
            argv[p->n_arg++] = argv[i];
        } else if (strcmp(argv[i], "--") == 0) {
            options_end = true;
        } else if ((st = read_flag(p, argc, argv, &i, err)) != MYTH_OK) {
            return st;
        }
    }
    return MYTH_OK;
}
