class G {
    static final int MAX_DEPTH = 8;
    static int g_level = 0;
    int limit; /* the field limit */
    Runnable on_done;
    /** @no limit */
    int work(int limit) {
        this.limit = limit; // @assigns
        g_level = MAX_DEPTH; // @assigns
        g_level -= 1; // @assigns
        String s = "@no g_level" + '"' + "@no MAX_DEPTH";
        String t = """
            @no limit "
            @no MAX_DEPTH
            """;
        if (g_level >= MAX_DEPTH) // @compares
            return g_level; // @returns
        on_done = () -> {}; // @assigns
        on_done.run();
        switch (limit) {
            case MAX_DEPTH: // @compares
                return MAX_DEPTH; // @returns
            default:
                return limit + g_level; // @word
        }
    }
}
