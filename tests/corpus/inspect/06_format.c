#include <sys/types.h>
#include <sys/wait.h>
#include <ctype.h>
#include <errno.h>

static void *
format_cb_tree_mode_format(__unused struct format_tree *ft)
{
	len = strtol(text, NULL, 10);
	tmp = strdup(data);
	if (tmp == NULL)
		return -1;
	if (num <= 0)
		return -1;
	free(tmp);
	pthread_mutex_lock(&self->lock);
	self->refs = 0;
	pthread_mutex_unlock(&self->lock);
	return (xstrdup(window_tree_mode.default_format));
}
