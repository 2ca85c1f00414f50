// @no MAX_DEPTH
const re = /["'`]'/g, MAX = a / MAX_DEPTH / 2;
let g_level = 0;
const text = `deep ${g_level} deeper`.length;
const long = `
@no limit ${"@no limit"}
${limit + `${MAX_DEPTH} deep`}
@no on_done`;
class Conf {
  limit = 3; // @assigns
  work(limit) {
    this.limit = limit; // @assigns
    g_level = limit ?? MAX_DEPTH; // @assigns
    if (g_level === MAX_DEPTH) return g_level; // @compares
    this.on_done = () => g_level; // @assigns
    const { limit: other, on_done } = this;
    const it = 'it\'s', b = "@no g_level";
    g_level.deep = 2; // @part
    switch (it) {
      case MAX_DEPTH: // @compares
        return limit; // @returns
    }
    return { limit, on_done };
  }
}
/* of a block */ use(g_level);
