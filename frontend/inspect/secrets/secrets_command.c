/* secrets_command.c - finds passwords on a command line: values of flags that the command uses for passwords.
 *
 * Form     "-pX" behind mysql, "-u user:X" behind curl, "-passin pass:X" behind openssl: rows of the table
 * Bounds   the command stands at most BACK bytes before its flag, on the same line or one continued by a backslash,
 *          with no | ; & between, among its first WORDS words; a value goes FLAG_VALUE_MAX bytes at most
 * Source   the manuals of the commands */
#include "secrets_impl.h"

enum { BACK = 400, WORDS = 32, FLAG_VALUE_MAX = 256 };

typedef enum {
    ATTACHED, /* -pX                              */
    NEXT,     /* -p X, --flag=X                   */
    EITHER    /* both                             */
} value_place;

static const struct {
    const char *commands; /* words with | between; "docker login": both words stand before the flag */
    const char *flag;
    value_place place;
    char separator; /* the secret begins after it; 0 = the whole value is the secret */
} flags[] = {
    {"mysql|mysqldump|mysqladmin|mysqlimport|mysqlshow|mysqlcheck|mariadb|mariadb-dump|mariadb-admin", "-p", ATTACHED,
     0},
    {"curl", "-u", EITHER, ':'},
    {"curl", "--user", NEXT, ':'},
    {"curl", "-U", EITHER, ':'},
    {"curl", "--proxy-user", NEXT, ':'},
    {"http|https|xh", "-a", NEXT, ':'},
    {"http|https|xh", "--auth", NEXT, ':'},
    {"sshpass", "-p", EITHER, 0},
    {"redis-cli", "-a", NEXT, 0},
    {"redis-cli", "--pass", NEXT, 0},
    {"login", "-p", NEXT, 0}, /* docker, podman, helm registry, oras, az */
    {"mongo|mongosh|mongodump|mongorestore|mongoexport|mongoimport", "-p", NEXT, 0},
    {"ldapsearch|ldapadd|ldapmodify|ldapdelete|ldapwhoami|ldappasswd", "-w", NEXT, 0},
    {"smbclient|rpcclient|smbget|net", "-U", NEXT, '%'},
    {"lftp", "-u", NEXT, ','},
    {"sqlcmd|bcp|isql|tsql|ipmitool|mosquitto_pub|mosquitto_sub|zip|unzip", "-P", NEXT, 0},
    {"7z|7za|7zr|rar|unrar", "-p", ATTACHED, 0},
    {"openssl", "-passin pass:", ATTACHED, 0},
    {"openssl", "-passout pass:", ATTACHED, 0},
    {"openssl", "-pass pass:", ATTACHED, 0},
    {"keytool|jarsigner", "-storepass", NEXT, 0},
    {"keytool|jarsigner", "-keypass", NEXT, 0},
    {"snmpget|snmpwalk|snmpset|snmpbulkwalk", "-A", NEXT, 0},
    {"snmpget|snmpwalk|snmpset|snmpbulkwalk", "-X", NEXT, 0},
    {"rdesktop", "-p", NEXT, 0},
    {"xfreerdp|wfreerdp", "/p:", ATTACHED, 0},
};

/* Returns the start of the command that text[i] belongs to. */
static size_t command_start(text t, size_t i)
{
    const size_t stop = i > BACK ? i - BACK : 0;
    while (i > stop) {
        const char c = t.p[i - 1];
        const bool is_continued = c == '\n' && i > 1 && (t.p[i - 2] == '\\' || (t.p[i - 2] == '\r' && i > 2));
        if (c == '|' || c == ';' || c == '&' || (c == '\n' && !is_continued))
            break;
        i--;
    }
    return i;
}

/* The words of a command line before its flag, flags themselves left out. */
typedef struct {
    size_t at[WORDS];
    uint32_t n;
} words;

/* Reads them once, whatever is asked of them. A path before a word is no part of it. */
static void read_words(words *w, text t, size_t i)
{
    w->n = 0;
    for (size_t k = command_start(t, i); k < i && w->n < WORDS; k++) {
        const bool begins = k == 0 || is_space(t.p[k - 1]) || strchr("|;&/(`$\"'@#>:", t.p[k - 1]);
        if (begins && is_alnum(t.p[k]))
            w->at[w->n++] = k;
    }
}

/* Whether one of the commands, a list with | between them, is among the words. */
static bool has_command(const words *w, text t, const char *commands)
{
    for (const char *c = commands; *c; c += strcspn(c, "|") + (c[strcspn(c, "|")] == '|')) {
        const size_t n = strcspn(c, "|");
        for (uint32_t k = 0; k < w->n; k++)
            if (t.p[w->at[k]] == *c && w->at[k] + n < t.n && !memcmp(t.p + w->at[k], c, n) &&
                (t.p[w->at[k] + n] == ' ' || t.p[w->at[k] + n] == '\t'))
                return true;
    }
    return false;
}

/* A value, in quotes or up to a blank, from `at` on. */
static bool read_value(text t, size_t at, size_t *from, size_t *n)
{
    const bool has_quote = at < t.n && (t.p[at] == '"' || t.p[at] == '\'');
    const char quote = has_quote ? t.p[at] : 0;
    *from = at + has_quote;
    for (*n = 0; *from + *n < t.n && *n < FLAG_VALUE_MAX; ++*n) {
        const char c = t.p[*from + *n];
        if (c == '\n' || (quote ? c == quote : is_space(c) || is_quote(c) || strchr("|;&)<>", c)))
            break;
    }
    return *n > 0;
}

/* Whether the value only stands in for a secret: a variable, a placeholder, or a word such as "pass". */
static bool stands_for_one(const char *p, size_t n)
{
    static const char *const word[] = {"pass", "pw", "pwd", "user", "xxx", "yyy", "test", "changeme", "changeit"};
    for (size_t k = 0; k < sizeof(word) / sizeof(word[0]); k++)
        if (strlen(word[k]) == n && !memcmp(word[k], p, n))
            return true;
    return n < 2 || p[0] == '-' || p[0] == '[' || p[0] == '*' || is_blank_value(p, n);
}

static bool take_value(myth_secret *out, text t, size_t at, value_place place, char separator)
{
    size_t from, n, skip = 0;
    if (place == NEXT || (place == EITHER && at < t.n && (is_space(t.p[at]) || t.p[at] == '='))) {
        if (at >= t.n || !(t.p[at] == ' ' || t.p[at] == '\t' || t.p[at] == '='))
            return false;
        for (at++; at < t.n && (t.p[at] == ' ' || t.p[at] == '\t'); at++) {}
    }
    if (!read_value(t, at, &from, &n))
        return false;
    if (separator) {
        const char *sign = memchr(t.p + from, separator, n);
        if (!sign)
            return false;
        skip = (size_t)(sign + 1 - (t.p + from));
        if (skip == n && from + n < t.n && is_quote(t.p[from + n])) { /* ann:'X' */
            if (!read_value(t, from + n, &from, &n))
                return false;
            skip = 0;
        }
    }
    if (stands_for_one(t.p + from + skip, n - skip))
        return false;
    return found(out, MYTH_SECRET_PASSWORD, from + skip, n - skip);
}

/* htpasswd -b FILE USER X: the third word behind a flag with a b in it. */
static bool take_htpasswd(myth_secret *out, text t, size_t i)
{
    size_t at = i, from, n;
    bool has_b = false;
    for (; at < t.n && !is_space(t.p[at]); at++)
        has_b = has_b || t.p[at] == 'b';
    for (int word = 0; has_b && word < 3; word++) {
        while (at < t.n && (t.p[at] == ' ' || t.p[at] == '\t'))
            at++;
        if (at >= t.n || t.p[at] == '-' || !read_value(t, at, &from, &n))
            return false;
        if (word == 2)
            return !stands_for_one(t.p + from, n) && found(out, MYTH_SECRET_PASSWORD, from, n);
        at = from + n;
    }
    return false;
}

bool myth_secret_find_flag(myth_secret *out, const char *bytes, size_t len, size_t i)
{
    const text t = {bytes, len};
    if ((t.p[i] != '-' && t.p[i] != '/') || i == 0 || !(t.p[i - 1] == ' ' || t.p[i - 1] == '\t'))
        return false;
    words w;
    bool is_read = false;
    for (size_t k = 0; k < sizeof(flags) / sizeof(flags[0]); k++) {
        if (!has_at(t, i, flags[k].flag))
            continue;
        if (!is_read)
            read_words(&w, t, i);
        is_read = true;
        if (has_command(&w, t, flags[k].commands) &&
            take_value(out, t, i + strlen(flags[k].flag), flags[k].place, flags[k].separator))
            return true;
    }
    if (t.p[i] == '-' && i + 1 < t.n && (t.p[i + 1] == 'b' || t.p[i + 1] == 'c')) {
        read_words(&w, t, i);
        return has_command(&w, t, "htpasswd") && take_htpasswd(out, t, i);
    }
    return false;
}
