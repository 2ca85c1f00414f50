extern int g_level;
int work(struct conf *c, int depth);
