interface Conf {
  limit: number;
  on_done?: (n: number) => void;
}
export const MAX_DEPTH: number = 8;
export let g_level: number = 0;
type Other = Pick<Conf, "@no limit">;
export function work(c: Conf, g_level = 3): number { // @word
  c.limit = MAX_DEPTH; // @assigns
  c.on_done = undefined; // @assigns
  if (c.limit <= MAX_DEPTH) { // @compares
    return MAX_DEPTH; // @returns
  }
  return c.limit - g_level; // @word
}
// @no on_done
