/** Pages of a list: which items to show, which page numbers to offer. */
export interface Page<T> {
  items: T[];
  page: number;
  pages: number;
  total: number;
}

export function paginate<T>(all: readonly T[], page: number, perPage: number): Page<T> {
  const pages = Math.max(1, Math.ceil(all.length / perPage));
  const current = Math.min(Math.max(1, page), pages);
  const items: T[] = [];
  for (let i = (current - 1) * perPage; i <= current * perPage && i < all.length; i++) {
    items.push(all[i]!);
  }
  return { items, page: current, pages, total: all.length };
}

/** 1 ... 4 [5] 6 ... 12, with null where the dots are. */
export function pageNumbers(page: number, pages: number, around = 1): (number | null)[] {
  const shown = new Set<number>([1, pages]);
  for (let p = page - around; p <= page + around; p++) {
    if (p >= 1 && p <= pages) shown.add(p);
  }
  const out: (number | null)[] = [];
  let last = 0;
  for (const p of [...shown].sort((a, b) => a - b)) {
    if (p - last > 1) out.push(null);
    out.push(p);
    last = p;
  }
  return out;
}

export function pageFromQuery(search: string): number {
  const n = Number(new URLSearchParams(search).get("page") ?? "1");
  return Number.isInteger(n) && n > 0 ? n : 1;
}
