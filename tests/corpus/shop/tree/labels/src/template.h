/* template.h - see template.c */
#ifndef LABELS_TEMPLATE_H
#define LABELS_TEMPLATE_H

#include <stddef.h>

typedef struct template template;

typedef struct {
    const char *name, *value;
} template_value;

template *template_new(const char *name, const char *source);
void template_free(template *t);
int template_replace(template *t, const char *source);
size_t template_render(const template *t, char *dst, size_t cap, const template_value *v, size_t n);

#endif
