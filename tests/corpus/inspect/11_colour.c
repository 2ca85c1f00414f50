#include <sys/types.h>

void
colour_palette_free(struct colour_palette *p)
{
	if (p != NULL) {
		free(str);
		str = NULL;
		free(p->palette);
		p->palette = NULL;
		free(p->default_palette);
		p->default_palette = NULL;
	}
}
