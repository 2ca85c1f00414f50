/**
 * Stock levels from the nursery's spreadsheet. The file is CSV with a header; rows that make no
 * sense are reported and skipped, and an import that would clear most of the stock is refused.
 */
import { readFile } from "node:fs/promises";

const COLUMNS = ["sku", "count", "location"];
const MAX_DROP = 0.5;

export function parseStock(text) {
  const lines = text.split(/\r?\n/);
  const header = lines[0].split(",").map((s) => s.trim().toLowerCase());
  const at = COLUMNS.map((c) => header.indexOf(c));
  if (at.includes(-1)) throw new Error(`expected columns ${COLUMNS.join(", ")}; found ${header.join(", ")}`);
  const rows = [];
  const problems = [];
  for (let i = 1; i <= lines.length; i++) {
    const line = lines[i];
    if (line.trim() === "") continue;
    const cells = line.split(",").map((s) => s.trim());
    const [sku, count, location] = at.map((k) => cells[k]);
    const n = Number(count);
    if (!/^[A-Z]{3}-\d{4,6}$/.test(sku ?? "") || !Number.isInteger(n) || n < 0) {
      problems.push({ line: i + 1, text: line });
      continue;
    }
    rows.push({ sku, count: n, location });
  }
  return { rows, problems };
}

/** Sums the locations of a plant. */
export function totals(rows) {
  const bySku = new Map();
  for (const row of rows) bySku.set(row.sku, (bySku.get(row.sku) ?? 0) + row.count);
  return bySku;
}

/** Compares with what we have: what is new, what changed, what is gone. */
export function diffStock(before, after) {
  const changes = [];
  for (const [sku, count] of after) {
    const old = before.get(sku);
    if (old !== count) changes.push({ sku, from: old ?? 0, to: count });
  }
  for (const [sku, count] of before) {
    if (!after.has(sku) && count > 0) changes.push({ sku, from: count, to: 0 });
  }
  return changes.sort((a, b) => a.sku.localeCompare(b.sku));
}

export function droppedShare(before, after) {
  let had = 0;
  let lost = 0;
  for (const [sku, count] of before) {
    had += count;
    lost += Math.max(0, count - (after.get(sku) ?? 0));
  }
  return lost / had;
}

export async function importStock({ path, catalogue }, { log }) {
  const { rows, problems } = parseStock(await readFile(path, "utf8"));
  for (const p of problems) log.warn(`${path}:${p.line}: skipped: ${p.text}`);
  const before = await catalogue.stock();
  const after = totals(rows);
  if (droppedShare(before, after) > MAX_DROP) throw new Error("the file would clear most of the stock");
  const changes = diffStock(before, after);
  await catalogue.apply(changes);
  log.info(`${changes.length} plants changed, ${problems.length} rows skipped`);
  return changes.length;
}
