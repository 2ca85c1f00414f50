/* query.c - see query.h. It goes through the words once, and classifies each by its letters and the bytes around it. */
#include "query.h"
#include "report.h"
#include "engine/base/chars.h"
#include "engine/base/text.h"
#include "retrieval/store/fts_tokenizer.h"

#include <math.h>
#include <string.h>

enum { SCOPE_WORDS = 3 };

typedef struct {
    myth_query *q;
    const myth_weights_search *w;
    const char *text;
    size_t n;
    bool keep_all; /* keep stop words and small numbers, because there is nothing else */
    double here;   /* weight of a word at this place of the text                */
    bool is_title; /* the word is in the first line of an issue                 */
    bool is_code;  /* the word is written as code                               */
    bool is_scope; /* the word is in the scope of an issue's subject            */
} parser;

static const char *const stop_words[] = {
#define STOP(word) #word,
#define LANGUAGE(word)
#define ALT(word, a, b, c)
#define FRAME(word, where)
#include "words.def"
#undef STOP
#undef LANGUAGE
#undef ALT
#undef FRAME
};

static const char *const languages[] = {
#define STOP(word)
#define LANGUAGE(word) #word,
#define ALT(word, a, b, c)
#define FRAME(word, where)
#include "words.def"
#undef STOP
#undef LANGUAGE
#undef ALT
#undef FRAME
};

static const struct {
    const char *word, *other[3];
} alternatives[] = {
#define STOP(word)
#define LANGUAGE(word)
#define ALT(word, a, b, c) {#word, {a, b, c}},
#define FRAME(word, where)
#include "words.def"
#undef STOP
#undef LANGUAGE
#undef ALT
#undef FRAME
};

typedef enum { FRAME_WHICH, FRAME_ANYWHERE, FRAME_LAST } frame_place;

static const struct {
    const char *word;
    frame_place where;
} frame[] = {
#define STOP(word)
#define LANGUAGE(word)
#define ALT(word, a, b, c)
#define FRAME(word, where) {#word, FRAME_##where},
#include "words.def"
#undef STOP
#undef LANGUAGE
#undef ALT
#undef FRAME
};

static bool is_one_of(const char *const *list, size_t n, const char *word, size_t n_word)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(list[i]) == n_word && memcmp(list[i], word, n_word) == 0)
            return true;
    return false;
}
#define IS_ONE_OF(list, word, n) is_one_of(list, sizeof(list) / sizeof((list)[0]), word, n)

static bool same_stem(const char *a, size_t n_a, const char *b, size_t n_b)
{
    char sa[MYTH_WORD_BYTES], sb[MYTH_WORD_BYTES];
    if (n_a < 2 || n_b < 2 || a[0] != b[0] || a[1] != b[1]) /* stemming keeps the first two letters */
        return n_a == n_b && memcmp(a, b, n_a) == 0;
    size_t na = myth_word_stem(sa, a, n_a), nb = myth_word_stem(sb, b, n_b);
    return na == nb && memcmp(sa, sb, na) == 0;
}

static const myth_query_term *find_term(const myth_query *q, const char *s, size_t n)
{
    for (uint32_t i = 0; i < q->n_term; i++)
        if (strncmp(q->term[i].text, s, n) == 0 && q->term[i].text[n] == '\0')
            return &q->term[i];
    return NULL;
}

/* True for a term that was not written in the query, but that may stand for one that was. */
static bool is_other(myth_term_kind kind) { return kind == MYTH_TERM_ALTERNATIVE || kind == MYTH_TERM_FORM; }

/* Adds a term, or improves the one that is there. The larger weight counts, and a term that was written in the query is
 * no longer an alternative. */
static myth_status add_term(parser *p, const char *s, size_t n, uint32_t group, double weight, myth_term_kind kind,
                            myth_error *err)
{
    myth_query *q = p->q;
    weight *= p->here;
    if (weight <= 0 || n == 0)
        return MYTH_OK;
    myth_query_term *old = (myth_query_term *)find_term(q, s, n);
    bool is_new_alternative = is_other(kind), is_promoted = old && is_other(old->kind) && !is_new_alternative;
    if (old && !is_promoted && is_new_alternative)
        return MYTH_OK;
    if (old && (is_promoted || weight > old->weight)) {
        old->group = is_promoted ? group : old->group;
        old->weight = weight;
        old->kind = kind;
        q->n_group = old->group >= q->n_group ? old->group + 1 : q->n_group;
    }
    if (old)
        return MYTH_OK;
    if (q->n_term == MYTH_QUERY_TERMS)
        return MYTH_OK;
    char *text = myth_text_copy(q->mem, MYTH_MEM_OTHER, "query", s, n);
    if (!text)
        return myth_fail(err, MYTH_ENOMEM, "query: no memory for its terms");
    q->term[q->n_term++] = (myth_query_term){
        .text = text,
        .group = group,
        .weight = weight,
        .kind = kind,
        .is_title = p->is_title,
        .is_code = p->is_code,
        .is_scope = p->is_scope,
    };
    if (group >= q->n_group)
        q->n_group = group + 1;
    return MYTH_OK;
}

static myth_status add_string(myth_query *q, char **list, uint32_t *n_list, uint32_t cap, const char *s, size_t n,
                              myth_error *err)
{
    if (*n_list == cap)
        return MYTH_OK;
    for (uint32_t i = 0; i < *n_list; i++)
        if (strlen(list[i]) == n && memcmp(list[i], s, n) == 0)
            return MYTH_OK;
    if (!(list[*n_list] = myth_text_copy(q->mem, MYTH_MEM_OTHER, "query", s, n)))
        return myth_fail(err, MYTH_ENOMEM, "query: no memory for its names");
    ++*n_list;
    return MYTH_OK;
}

/* The bytes of a sign at s that joins two words to one name: a.b, a::b, a->b, a#b; 0 = none. A full stop before a space
 * does not join. */
static size_t join_bytes(const char *s, size_t n)
{
    if (n >= 3 && ((s[0] == ':' && s[1] == ':') || (s[0] == '-' && s[1] == '>')) &&
        myth_is_name_or_dollar((unsigned char)s[2]))
        return 2;
    return n >= 2 && (s[0] == '.' || s[0] == '#') && myth_is_name_or_dollar((unsigned char)s[1]) ? 1 : 0;
}

static bool follows_join(const parser *p, size_t off)
{
    if (off >= 2 && (p->text[off - 1] == '.' || p->text[off - 1] == '#'))
        return myth_is_name_or_dollar((unsigned char)p->text[off - 2]);
    return off >= 3 && ((p->text[off - 1] == ':' && p->text[off - 2] == ':') ||
                        (p->text[off - 1] == '>' && p->text[off - 2] == '-'));
}

/* True when the word is written as code: compound, called, in backquotes, or the end of a qualified name. */
static bool is_name(const parser *p, const myth_word *word)
{
    size_t end = word->off + word->bytes;
    char before = word->off ? p->text[word->off - 1] : ' ', after = end < p->n ? p->text[end] : ' ';
    bool is_last = !join_bytes(p->text + end, p->n - end);
    if (word->is_number || word->bytes >= MYTH_WORD_BYTES)
        return false;
    if (p->q->kind == MYTH_QUERY_SYMBOL)
        return is_last;
    return word->bytes >= 3 && (myth_word_is_compound(word) || after == '(' || (before == '`' && after == '`') ||
                                (follows_join(p, word->off) && is_last));
}

static bool ends_with(const char *s, size_t n, const char *what)
{
    size_t m = strlen(what);
    return n >= m && memcmp(s + n - m, what, m) == 0;
}

/* Writes the i-th form of a word and returns its length, 0 when it has none: -ise and -ize, -our and -or, the verb of
 * -ation and -ion, the -ion of a verb. A form that is no word costs one look-up and finds nothing. */
static size_t form_of(char form[MYTH_WORD_BYTES], const char *s, size_t n, int i)
{
    enum { LEAST = 6, ROOM = 4 };
    static const char *const behind[] = {"e", "ed", "es", "er", "ers", "ing", "ation", "ations", NULL};
    size_t m = n;
    if (n < LEAST || n + ROOM > MYTH_WORD_BYTES)
        return 0;
    memcpy(form, s, n);
    switch (i) {
    case 0:
        for (int k = 0; behind[k]; k++) {
            size_t at = n - strlen(behind[k]) - 1;
            if (at < LEAST / 2 + 1 || at >= n || !ends_with(s, n, behind[k]) || s[at - 1] != 'i' ||
                (s[at] != 's' && s[at] != 'z'))
                continue;
            form[at] = s[at] == 's' ? 'z' : 's';
            return n;
        }
        return 0;
    case 1: {
        m -= ends_with(s, n, "s");
        const bool is_our = ends_with(s, m, "our");
        if (!is_our && !ends_with(s, m, "or"))
            return 0;
        m -= is_our ? 3 : 2;
        memcpy(form + m, is_our ? "or" : "our", is_our ? 2 : 3);
        return m + (is_our ? 2 : 3);
    }
    case 2:
    case 3:
        m -= ends_with(s, n, "s");
        if (!ends_with(s, m, i == 2 ? "ion" : "ation"))
            return 0;
        m -= i == 2 ? 3 : 5;
        form[m] = 'e';
        return m + 1;
    default:
        n = myth_word_stem(form, s, n);
        if (n < 4 || form[n - 1] != 't')
            return 0;
        memcpy(form + n, "ion", 3);
        return n + 3;
    }
}
enum { FORM_N = 5 };

static myth_status add_forms(parser *p, const char *s, size_t n, uint32_t group, double weight, myth_error *err)
{
    char form[MYTH_WORD_BYTES];
    myth_status st = MYTH_OK;
    for (int i = 0; i < FORM_N; i++) {
        size_t m = form_of(form, s, n, i);
        if (m && !same_stem(form, m, s, n))
            MYTH_TRY(add_term(p, form, m, group, weight * p->w->term_form, MYTH_TERM_FORM, err));
    }
fail:
    return st;
}

static myth_status add_plain(parser *p, const char *s, size_t n, double weight, myth_term_kind kind, myth_error *err)
{
    myth_status st = MYTH_OK;
    for (uint32_t i = 0; i < p->q->n_term; i++) /* a word with the stem of an earlier term is that term */
        if (p->q->term[i].kind != MYTH_TERM_ALTERNATIVE &&
            same_stem(p->q->term[i].text, strlen(p->q->term[i].text), s, n))
            return add_term(p, p->q->term[i].text, strlen(p->q->term[i].text), p->q->term[i].group, weight, kind, err);
    uint32_t group = p->q->n_group;
    MYTH_TRY(add_term(p, s, n, group, weight, kind, err));
    if (kind != MYTH_TERM_WORD || p->q->n_group == group ||
        (p->q->kind != MYTH_QUERY_PROSE && p->q->kind != MYTH_QUERY_PHRASE))
        return MYTH_OK;
    if (p->q->kind == MYTH_QUERY_PROSE)
        MYTH_TRY(add_forms(p, s, n, group, weight, err));
    for (size_t i = 0; i < sizeof(alternatives) / sizeof(alternatives[0]); i++) {
        if (!same_stem(alternatives[i].word, strlen(alternatives[i].word), s, n))
            continue;
        for (int k = 0; k < 3 && alternatives[i].other[k][0]; k++) {
            const char *other = alternatives[i].other[k];
            MYTH_TRY(add_term(p, other, strlen(other), group, weight * p->w->term_alt, MYTH_TERM_ALTERNATIVE, err));
        }
    }
fail:
    return st;
}

static bool is_left_out(const parser *p, const myth_word *word, bool as_name)
{
    if (p->keep_all || p->q->kind == MYTH_QUERY_SYMBOL)
        return false;
    if (word->is_number)
        return word->n_whole <= 2;
    return word->n_whole == 1 || (!as_name && IS_ONE_OF(stop_words, word->whole, word->n_whole));
}

static myth_status add_word(parser *p, const myth_word *word, myth_error *err)
{
    myth_status st = MYTH_OK;
    bool as_name = is_name(p, word);
    p->is_code = as_name;
    if (as_name)
        MYTH_TRY(add_string(p->q, p->q->name, &p->q->n_name, MYTH_QUERY_NAMES, p->text + word->off, word->bytes, err));
    if (is_left_out(p, word, as_name))
        return MYTH_OK;
    if (myth_word_is_compound(word)) {
        MYTH_TRY(add_term(p, word->whole, word->n_whole, p->q->n_group, p->w->term_whole, MYTH_TERM_WHOLE, err));
        for (unsigned i = 0; i < word->n_part && !word->is_number; i++) {
            const char *part = word->whole + word->part[i].off;
            size_t n = word->part[i].bytes;
            if (n >= 2 && (p->keep_all || !IS_ONE_OF(stop_words, part, n)))
                MYTH_TRY(add_plain(p, part, n, p->w->term_part, MYTH_TERM_PART, err));
        }
        return MYTH_OK;
    }
    bool is_language = !as_name && !p->keep_all && IS_ONE_OF(languages, word->whole, word->n_whole);
    MYTH_TRY(add_plain(p, word->whole, word->n_whole, is_language ? p->w->term_language : 1, MYTH_TERM_WORD, err));
fail:
    return st;
}

static bool is_word(const myth_word *w, const char *s)
{
    return w->n_whole == strlen(s) && memcmp(w->whole, s, w->n_whole) == 0;
}

static bool is_asking(const myth_word *w)
{
    static const char *const asking[] = {"how", "where", "which", "what", "who", "when", "why"};
    return IS_ONE_OF(asking, w->whole, w->n_whole);
}

/* True for a word that belongs to the question and not to its subject. `before` is the word before it, `end` the offset
 * where it ends. */
static bool is_frame(const parser *p, const myth_word *word, const myth_word *before, size_t end, bool is_question)
{
    myth_word next;
    bool is_behind_which = before->n_whole && (is_word(before, "which") || is_word(before, "what"));
    if (p->q->kind != MYTH_QUERY_PROSE || p->keep_all || myth_word_is_compound(word))
        return false;
    for (size_t i = 0; i < sizeof(frame) / sizeof(frame[0]); i++) {
        if (!same_stem(frame[i].word, strlen(frame[i].word), word->whole, word->n_whole))
            continue;
        if (frame[i].where == FRAME_WHICH
                ? is_behind_which
                : is_question && (frame[i].where == FRAME_ANYWHERE || !myth_word_next(&next, p->text, p->n, &end)))
            return true;
    }
    return false;
}

/* Where the scope of a subject ends: at most three words, a colon and a blank, as in "net,tcp: fix a leak"; 0 = it has
 * none. */
static size_t scope_end(const char *text, size_t n)
{
    myth_word word;
    size_t pos = 0;
    for (int i = 0; i < SCOPE_WORDS && myth_word_next(&word, text, n, &pos); i++) {
        if (pos + 1 < n && text[pos] == ':' && text[pos + 1] == ' ')
            return pos;
        if (pos < n && text[pos] != ',' && text[pos] != '/' && text[pos] != ' ' && text[pos] != '-' && text[pos] != '.')
            return 0;
    }
    return 0;
}

static myth_status add_words(parser *p, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_word word, before = {0};
    bool is_question = false;
    const bool is_report = p->q->kind == MYTH_QUERY_ISSUE;
    const bool with_form = !is_report || p->keep_all;
    const size_t scope = is_report ? scope_end(p->text, p->n) : 0;
    size_t title_end = 0; /* 0: before the title */
    myth_report report;
    uint32_t n_word = 0;
    p->here = 1;
    myth_report_start(&report, p->text, p->n);
    for (size_t pos = 0;
         st == MYTH_OK && p->q->n_term < MYTH_QUERY_TERMS && myth_word_next(&word, p->text, p->n, &pos);) {
        if (myth_report_is_form(&report, word.off) && !with_form)
            continue;
        title_end = title_end ? title_end : report.end;
        n_word++;
        is_question |= is_asking(&word);
        p->here = is_report                                     ? pow((double)n_word, -p->w->early)
                : is_frame(p, &word, &before, pos, is_question) ? p->w->term_frame
                                                                : 1;
        p->is_title = is_report && word.off < title_end;
        p->is_scope = word.off < scope;
        st = add_word(p, &word, err);
        before = word;
    }
    return st;
}

static uint32_t n_words(const char *text, size_t n)
{
    uint32_t n_word = 0;
    myth_word word;
    for (size_t pos = 0; n_word < MYTH_QUERY_PROSE_WORDS + 1 && myth_word_next(&word, text, n, &pos);)
        n_word++;
    return n_word;
}

/* Adds the texts in double quotes that begin and end on one line. Single quotes do not count, since they may be
 * apostrophes. */
static myth_status add_phrases(parser *p, myth_error *err)
{
    myth_status st = MYTH_OK;
    const size_t least = p->q->kind == MYTH_QUERY_PHRASE ? 1 : 2; /* one word in quotes, if that is all of the query */
    for (size_t i = 0; i < p->n && st == MYTH_OK; i++) {
        if (p->text[i] != '"')
            continue;
        size_t end = i + 1;
        while (end < p->n && p->text[end] != '"' && p->text[end] != '\n')
            end++;
        if (end < p->n && p->text[end] == '"' && n_words(p->text + i + 1, end - i - 1) >= least)
            st = add_string(p->q, p->q->phrase, &p->q->n_phrase, MYTH_QUERY_PHRASES, p->text + i + 1, end - i - 1, err);
        i = end;
    }
    return st;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0'; }

static myth_query_kind kind_of(const char *text, size_t n)
{
    size_t n_word = n_words(text, n), n_line = 0, n_quote = 0;
    bool has_space = false;
    for (size_t i = 0; i < n; i++) {
        n_line += text[i] == '\n';
        n_quote += text[i] == '"';
        has_space |= is_space(text[i]);
    }
    if (n > 2 && n_quote == 2 && text[0] == '"' && text[n - 1] == '"')
        return MYTH_QUERY_PHRASE;
    if (n_word > MYTH_QUERY_PROSE_WORDS || n_line > 1 || (has_space && scope_end(text, n)))
        return MYTH_QUERY_ISSUE;
    return has_space ? MYTH_QUERY_PROSE : MYTH_QUERY_SYMBOL;
}

static bool starts_with(const char *s, size_t n, const char *what)
{
    return n >= strlen(what) && memcmp(s, what, strlen(what)) == 0;
}

/* Finds out which kinds of files the query asks for. It asks for tests when it is short and names them as its subject:
 * "tests for x", "unit test", "where is x tested". A text that only mentions testing is most often about the code under
 * test. */
static void find_wishes(myth_query *q, const char *text, size_t n)
{
    myth_word word;
    char before[MYTH_WORD_BYTES] = "";
    size_t n_before = 0, idx = 0;
    if (q->kind == MYTH_QUERY_ISSUE)
        return;
    for (size_t pos = 0; myth_word_next(&word, text, n, &pos); idx++) {
        const char *s = word.whole;
        size_t len = word.n_whole;
        bool is_plural = len == 5 && memcmp(s, "tests", 5) == 0,
             is_test = is_plural || (len == 4 && memcmp(s, "test", 4) == 0);
        size_t rest = pos;
        myth_word next = {0};
        bool has_next = myth_word_next(&next, text, n, &rest);
        q->wants_tests |= is_plural || (len == 6 && memcmp(s, "tested", 6) == 0) ||
                          (len == 8 && memcmp(s, "unittest", 8) == 0) ||
                          (is_test && (idx == 0 || !has_next || (n_before == 4 && memcmp(before, "unit", 4) == 0) ||
                                       starts_with(next.whole, next.n_whole, "case") ||
                                       starts_with(next.whole, next.n_whole, "file")));
        q->wants_examples |= starts_with(s, len, "example") || starts_with(s, len, "sample") ||
                             starts_with(s, len, "demo") || starts_with(s, len, "benchmark");
        q->wants_docs |= starts_with(s, len, "document") || starts_with(s, len, "changelog") ||
                         starts_with(s, len, "readme") || starts_with(s, len, "manual") ||
                         (len == 4 && memcmp(s, "docs", 4) == 0);
        q->wants_vendored |=
            starts_with(s, len, "vendor") || starts_with(s, len, "amalgamation") || starts_with(s, len, "thirdparty");
        q->wants_legacy |= starts_with(s, len, "legacy") || starts_with(s, len, "deprecat") ||
                           starts_with(s, len, "obsolete") || (len == 3 && memcmp(s, "old", 3) == 0);
        memcpy(before, s, len);
        n_before = len;
    }
}

myth_status myth_query_parse(myth_query *out, myth_mem *mem, const char *text, size_t n, const myth_weights_search *w,
                             myth_error *err)
{
    myth_status st = MYTH_OK;
    *out = (myth_query){.mem = mem};
    if (n > MYTH_QUERY_BYTES)
        return myth_fail(err, MYTH_EARG, "query: %zu bytes, at most %d are read; give the part that matters", n,
                         MYTH_QUERY_BYTES);
    while (n && is_space(text[n - 1]))
        n--;
    while (n && is_space(text[0])) {
        text++;
        n--;
    }
    out->kind = kind_of(text, n);
    parser p = {.q = out, .w = w, .text = text, .n = n};
    out->term = myth_alloc_n(mem, MYTH_MEM_OTHER, "query", MYTH_QUERY_TERMS, sizeof(*out->term));
    out->name = myth_alloc_n(mem, MYTH_MEM_OTHER, "query", MYTH_QUERY_NAMES, sizeof(*out->name));
    out->phrase = myth_alloc_n(mem, MYTH_MEM_OTHER, "query", MYTH_QUERY_PHRASES, sizeof(*out->phrase));
    if (!out->term || !out->name || !out->phrase) {
        st = myth_fail(err, MYTH_ENOMEM, "query: no memory for its terms");
        goto fail;
    }
    MYTH_TRY(add_phrases(&p, err));
    MYTH_TRY(add_words(&p, err));
    if (out->n_term == 0) { /* for "to be or not", stop words are better than no answer */
        p.keep_all = true;
        MYTH_TRY(add_words(&p, err));
    }
    if (out->n_term == 0) {
        st = myth_fail_remedy(err, MYTH_EARG, MYTH_REMEDY_SEARCH_LINES, "query: no word in it");
        goto fail;
    }
    find_wishes(out, text, n);
    return MYTH_OK;
fail:
    myth_query_free(out);
    return st;
}

void myth_query_free(myth_query *q)
{
    if (!q->mem)
        return;
    for (uint32_t i = 0; i < q->n_term; i++)
        myth_free(q->mem, q->term[i].text);
    for (uint32_t i = 0; i < q->n_name; i++)
        myth_free(q->mem, q->name[i]);
    for (uint32_t i = 0; i < q->n_phrase; i++)
        myth_free(q->mem, q->phrase[i]);
    myth_free(q->mem, q->term);
    myth_free(q->mem, q->name);
    myth_free(q->mem, q->phrase);
    *q = (myth_query){0};
}

const char *myth_query_kind_name(myth_query_kind kind)
{
    static const char *const name[] = {"symbol", "phrase", "prose", "issue"};
    return name[kind];
}
