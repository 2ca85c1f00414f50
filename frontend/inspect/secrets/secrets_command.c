/* secrets_command.c - finds passwords on a command line: the values of flags that a command uses for passwords.
 *
 * Form     "-pX" after mysql, "-u user:X" after curl, "-passin pass:X" after openssl. Other commands use the same flags
 *          for something else (ssh -p is a port), so a flag counts only when its command is a word before it
 * Bounds   at most BACK bytes before the flag are searched for the command, back to the | ; & or line break before it,
 *          and at most WORDS words of them; at most FLAG_VALUE_MAX bytes of a value are read
 * Source   the manuals of the commands */
#include "secrets_impl.h"

enum { BACK = 400, WORDS = 32, FLAG_VALUE_MAX = 256 };

/* Where the value is: directly after the flag, or after blanks or one "=". */
typedef enum {
    ATTACHED, /* -pX            */
    NEXT,     /* -p X, --flag=X */
    EITHER
} value_place;

static const struct {
    const char *commands; /* names with | between them; one of them must be a word before the flag */
    const char *flag;
    value_place place;
    char separator; /* the secret is what follows it in the value; 0 = the whole value is the secret */
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
    {"login", "-p", NEXT, 0}, /* the subcommand of docker, podman, helm registry, oras and az */
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

/* Returns where the command that text[i] belongs to starts, at most BACK bytes before i. A backslash before the
 * end of a line, \n or \r\n, continues it. */
static size_t command_start(text t, size_t i)
{
    const size_t stop = i > BACK ? i - BACK : 0;
    while (i > stop) {
        const char c = t.p[i - 1];
        const size_t end = i > 1 && t.p[i - 2] == '\r' ? i - 2 : i - 1; /* of the line */
        const bool is_continued = c == '\n' && end > 0 && t.p[end - 1] == '\\';
        if (c == '|' || c == ';' || c == '&' || (c == '\n' && !is_continued))
            break;
        i--;
    }
    return i;
}

/* Where the words of a command begin that are before the flag; words that begin with "-" are not among them. */
typedef struct {
    size_t at[WORDS];
    uint32_t n;
} words;

/* Finds the words between the start of the command and the flag at i. A word also begins after a slash or a quote, so
 * that the command is found in /usr/bin/mysql and in sh -c "mysql -pX". */
static void read_words(words *w, text t, size_t i)
{
    w->n = 0;
    for (size_t k = command_start(t, i); k < i && w->n < WORDS; k++) {
        const bool begins = k == 0 || is_space(t.p[k - 1]) || strchr("|;&/(`$\"'@#>:", t.p[k - 1]);
        if (begins && is_alnum(t.p[k]))
            w->at[w->n++] = k;
    }
}

/* Whether one of the commands, names with | between them, is among the words and has a blank after it. */
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

/* Finds the value that begins at `at`: up to the closing quote when it is quoted, otherwise up to a blank or a sign
 * that ends a word in a shell. Returns false when it is empty. */
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

/* Whether the value is not a secret: the next flag (-), a placeholder ([password], ***), a variable, one byte, or a
 * word that manuals write where a password belongs. */
static bool is_no_password(const char *p, size_t n)
{
    static const char *const word[] = {"pass", "pw", "pwd", "user", "xxx", "yyy", "test", "changeme", "changeit"};
    for (size_t k = 0; k < sizeof(word) / sizeof(word[0]); k++)
        if (strlen(word[k]) == n && !memcmp(word[k], p, n))
            return true;
    return n < 2 || p[0] == '-' || p[0] == '[' || p[0] == '*' || is_blank_value(p, n);
}

/* Whether the value of the flag that ends before `at` is a secret. */
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
        if (skip == n && from + n < t.n && is_quote(t.p[from + n])) { /* ann:'X', where only the secret is quoted */
            if (!read_value(t, from + n, &from, &n))
                return false;
            skip = 0;
        }
    }
    if (is_no_password(t.p + from + skip, n - skip))
        return false;
    return found(out, MYTH_SECRET_PASSWORD, from + skip, n - skip);
}

/* The X of htpasswd -b FILE USER X, which is no flag's value but the third word after the flags at i. They must contain
 * a b, because without -b htpasswd asks for the password. */
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
            return !is_no_password(t.p + from, n) && found(out, MYTH_SECRET_PASSWORD, from, n);
        at = from + n;
    }
    return false;
}

bool myth_secret_find_flag(myth_secret *out, const char *bytes, size_t len, size_t i)
{
    const text t = {bytes, len};
    if ((t.p[i] != '-' && t.p[i] != '/') || i == 0 || !(t.p[i - 1] == ' ' || t.p[i - 1] == '\t'))
        return false;
    words w; /* read when a flag of the table is found, which is rare, and once for all rows with that flag */
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
