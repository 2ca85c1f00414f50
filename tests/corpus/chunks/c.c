/* Counts words of a text. */
#include "words.h"
#include <string.h>

#define MAX_WORD 64
#define IS_END(c) ((c) == '\0')

typedef struct word {
    char text[MAX_WORD];
    int count;
} word_t;

enum mode { MODE_FAST, MODE_EXACT };

static int n_words = 0;

/* How long a word is. */
static int word_length(const char *s)
{
    return (int)strlen(s);
}

word_t *word_find(word_t *list, const char *text)
{
    for (int i = 0; i < n_words; i++)
        if (word_length(list[i].text) == word_length(text))
            return &list[i];
    return NULL;
}

#ifdef WITH_TESTS
int words_selftest(void)
{
    return word_find(NULL, "a") == NULL;
}
#endif

Test(words, finds)
{
    word_find(NULL, "b");
}

/* Names inside of declarators. */
WORDS_API int (*words_hook)(const char *word, int n);
static char *(*words_copy)(const char *word), **words_left, *words_last;
int (*words_table[4])(int);
typedef int (__cdecl *words_visit)(word_t *word);
typedef void WORDS_CALLBACK(words_done)(void *payload);
void (*words_signal(int n, void (*handler)(int)))(int)
{
    return handler;
}

/* An attribute with numbers before a name. */
static void printflike(2, 3)
words_log(word_t *list, const char *format, ...)
{
    va_list args;
    if (!list)
        return;
    va_end(args);
}

/* A condition below a macro without a semicolon is a function of the name `if`, for the parser. */
int words_set(word_t *list, int n)
{
    int before;
    if (list && !words_are(list, n))
        return 0;

    WORDS_GET(before)
    if (before != n) {
        return words_put(list, n);
    }
    return 1;
}
