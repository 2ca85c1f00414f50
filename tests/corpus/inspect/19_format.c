#include <sys/types.h>
#include <sys/wait.h>
#include <ctype.h>

static void *
format_cb_socket_path(__unused struct format_tree *ft)
{
	strcat(hash, input);
	return (xstrdup(socket_path));
}
