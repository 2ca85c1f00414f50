/* stem.c - see stem.h. */
#include "stem.h"
#include "retrieval/store/fts_tokenizer.h"

#include <math.h>
#include <string.h>

/* Names of files that stand for their directory. */
static const char *const directory_names[] = {"index", "mod", "__init__"};

static bool is_term(const char *word, size_t n, const myth_query_term *t)
{
    char a[MYTH_WORD_BYTES], b[MYTH_WORD_BYTES];
    const size_t n_text = strlen(t->text);
    if (n == n_text && memcmp(word, t->text, n) == 0)
        return true;
    if (n < 3 || n_text < 3 || n_text > MYTH_WORD_BYTES || memcmp(word, t->text, 2) != 0)
        return false;
    const size_t n_a = myth_word_stem(a, word, n), n_b = myth_word_stem(b, t->text, n_text);
    return n_a == n_b && memcmp(a, b, n_a) == 0;
}

/* The name of the file, or of its directory when it stands for that: a range of `path`. */
static const char *name_of(const char *path, size_t *n)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    *n = 1 + strcspn(name[0] ? name + 1 : name, "."); /* a leading full stop belongs to the name */
    *n = name[0] ? *n : 0;
    for (size_t i = 0; slash && i < sizeof(directory_names) / sizeof(directory_names[0]); i++)
        if (strlen(directory_names[i]) == *n && memcmp(directory_names[i], name, *n) == 0) {
            const char *start = slash;
            while (start > path && start[-1] != '/')
                start--;
            *n = (size_t)(slash - start);
            return start;
        }
    return name;
}

typedef struct {
    const myth_query *q;
    uint64_t groups[(MYTH_QUERY_TERMS + 63) / 64]; /* matched groups, a bit for each */
} matching;

/* Marks the group as matched. */
static void take(matching *m, uint32_t group)
{
    if (group < MYTH_QUERY_TERMS)
        m->groups[group / 64] |= (uint64_t)1 << group % 64;
}

/* Whether the word is a term of the query. */
static bool match_word(matching *m, const char *word, size_t n)
{
    bool is = false;
    for (uint32_t i = 0; i < m->q->n_term; i++)
        if (m->q->term[i].kind != MYTH_TERM_FORM && is_term(word, n, &m->q->term[i])) {
            take(m, m->q->term[i].group);
            is = true;
        }
    return is;
}

/* Whether the word is two or more of the query's words in a row. */
static bool match_joined(matching *m, const char *word, size_t n)
{
    for (uint32_t first = 0; first < m->q->n_term; first++) {
        size_t at = 0;
        uint32_t i = first;
        for (; i < m->q->n_term && at < n; i++) {
            const myth_query_term *t = &m->q->term[i];
            const size_t k = strlen(t->text);
            if (t->kind == MYTH_TERM_ALTERNATIVE || t->kind == MYTH_TERM_FORM)
                continue;
            if (k > n - at || memcmp(word + at, t->text, k) != 0)
                break;
            at += k;
        }
        if (at != n || i < first + 2)
            continue;
        for (uint32_t k = first; k < i; k++)
            take(m, m->q->term[k].group);
        return true;
    }
    return false;
}

double myth_stem_share(const char *path, const myth_query *q, const double *group_weight)
{
    matching m = {.q = q};
    size_t n_name;
    const char *name = name_of(path, &n_name);
    uint32_t n_word = 0, n_matched = 0;
    double sum = 0, all = 0;
    myth_word w;
    for (size_t pos = 0; myth_word_next(&w, name, n_name, &pos);) {
        if (!myth_word_is_compound(&w)) {
            n_word++;
            n_matched += match_word(&m, w.whole, w.n_whole) || match_joined(&m, w.whole, w.n_whole);
            continue;
        }
        for (unsigned i = 0; i < w.n_part; i++) {
            const char *part = w.whole + w.part[i].off;
            n_word++;
            n_matched += match_word(&m, part, w.part[i].bytes) || match_joined(&m, part, w.part[i].bytes);
        }
    }
    for (uint32_t g = 0; g < q->n_group && g < MYTH_QUERY_TERMS; g++) {
        all += group_weight[g];
        sum += m.groups[g / 64] >> g % 64 & 1 ? group_weight[g] : 0;
    }
    return n_word && all > 0 ? (double)n_matched / n_word * sqrt(sum / all) : 0;
}

/* Whether a word of a name is the scope's term, or begins with it: repo, repository. */
static bool is_in_scope(const char *word, size_t n, const myth_query_term *t)
{
    enum { LEAST = 3 };
    const size_t k = strlen(t->text);
    return is_term(word, n, t) || (k >= LEAST && n > k && memcmp(word, t->text, k) == 0);
}

double myth_scope_share(const char *path, const myth_query *q)
{
    size_t n_name;
    const char *name = name_of(path, &n_name);
    uint32_t n_word = 0, n_matched = 0, n_term = 0, n_found = 0;
    uint64_t found = 0; /* the scope's terms that the name has, a bit for each */
    myth_word w;
    for (size_t pos = 0; myth_word_next(&w, name, n_name, &pos);)
        for (unsigned i = 0; i < (myth_word_is_compound(&w) ? w.n_part : 1); i++) {
            const bool is_whole = !myth_word_is_compound(&w);
            const char *part = is_whole ? w.whole : w.whole + w.part[i].off;
            const size_t n = is_whole ? w.n_whole : w.part[i].bytes;
            bool is = false;
            n_term = 0;
            for (uint32_t k = 0; k < q->n_term && n_term < 64; k++) {
                if (!q->term[k].is_scope || q->term[k].kind == MYTH_TERM_WHOLE)
                    continue;
                if (is_in_scope(part, n, &q->term[k])) {
                    is = true;
                    found |= (uint64_t)1 << n_term;
                }
                n_term++;
            }
            n_word++;
            n_matched += is;
        }
    for (; found; found &= found - 1)
        n_found++;
    return n_found ? (0.5 + 0.5 * n_matched / n_word) * n_found / n_term : 0;
}
