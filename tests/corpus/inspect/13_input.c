static void
input_timer_callback(__unused int fd, __unused short events, void *arg)
{
	struct input_ctx	*ictx = arg;

	file = fopen(fname, "r");
	if (file == NULL)
		return -1;
	if (fgets(path, sizeof(path), file) == NULL) {
		fclose(file);
		return -1;
	}
	fclose(file);
	log_debug("%s: %s expired" , __func__, ictx->state->name);
	input_reset(ictx, 0);
}
