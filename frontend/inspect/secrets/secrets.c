/* secrets.c - the detectors, one function each: does a secret of this form begin at text[i]? */
#include "secrets_impl.h"

#include "sha256.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How many bytes a detector reads from one place, so that the time is linear in the text: VALUE_MAX of a value,
 * BLOCK_MAX of a key block, GAP_MAX between a name and its value, LOOK_MAX of a run before it is known to be a secret.
 * A run that is known to be one is read to its end: the search goes on after it, so these bytes are not read again. */
enum { VALUE_MAX = 1024, BLOCK_MAX = 16384, GAP_MAX = 40, LOOK_MAX = 128 };

const char *myth_secret_kind_name(myth_secret_kind kind)
{
    static const char *const name[] = {
#define KIND(id, name) name,
#include "secrets.def"
    };
    return name[kind];
}

size_t myth_secret_placeholder(char dst[MYTH_PLACEHOLDER_CAP], myth_secret_kind kind, const void *secret, size_t len)
{
    if (len < MYTH_SECRET_SHORT)
        return (size_t)snprintf(dst, MYTH_PLACEHOLDER_CAP, "[REDACTED:%s:short]", myth_secret_kind_name(kind));
    myth_sha256 s;
    unsigned char digest[MYTH_SHA256_BYTES];
    char hex[9];
    myth_sha256_start(&s);
    myth_sha256_add(&s, secret, len);
    myth_sha256_end(&s, digest);
    myth_sha256_hex(hex, digest, 8);
    return (size_t)snprintf(dst, MYTH_PLACEHOLDER_CAP, "[REDACTED:%s:%s]", myth_secret_kind_name(kind), hex);
}

/* ---- bytes ---- */

typedef enum { SET_ALNUM, SET_WORD, SET_DOTS, SET_HEX, SET_UPPER, SET_BASE64, SET_BASE64_STD } byte_set;

static bool in_set(byte_set set, char c)
{
    switch (set) {
    case SET_ALNUM: return is_alnum(c);
    case SET_WORD: return is_alnum(c) || c == '_' || c == '-';
    case SET_DOTS: return is_alnum(c) || c == '_' || c == '-' || c == '.';
    case SET_HEX: return is_hex(c);
    case SET_UPPER: return is_upper(c) || is_digit(c);
    case SET_BASE64: return is_alnum(c) || c == '+' || c == '/' || c == '=' || c == '_' || c == '-';
    case SET_BASE64_STD: return is_alnum(c) || c == '+' || c == '/' || c == '=';
    }
    return false;
}

static size_t run_upto(text t, size_t i, byte_set set, size_t max)
{
    size_t n = 0;
    while (n < max && i + n < t.n && in_set(set, t.p[i + n]))
        n++;
    return n;
}

static size_t run_of(text t, size_t i, byte_set set) { return run_upto(t, i, set, SIZE_MAX); }

/* Shannon entropy of the n bytes, in bits per byte: random text has more of it than words. */
static double entropy(const char *p, size_t n)
{
    uint32_t count[256] = {0};
    double h = 0;
    for (size_t i = 0; i < n; i++)
        count[(unsigned char)p[i]]++;
    for (int c = 0; c < 256; c++)
        if (count[c])
            h -= count[c] / (double)n * log2(count[c] / (double)n);
    return h;
}

typedef enum {
    BAR_PASSWORD,
    BAR_SECRET,
    BAR_KEY
} value_bar; /* what a value must look like to be a secret, from almost anything to random bytes */

static bool is_value(value_bar bar, const char *p, size_t n);

/* ---- secrets with a form of their own ---- */

static const struct {
    myth_secret_kind kind;
    const char *mark;
    byte_set set;
    size_t min;
} prefixes[] = {
#define PREFIX(id, mark, set, min) {MYTH_SECRET_##id, mark, SET_##set, min},
#include "secrets.def"
};

static bool find_prefix(myth_secret *out, text t, size_t i)
{
    if (!is_border(t, i))
        return false;
    for (size_t k = 0; k < sizeof(prefixes) / sizeof(prefixes[0]); k++) {
        if (prefixes[k].mark[0] != t.p[i] || !has_at(t, i, prefixes[k].mark))
            continue;
        size_t m = strlen(prefixes[k].mark), n = run_upto(t, i + m, prefixes[k].set, LOOK_MAX);
        if (n >= prefixes[k].min && has_digit(t.p + i + m, n))
            return found(out, prefixes[k].kind, i, m + run_of(t, i + m, prefixes[k].set));
    }
    return false;
}

/* A PEM or PGP block of a private key, in lines or in one string with \n in it. When its END line is missing, all of
 * the BLOCK_MAX bytes are the secret. */
static bool find_private_key(myth_secret *out, text t, size_t i)
{
    if (!has_at(t, i, "-----BEGIN "))
        return false;
    size_t head = i + 11, stop = i + BLOCK_MAX < t.n ? i + BLOCK_MAX : t.n;
    while (head < stop && (is_upper(t.p[head]) || is_digit(t.p[head]) || t.p[head] == ' '))
        head++;
    if (!has_at(t, head, "-----") || head < i + 22)
        return false;
    bool is_private = false;
    for (size_t k = i; k + 11 <= head; k++)
        is_private = is_private || has_at(t, k, "PRIVATE KEY");
    if (!is_private)
        return false;
    for (size_t k = head + 5; k < stop; k++) {
        if (!has_at(t, k, "-----END "))
            continue;
        size_t end = k + 9;
        while (end < t.n && (is_upper(t.p[end]) || is_digit(t.p[end]) || t.p[end] == ' '))
            end++;
        return found(out, MYTH_SECRET_PRIVATE_KEY, i, (has_at(t, end, "-----") ? end + 5 : end) - i);
    }
    return found(out, MYTH_SECRET_PRIVATE_KEY, i, stop - i);
}

/* A JSON web token: three runs of base64url with a dot between them. The first two are JSON objects, and {" followed by
 * a letter is spelled eyJ in base64url. */
static bool find_jwt(myth_secret *out, text t, size_t i)
{
    if (!has_at(t, i, "eyJ") || !is_border(t, i))
        return false;
    size_t a = run_upto(t, i, SET_WORD, VALUE_MAX);
    if (a < 12 || !has_at(t, i + a, ".eyJ"))
        return false;
    size_t b = run_of(t, i + a + 1, SET_WORD), end = i + a + 1 + b;
    if (end < t.n && t.p[end] == '.')
        end += 1 + run_of(t, end + 1, SET_WORD);
    return found(out, MYTH_SECRET_JWT, i, end - i);
}

/* Whether the n bytes where a password belongs in an address only stand for one: a variable, a field of a format, or
 * a password that is hidden already. A password may begin with the same signs (%40dmin, $x!y) and is none of them. */
static bool is_url_placeholder(const char *p, size_t n)
{
    size_t k = 1;
    switch (p[0]) {
    case '{': return memchr(p, '}', n) != NULL;
    case '%': return n < 3 || !is_hex(p[1]) || !is_hex(p[2]) || p[n - 1] == '%';
    case '$':
        while (k < n && (is_alnum(p[k]) || strchr("_.${}()[]", p[k])))
            k++;
        return k == n || (p[1] == '{' && memchr(p, '}', n)) || (p[1] == '(' && memchr(p, ')', n));
    case '*':
        while (k < n && p[k] == '*')
            k++;
        return k == n;
    default: return false;
    }
}

/* Returns the @ that ends user:password, which begins at `from`, or 0; *colon is the colon between the two, or 0. A
 * host may have a colon too, before its port. */
static size_t find_url_at(size_t *colon, text t, size_t from)
{
    const size_t stop = from + VALUE_MAX < t.n ? from + VALUE_MAX : t.n;
    size_t k = from - 3, at = 0, slash = 0;
    bool has_port = true; /* only digits between the colon and the slash */
    /* in "scheme://..." only the same quote ends the address: a password may contain the other one */
    while (k > 0 && from - k < GAP_MAX && (is_alnum(t.p[k - 1]) || strchr("+-.", t.p[k - 1])))
        k--;
    const char quote = k > 0 && is_quote(t.p[k - 1]) ? t.p[k - 1] : 0;
    *colon = 0;
    for (k = from; k < stop; k++) {
        const char c = t.p[k];
        if (is_space(c) || (quote ? c == quote : is_quote(c)) || c == '<' || c == '>')
            break;
        if (c == '/') {
            /* A slash ends user and password, but many write one into a password without escaping it. */
            if (at || has_port || t.p[from] == '[')
                break;
            slash = k;
        }
        if (c == '@') {
            at = k;
            if (slash)
                break;
        }
        if (c == ':' && !*colon)
            *colon = k;
        else if (*colon && !slash)
            has_port = has_port && is_digit(c);
    }
    if (at < *colon)
        *colon = 0;
    return at;
}

/* The password in scheme://user:PASSWORD@host. A token in the place of the user is secret too, as in
 * https://TOKEN:x-oauth-basic@host and https://TOKEN@host. */
static bool find_url_password(myth_secret *out, text t, size_t i)
{
    if (!has_at(t, i, "://"))
        return false;
    size_t user = i + 3, colon, at = find_url_at(&colon, t, user);
    if (!at)
        return false;
    const size_t n_user = (colon ? colon : at) - user;
    const bool is_marked = find_prefix(out, t, user) || find_jwt(out, t, user);
    if (is_marked || is_value(BAR_KEY, t.p + user, n_user))
        return found(out, is_marked ? out->kind : MYTH_SECRET_TOKEN, user, at - user);
    if (!colon || at - colon < 2 || is_url_placeholder(t.p + colon + 1, at - colon - 1))
        return false;
    return found(out, MYTH_SECRET_URL_PASSWORD, colon + 1, at - colon - 1);
}

/* Addresses of webhooks. Whoever knows one may post to it, so everything after the part that all of them share is the
 * secret. */
static bool find_webhook(myth_secret *out, text t, size_t i)
{
    static const char *const head[] = {"hooks.slack.com/services/", "hooks.slack.com/workflows/",
                                       "discord.com/api/webhooks/", "discordapp.com/api/webhooks/",
                                       "webhook.office.com/webhookb2/"};
    if (t.p[i] != 'h' && t.p[i] != 'd' && t.p[i] != 'w')
        return false;
    for (size_t k = 0; k < sizeof(head) / sizeof(head[0]); k++) {
        size_t m = strlen(head[k]), n = 0;
        if (!has_at(t, i, head[k]))
            continue;
        while (i + m + n < t.n && (in_set(SET_DOTS, t.p[i + m + n]) || t.p[i + m + n] == '/' || t.p[i + m + n] == '@'))
            n++;
        if (n >= 16)
            return found(out, MYTH_SECRET_WEBHOOK, i + m, n);
    }
    return false;
}

/* A bot's token for Telegram: 8 to 10 digits, a colon, about 35 bytes. */
static bool find_telegram(myth_secret *out, text t, size_t i)
{
    if (!is_digit(t.p[i]) || !is_border(t, i))
        return false;
    size_t a = 0;
    while (a < 12 && i + a < t.n && is_digit(t.p[i + a]))
        a++;
    if (a < 8 || a > 10 || i + a >= t.n || t.p[i + a] != ':')
        return false;
    size_t b = run_upto(t, i + a + 1, SET_WORD, 41);
    return b >= 30 && b <= 40 && has_digit(t.p + i + a + 1, b) && found(out, MYTH_SECRET_TELEGRAM, i, a + 1 + b);
}

/* A bot's token for Discord, three runs with a dot between them: an id in base64 (23 to 28 bytes; ids begin with a
 * digit, which base64 spells M, N or O), a time (6 bytes), a signature (25 bytes or more). */
static bool find_discord(myth_secret *out, text t, size_t i)
{
    if (!strchr("MNO", t.p[i]) || !t.p[i] || !is_border(t, i))
        return false;
    size_t a = run_upto(t, i, SET_WORD, 29);
    if (a < 23 || a > 28 || !has_at(t, i + a, "."))
        return false;
    size_t b = run_upto(t, i + a + 1, SET_WORD, 7);
    if (b != 6 || !has_at(t, i + a + 7, "."))
        return false;
    size_t c = run_of(t, i + a + 8, SET_WORD);
    return c >= 25 && found(out, MYTH_SECRET_DISCORD, i, a + 8 + c);
}

/* A key for Mailchimp: 32 hex digits, then -us and the number of a data centre. */
static bool find_mailchimp(myth_secret *out, text t, size_t i)
{
    if (!is_hex(t.p[i]) || !is_border(t, i))
        return false;
    size_t n = run_upto(t, i, SET_HEX, 33);
    if (n != 32 || !has_at(t, i + n, "-us"))
        return false;
    size_t m = n + 3;
    while (i + m < t.n && is_digit(t.p[i + m]))
        m++;
    return m > n + 3 && found(out, MYTH_SECRET_MAILCHIMP, i, m);
}

/* What follows "Bearer " or "Basic "; what follows "Token ", a more common word, only after "Authorization: ". */
static bool find_scheme(myth_secret *out, text t, size_t i)
{
    if (!is_border(t, i))
        return false;
    bool is_bearer = has_at_any_case(t, i, "bearer "), is_basic = !is_bearer && has_at_any_case(t, i, "basic ");
    const bool is_token =
        !is_bearer && has_at_any_case(t, i, "token ") && i >= 15 && has_at_any_case(t, i - 15, "authorization: ");
    if (!is_bearer && !is_basic && !is_token)
        return false;
    size_t at = i + (is_bearer ? 7 : 6);
    while (at < t.n && t.p[at] == ' ')
        at++;
    size_t n = run_of(t, at, is_bearer || is_token ? SET_BASE64 : SET_BASE64_STD);
    while (is_bearer && at + n < t.n && (in_set(SET_BASE64, t.p[at + n]) || t.p[at + n] == '.' || t.p[at + n] == '~'))
        n++;
    if (n < 12 || !(has_digit(t.p + at, n) || t.p[at + n - 1] == '='))
        return false;
    return found(out, is_token ? MYTH_SECRET_TOKEN : is_bearer ? MYTH_SECRET_BEARER : MYTH_SECRET_BASIC_AUTH, at, n);
}

/* ---- values found by the name before them ---- */

static const struct {
    const char *word;
    myth_secret_kind kind;
    value_bar bar;
    bool is_whole; /* only where a word begins: the pass of "bypass" does not count */
} names[] = {
    {"requirepass", MYTH_SECRET_PASSWORD, BAR_PASSWORD, false},
    {"password", MYTH_SECRET_PASSWORD, BAR_PASSWORD, false},
    {"passwd", MYTH_SECRET_PASSWORD, BAR_PASSWORD, false},
    {"passphrase", MYTH_SECRET_PASSWORD, BAR_PASSWORD, false},
    {"passcode", MYTH_SECRET_PASSWORD, BAR_PASSWORD, false},
    {"pass", MYTH_SECRET_PASSWORD, BAR_PASSWORD, true},
    {"pwd", MYTH_SECRET_PASSWORD, BAR_PASSWORD, false},
    {"pw", MYTH_SECRET_PASSWORD, BAR_PASSWORD, true},
    {"secret", MYTH_SECRET_SECRET, BAR_SECRET, false},
    {"credential", MYTH_SECRET_SECRET, BAR_SECRET, false},
    {"token", MYTH_SECRET_TOKEN, BAR_SECRET, false},
    {"apikey", MYTH_SECRET_KEY, BAR_SECRET, false},
    {"api_key", MYTH_SECRET_KEY, BAR_SECRET, false},
    {"api-key", MYTH_SECRET_KEY, BAR_SECRET, false},
    {"accesskey", MYTH_SECRET_KEY, BAR_SECRET, false},
    {"access_key", MYTH_SECRET_KEY, BAR_SECRET, false},
    {"access-key", MYTH_SECRET_KEY, BAR_SECRET, false},
    {"accountkey", MYTH_SECRET_KEY, BAR_SECRET, false},
    {"account_key", MYTH_SECRET_KEY, BAR_SECRET, false},
    {"auth", MYTH_SECRET_TOKEN, BAR_SECRET, true},
    {"signature", MYTH_SECRET_TOKEN, BAR_KEY, true},
    {"sig", MYTH_SECRET_TOKEN, BAR_KEY, true},
    {"key", MYTH_SECRET_KEY, BAR_KEY, true},
};

/* Whether the rest of a name, n bytes at i, says that the value is not the secret but where it is kept (token_file) or
 * something about it (password_len). */
static bool is_about(text t, size_t i, size_t n)
{
    static const char *const word[] = {"file",    "path",   "name",        "url",    "uri",     "type",
                                       "len",     "count",  "field",       "header", "expir",   "ttl",
                                       "label",   "title",  "message",     "msg",    "error",   "regex",
                                       "pattern", "format", "placeholder", "hint",   "endpoint"};
    for (size_t at = i; at < i + n; at++)
        for (size_t k = 0; k < sizeof(word) / sizeof(word[0]); k++)
            if (has_at_any_case(t, at, word[k]) && strlen(word[k]) <= i + n - at)
                return true;
    return false;
}

/* Whether a value is only the name of something, such as ACCESS_TOKEN, client_secret, x-api-key: letters and at least
 * one sign that joins words. With a digit it could be a secret. */
static bool is_name_like(const char *p, size_t n)
{
    bool has_join = false;
    for (size_t i = 0; i < n; i++) {
        if (!is_alpha(p[i]) && p[i] != '_' && p[i] != '-' && p[i] != '.' && p[i] != ':' && p[i] != '/')
            return false;
        has_join = has_join || !is_alpha(p[i]);
    }
    return has_join;
}

/* Whether words make up a passphrase, such as "correct horse battery staple": at least four, or three with a digit. A
 * message such as "Enter your password" is none: it has a word of the list, or one that begins with pass, secret or
 * token. */
static bool is_passphrase(const char *p, size_t n, char between)
{
    static const char *const about[] = {
        "a",          "an",        "and",    "are",     "at",      "be",     "by",        "can",     "enter",
        "for",        "from",      "has",    "have",    "if",      "in",     "invalid",   "is",      "least",
        "must",       "new",       "no",     "not",     "of",      "on",     "or",        "please",  "repeat",
        "required",   "reset",     "should", "the",     "this",    "to",     "type",      "use",     "user",
        "was",        "with",      "wrong",  "your",    "key",     "forgot", "too",       "few",     "many",
        "characters", "character", "digits", "letters", "match",   "valid",  "expired",   "missing", "empty",
        "contain",    "contains",  "change", "confirm", "current", "old",    "incorrect", "login",   "auth",
        "name",       "env",       "db",     "see",     "ask",     "client", "app"};
    uint32_t n_word = 0;
    bool has_digits = false;
    for (size_t i = 0, k; i < n; i += k + 1, n_word++) {
        for (k = 0; i + k < n && p[i + k] != between; k++)
            if (!is_alnum(p[i + k]))
                return false;
        if (k == 0 || (k >= 4 && (has_at_any_case((text){p + i, k}, 0, "pass") ||
                                  has_at_any_case((text){p + i, k}, 0, "secret") ||
                                  has_at_any_case((text){p + i, k}, 0, "token"))))
            return false;
        has_digits = has_digits || has_digit(p + i, k);
        for (size_t w = 0; w < sizeof(about) / sizeof(about[0]); w++)
            if (strlen(about[w]) == k && has_at_any_case((text){p + i, k}, 0, about[w]))
                return false;
    }
    return n_word >= 4 || (n_word == 3 && has_digits);
}

static bool is_value(value_bar bar, const char *p, size_t n)
{
    if (bar == BAR_PASSWORD && n && memchr(p, ' ', n))
        return is_passphrase(p, n, ' ');
    bool has_lower = false, has_upper = false;
    for (size_t i = 0; i < n; i++) {
        if (is_space(p[i]) || (unsigned char)p[i] < 0x20)
            return false;
        has_lower = has_lower || is_lower(p[i]);
        has_upper = has_upper || is_upper(p[i]);
    }
    if (n < 3 || is_blank_value(p, n))
        return false;
    switch (bar) {
    case BAR_PASSWORD: return is_passphrase(p, n, '-') || (!is_name_like(p, n) && (n > 3 || has_digit(p, n)));
    case BAR_SECRET:
        return n >= 8 && !is_name_like(p, n) && (has_digit(p, n) || (has_lower && has_upper) || n >= 12) &&
               entropy(p, n) >= 2.5;
    case BAR_KEY: return n >= 20 && has_digit(p, n) && (has_lower || has_upper) && entropy(p, n) >= 3.5;
    }
    return false;
}

/* Whether n bytes look like a password that a person types: letters with a digit or a sign among them, or a number of
 * at least four digits. A path does not. */
static bool is_short_password(const char *p, size_t n)
{
    bool has_sign = false, has_letter = false, is_number = true;
    for (size_t i = 0; i < n; i++) {
        has_letter = has_letter || is_alpha(p[i]);
        has_sign = has_sign || strchr("!@#$%^*~+", p[i]);
        is_number = is_number && is_digit(p[i]);
    }
    if (n < 3 || p[0] == '/' || p[0] == '~' || p[n - 1] == '=' || is_blank_value(p, n) || is_name_like(p, n))
        return false;
    return is_number ? n >= 4 : has_letter && (has_digit(p, n) || has_sign);
}

/* Whether the n bytes at `at` are the value of one field in a list, such as "key=value;key=value" or
 * "user=a password=b"; `end` is the place after the value and the blanks that follow it. */
static bool is_field(text t, size_t at, size_t end, size_t n)
{
    /* "Server=x;Pwd=y;" is a list. A C statement is not: it has blanks around its sign or before its name. */
    if (at + n < t.n && t.p[at + n] == ';') {
        size_t k = at;
        while (k > 0 && at - k < GAP_MAX && t.p[k - 1] != ';' && t.p[k - 1] != '\n' && !is_quote(t.p[k - 1]))
            k--;
        return t.p[at - 1] == '=' && k > 0 && t.p[k - 1] == ';' && !is_space(t.p[k]);
    }
    /* the next field, or the command in "PASSWORD=b command" */
    return t.p[at - 1] == '=' && end > at + n && end < t.n && (is_alnum(t.p[end]) || t.p[end] == '_');
}

/* Whether a value without quotes begins at `at`; *len is the length of the run there in any case. The line or the field
 * must end after it: a run after which an expression goes on is code. */
static bool find_bare(size_t *len, text t, size_t at, value_bar bar)
{
    size_t n = 0;
    bool has_letter = false;
    while (at + n < t.n && n < VALUE_MAX && (is_alnum(t.p[at + n]) || memchr("+/=_!@#$%^*~-", t.p[at + n], 13))) {
        has_letter = has_letter || is_alpha(t.p[at + n]);
        n++;
    }
    size_t end = at + n;
    bool ends = end >= t.n || t.p[end] == '\n' || t.p[end] == '\r' || t.p[end] == '&' || is_quote(t.p[end]) ||
                t.p[end] == '<' || (t.p[end] == '\\' && end + 1 < t.n && (t.p[end + 1] == 'n' || t.p[end + 1] == 'r'));
    if (end < t.n && (t.p[end] == ' ' || t.p[end] == '\t')) {
        while (end < t.n && (t.p[end] == ' ' || t.p[end] == '\t'))
            end++;
        ends = end >= t.n || t.p[end] == '\n' || t.p[end] == '\r' || t.p[end] == '#';
    }
    *len = n;
    if (at > 0 && t.p[at - 1] == '>' && !(end < t.n && t.p[end] == '<')) /* <password> without </password> */
        return false;
    if (bar == BAR_PASSWORD)
        return (ends || is_field(t, at, end, n)) && is_short_password(t.p + at, n);
    return ends && n >= 8 && has_letter && has_digit(t.p + at, n) && is_value(bar, t.p + at, n);
}

/* Whether the value without quotes at `at` is an address with a password in it. Then all of it is the value, as it is
 * in quotes: the rest of such an address (a query, say) may hold secrets too. */
static bool find_bare_url(size_t *len, text t, size_t at, value_bar bar)
{
    myth_secret inner;
    size_t n = 0;
    while (n < GAP_MAX && at + n < t.n && (is_alnum(t.p[at + n]) || strchr("+-.", t.p[at + n])))
        n++;
    if (n == 0 || !find_url_password(&inner, t, at + n))
        return false;
    n = inner.off + inner.len - at;
    while (at + n < t.n && !is_space(t.p[at + n]) && !is_quote(t.p[at + n]) && !strchr("<>\\", t.p[at + n]))
        n++;
    *len = n;
    return is_value(bar, t.p + at, n);
}

/* Returns the place after what may come between a name and the quote of its value: a sign, a type, the beginning of a
 * call. *has_sign: one of = : > , ( { is in it; *has_word: a letter, a digit or one of _ . & is in it. */
static size_t skip_gap(text t, size_t at, bool *has_sign, bool *has_word)
{
    size_t stop = at + GAP_MAX < t.n ? at + GAP_MAX : t.n;
    *has_sign = *has_word = false;
    if (at < stop && is_quote(t.p[at])) /* the name itself is in quotes: "name": or ["name"] = */
        at++;
    else if (at + 1 < stop && t.p[at] == '\\' && is_quote(t.p[at + 1]))
        at += 2;
    for (; at < stop; at++) {
        char c = t.p[at];
        if (c == '=' || c == ':' || c == '>' || c == ',' || c == '(' || c == '{')
            *has_sign = true;
        else if (is_alnum(c) || c == '_' || c == '.' || c == '&')
            *has_word = true;
        else if (c != ' ' && c != '\t' && c != '[' && c != ']' && c != ')' && c != '<' && c != '*' && c != '?' &&
                 c != '!' && c != '@')
            break;
    }
    return at;
}

/* Whether a value is an AWS secret key. These have no prefix: 40 bytes of base64 are one when the name, which ends at
 * `end`, or what comes shortly before the word at i says so. */
static bool is_aws_secret(text t, size_t i, size_t end, size_t v, size_t len)
{
    if (len != 40 || run_upto(t, v, SET_BASE64_STD, 41) != 40)
        return false;
    for (size_t k = i > GAP_MAX ? i - GAP_MAX : 0; k < end; k++)
        if (has_at_any_case(t, k, "aws") || has_at_any_case(t, k, "secret_access") ||
            has_at_any_case(t, k, "secretaccess"))
            return true;
    return false;
}

static bool found_named(myth_secret *out, text t, myth_secret_kind kind, size_t i, size_t name_end, size_t v,
                        size_t len)
{
    return found(out, is_aws_secret(t, i, name_end, v, len) ? MYTH_SECRET_AWS_SECRET : kind, v, len);
}

/* Whether the word at i is part of a flag with two dashes, as in --some-name. */
static bool is_long_flag(text t, size_t i)
{
    size_t stop = i > GAP_MAX ? i - GAP_MAX : 0;
    while (i > stop && in_set(SET_WORD, t.p[i - 1]))
        i--;
    return t.n - i > 2 && t.p[i] == '-' && t.p[i + 1] == '-';
}

/* Whether only a blank separates the word at i from its value: in .netrc, after a login in the same line ("machine h
 * login u password x"), and in redis.conf at the beginning of a line ("requirepass x"). */
static bool is_word_pair(text t, size_t i)
{
    const size_t stop = i > 2 * GAP_MAX ? i - 2 * GAP_MAX : 0;
    if (has_at(t, i, "requirepass "))
        return i == 0 || t.p[i - 1] == '\n';
    for (size_t k = i; k-- > stop && t.p[k] != '\n';)
        if (has_at(t, k, "login ") && is_border(t, k))
            return true;
    return false;
}

/* Whether the len bytes after a long flag are its value although more of the command follows (find_bare finds the value
 * that ends its line). */
static bool is_flag_value(text t, size_t at, size_t len, value_bar bar)
{
    return at + len < t.n && (t.p[at + len] == ' ' || t.p[at + len] == '\t') &&
           (bar == BAR_PASSWORD ? is_short_password(t.p + at, len)
                                : len >= 8 && has_digit(t.p + at, len) && is_value(bar, t.p + at, len));
}

/* Whether the name is given a value of three bytes: from its end to the value there is exactly one = or :, and no call.
 * f(pwd, x, "md5") and pw == "MD5" do not give one. */
static bool is_given(text t, size_t from, size_t to)
{
    uint32_t n_sign = 0;
    for (size_t i = from; i < to; i++) {
        n_sign += t.p[i] == '=' || (t.p[i] == ':' && !has_at(t, i, ":="));
        if (strchr(",(!", t.p[i]))
            return false;
    }
    return n_sign == 1;
}

/* Whether the name at i and the value, whose quote is at v, are a line of a configuration: name "x"; */
static bool is_directive(text t, size_t i, size_t v)
{
    size_t k = i, n = 1;
    while (k > 0 && (in_set(SET_WORD, t.p[k - 1]) || t.p[k - 1] == ' ' || t.p[k - 1] == '\t'))
        k--;
    while (v + n < t.n && n < LOOK_MAX && t.p[v + n] != t.p[v] && t.p[v + n] != '\n')
        n++;
    return (k == 0 || t.p[k - 1] == '\n') && has_at(t, v + n + 1, ";") && t.p[v + n] == t.p[v];
}

/* Whether a ? comes before i in its line: in "a ? password : b" the colon belongs to the ?, and b is not a value. */
static bool is_of_question(text t, size_t i)
{
    for (size_t k = i; k-- > 0 && i - k < GAP_MAX && t.p[k] != '\n';)
        if (t.p[k] == '?')
            return true;
    return false;
}

static bool find_named(myth_secret *out, text t, size_t i)
{
    size_t k = 0, m = 0;
    for (; k < sizeof(names) / sizeof(names[0]); k++) {
        m = strlen(names[k].word);
        if (names[k].word[0] == lower(t.p[i]) && has_at_any_case(t, i, names[k].word))
            break;
    }
    if (k == sizeof(names) / sizeof(names[0]))
        return false;
    /* The word must end here, or the next word of the name begin: tokens, tokenValue and TOKEN_2 are names of a secret,
     * tokenizer and secretary are not. */
    size_t at = i + m, name_end;
    if (at < t.n && lower(t.p[at]) == 's')
        at++;
    if (at < t.n && is_alpha(t.p[at]) && (is_lower(t.p[at]) || is_upper(t.p[at - 1])))
        return false;
    if (names[k].is_whole && i > 0 && is_alpha(t.p[i - 1]) && (is_upper(t.p[i - 1]) || is_lower(t.p[i])))
        return false;
    for (name_end = at; name_end < t.n && name_end - at < GAP_MAX && in_set(SET_WORD, t.p[name_end]); name_end++) {}
    if (is_about(t, at, name_end - at))
        return false;

    /* A value without quotes: <password>x</password>, password=x, PASSWORD: x, --password x. */
    size_t v = name_end, len;
    bool has_sign, has_word;
    while (v < t.n && (t.p[v] == ' ' || t.p[v] == '\t'))
        v++;
    const bool is_spaced = v > name_end && v < t.n && t.p[v] == ':';
    if (v < t.n && (t.p[v] == '=' || t.p[v] == ':' || t.p[v] == '>')) {
        for (v++; v < t.n && (t.p[v] == ' ' || t.p[v] == '\t'); v++) {}
        if (!(is_spaced && is_of_question(t, i)) &&
            (find_bare(&len, t, v, names[k].bar) || find_bare_url(&len, t, v, names[k].bar)))
            return found_named(out, t, names[k].kind, i, name_end, v, len);
    } else if (v > name_end && is_long_flag(t, i)) {
        if (find_bare(&len, t, v, names[k].bar) || is_flag_value(t, v, len, names[k].bar) ||
            find_bare_url(&len, t, v, names[k].bar))
            return found_named(out, t, names[k].kind, i, name_end, v, len);
    } else if (v > name_end && is_word_pair(t, i) && find_bare(&len, t, v, names[k].bar)) {
        return found_named(out, t, names[k].kind, i, name_end, v, len);
    }

    /* A value in quotes. All of it may be inside a string, with a backslash before each quote: \"password\": \"x\" */
    v = skip_gap(t, name_end, &has_sign, &has_word);
    if (v > name_end && v < t.n && is_quote(t.p[v - 1]) && !has_sign)
        return false;
    bool is_escaped = v < t.n && t.p[v] == '\\';
    v += is_escaped;
    /* #define TOKEN "x" and a line of a configuration need no sign; in 'pass "x" to it' there is no value. */
    if (v >= t.n || !is_quote(t.p[v]) || (!has_sign && (v == name_end || !(is_upper(t.p[i]) || is_directive(t, i, v)))))
        return false;
    char quote = t.p[v++];
    for (len = 0; v + len < t.n && len < VALUE_MAX && t.p[v + len] != quote && t.p[v + len] != '\n'; len++) {
        if (t.p[v + len] == '\\' && is_escaped)
            break;
        if (t.p[v + len] == '\\' && v + len + 1 < t.n)
            len++;
    }
    if (v + len > t.n)
        len = t.n - v;
    if (!is_value(names[k].bar, t.p + v, len) || (has_word && !has_digit(t.p + v, len)) ||
        (len == 3 && !is_given(t, name_end, v)))
        return false;
    return found_named(out, t, names[k].kind, i, name_end, v, len);
}

/* The password in a line of .pgpass: host:port:database:user:PASSWORD */
static bool find_pgpass(myth_secret *out, text t, size_t i)
{
    size_t at = i, n, field = 0, first[5];
    if (i > 0 && t.p[i - 1] != '\n')
        return false;
    for (; field < 5; field++) {
        first[field] = at;
        for (n = 0; at + n < t.n && n < LOOK_MAX && !is_space(t.p[at + n]) && (field == 4 || t.p[at + n] != ':'); n++) {
        }
        if (field < 4 && (n == 0 || at + n >= t.n || t.p[at + n] != ':'))
            return false;
        at += n + (field < 4);
    }
    const size_t n_port = first[2] - first[1] - 1;
    n = at - first[4];
    if (at < t.n && t.p[at] != '\n' && t.p[at] != '\r')
        return false;
    for (size_t k = 0; k < n_port; k++)
        if (!is_digit(t.p[first[1] + k]) || n_port < 4)
            return false;
    return is_short_password(t.p + first[4], n) && !has_at(t, first[4], "/") && is_alpha(t.p[first[2]]) &&
           found(out, MYTH_SECRET_PASSWORD, first[4], n);
}

/* ---- all of them ---- */

static bool find_marked(myth_secret *out, text t, size_t i)
{
    return find_prefix(out, t, i) || find_private_key(out, t, i) || find_jwt(out, t, i) ||
           find_url_password(out, t, i) || find_webhook(out, t, i) || find_telegram(out, t, i) ||
           find_discord(out, t, i) || find_mailchimp(out, t, i) || find_scheme(out, t, i) || find_pgpass(out, t, i) ||
           myth_secret_find_flag(out, t.p, t.n, i);
}

bool myth_secret_next(myth_secret *out, const char *bytes, size_t len, size_t from)
{
    const text t = {bytes, len};
    for (size_t i = from; i < len; i++) {
        if (find_marked(out, t, i))
            return true;
        if (!find_named(out, t, i))
            continue;
        /* Up to the first byte of the value a secret with a form of its own may begin: its kind says more than the name
         * does. The value is hidden with it, from its first byte to its last, as it is where only the name tells. */
        const myth_secret named = *out;
        for (size_t k = i + 1; k <= named.off; k++)
            if (find_marked(out, t, k)) {
                const uint32_t off = out->off < named.off ? out->off : named.off, end = named.off + named.len,
                               end_marked = out->off + out->len;
                return found(out, out->kind, off, (end > end_marked ? end : end_marked) - off);
            }
        *out = named;
        return true;
    }
    return false;
}
