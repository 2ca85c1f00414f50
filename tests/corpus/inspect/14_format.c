static void *
format_cb_window_flags(struct format_tree *ft)
{
	free(ft->path);
	log_debug("%s", ft->path);
	if (ft->wl != NULL)
		return (xstrdup(window_printable_flags(ft->wl, 1)));
	return (NULL);
}
