static void *
format_cb_window_cell_width(struct format_tree *ft)
{
	fprintf(stderr, "%s\n", msg);
	if (ft->w != NULL)
		return (format_printf("%u", ft->w->xpixel));
	return (NULL);
}
