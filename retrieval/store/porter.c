/* porter.c - Porter's stemmer over a-z, in place. Like FTS5's own `porter` it has "bli" for "abli" in step 2, and
 * "logi".
 *
 * Terms    m counts how often a run of vowels is followed by a run of consonants; 'y' after a consonant is a vowel
 * Source   Porter, An algorithm for suffix stripping (1980), and the author's later notes on departures from it */
#include "fts_tokenizer.h"

#include <string.h>

enum { STEM_MIN = 3, STEM_MAX = 64 }; /* shorter and longer words have no stem, as in FTS5 */

static bool is_consonant(const char *s, size_t i)
{
    switch (s[i]) {
    case 'a':
    case 'e':
    case 'i':
    case 'o':
    case 'u': return false;
    case 'y': return i == 0 || !is_consonant(s, i - 1);
    default: return true;
    }
}

static unsigned measure(const char *s, size_t n)
{
    unsigned m = 0;
    for (size_t i = 1; i < n; i++)
        m += is_consonant(s, i) && !is_consonant(s, i - 1);
    return m;
}

static bool is_aeiou(char c) { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u'; }

/* In this test every 'y' counts as a vowel unless it is the first letter. */
static bool has_vowel(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_aeiou(s[i]) || (i > 0 && s[i] == 'y'))
            return true;
    return false;
}

/* Whether the word ends in a double consonant; "yy" counts as one. */
static bool ends_double(const char *s, size_t n) { return n >= 2 && s[n - 1] == s[n - 2] && !is_aeiou(s[n - 1]); }

/* Porter's condition *o: the stem ends in consonant, vowel, consonant, and the last is not w, x or y. */
static bool ends_cvc(const char *s, size_t n)
{
    if (n < 3 || !is_consonant(s, n - 3) || is_consonant(s, n - 2) || !is_consonant(s, n - 1))
        return false;
    return s[n - 1] != 'w' && s[n - 1] != 'x' && s[n - 1] != 'y';
}

typedef struct {
    const char *from, *to;
} rule;

static bool ends_with(const char *s, size_t n, const char *suffix, size_t k)
{
    return n > k && memcmp(s + n - k, suffix, k) == 0;
}

/* Applies the first rule whose suffix matches; no later rule is tried, even when the stem's measure m forbids this
 * one. */
static size_t replace(char *s, size_t n, const rule *r, unsigned more_than)
{
    for (; r->from; r++) {
        size_t k = strlen(r->from), t = strlen(r->to);
        if (!ends_with(s, n, r->from, k))
            continue;
        if (measure(s, n - k) <= more_than)
            return n;
        memcpy(s + n - k, r->to, t);
        return n - k + t;
    }
    return n;
}

static size_t step1(char *s, size_t n)
{
    if (s[n - 1] == 's') {
        if (ends_with(s, n, "sses", 4) || ends_with(s, n, "ies", 3))
            n -= 2;
        else if (s[n - 2] != 's')
            n--;
    }
    size_t cut = 0;
    if (ends_with(s, n, "eed", 3)) {
        if (measure(s, n - 3) > 0)
            n--;
    } else if (ends_with(s, n, "ed", 2) && has_vowel(s, n - 2)) {
        cut = 2;
    } else if (ends_with(s, n, "ing", 3) && has_vowel(s, n - 3)) {
        cut = 3;
    }
    n -= cut;
    if (cut) {
        if (ends_with(s, n, "at", 2) || ends_with(s, n, "bl", 2) || ends_with(s, n, "iz", 2))
            s[n++] = 'e';
        else if (ends_double(s, n) && s[n - 1] != 'l' && s[n - 1] != 's' && s[n - 1] != 'z')
            n--;
        else if (measure(s, n) == 1 && ends_cvc(s, n))
            s[n++] = 'e';
    }
    if (n > 1 && s[n - 1] == 'y' && has_vowel(s, n - 1))
        s[n - 1] = 'i';
    return n;
}

/* A longer suffix comes before any that it ends with. */
static const rule step2[] = {
    {"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"},   {"anci", "ance"}, {"izer", "ize"},
    {"logi", "log"},    {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"}, {"eli", "e"},
    {"ousli", "ous"},   {"ization", "ize"}, {"ation", "ate"},   {"ator", "ate"},  {"alism", "al"},
    {"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},  {"iviti", "ive"},
    {"biliti", "ble"},  {NULL, NULL},
};
static const rule step3[] = {
    {"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"},
    {"ical", "ic"},  {"ful", ""},   {"ness", ""},    {NULL, NULL},
};
static const char *const step4[] = {"al",  "ance", "ence", "er",  "ic",  "able", "ible", "ant", "ement", "ment",
                                    "ent", "ion",  "ou",   "ism", "ate", "iti",  "ous",  "ive", "ize",   NULL};

static size_t drop(const char *s, size_t n)
{
    for (const char *const *p = step4; *p; p++) {
        size_t k = strlen(*p);
        if (!ends_with(s, n, *p, k))
            continue;
        bool fits = measure(s, n - k) > 1;
        if (strcmp(*p, "ion") == 0)
            fits = fits && (s[n - k - 1] == 's' || s[n - k - 1] == 't');
        return fits ? n - k : n;
    }
    return n;
}

static size_t step5(const char *s, size_t n)
{
    if (s[n - 1] == 'e') {
        unsigned m = measure(s, n - 1);
        if (m > 1 || (m == 1 && !ends_cvc(s, n - 1)))
            n--;
    }
    if (s[n - 1] == 'l' && ends_double(s, n) && measure(s, n - 1) > 1)
        n--;
    return n;
}

size_t myth_word_stem(char *dst, const char *word, size_t n)
{
    char s[STEM_MAX + 2]; /* room for the 'e' that step 1 adds where it removed at least two bytes */
    bool is_plain = n >= STEM_MIN && n <= STEM_MAX;
    for (size_t i = 0; i < n && is_plain; i++)
        is_plain = word[i] >= 'a' && word[i] <= 'z';
    if (!is_plain) {
        memmove(dst, word, n);
        return n;
    }
    memcpy(s, word, n);
    n = step1(s, n);
    n = replace(s, n, step2, 0);
    n = replace(s, n, step3, 0);
    n = drop(s, n);
    n = step5(s, n);
    memcpy(dst, s, n);
    return n;
}
