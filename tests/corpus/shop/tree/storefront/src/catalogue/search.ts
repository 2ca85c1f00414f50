/**
 * Search over the plants that are in stock, in the browser: the list is small enough to be
 * sent with the page. Names count more than descriptions, and Latin is optional.
 */
export interface Plant {
  sku: string;
  name: string;
  latin: string;
  description: string;
  hardiness: string;
  priceMinor: number;
  rating: { sum: number; count: number };
}

export interface Hit {
  plant: Plant;
  score: number;
}

export function words(text: string): string[] {
  return text
    .normalize("NFD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
}

/** Edit distance, cut off at `limit`: good enough to say "did you mean". */
export function distance(a: string, b: string, limit = 2): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      row.push(Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + cost));
    }
    previous = row;
  }
  return previous[b.length]!;
}

function scoreOf(plant: Plant, terms: string[]): number {
  const name = words(plant.name);
  const latin = words(plant.latin);
  const body = new Set(words(plant.description));
  let score = 0;
  for (const term of terms) {
    if (name.includes(term)) score += 4;
    else if (name.some((w) => w.startsWith(term))) score += 3;
    else if (latin.some((w) => w.startsWith(term))) score += 2;
    else if (body.has(term)) score += 1;
    else return 0;
  }
  return score;
}

export function searchPlants(all: readonly Plant[], query: string, limit = 24): Hit[] {
  const terms = words(query);
  if (terms.length === 0) return [];
  return all
    .map((plant) => ({ plant, score: scoreOf(plant, terms) }))
    .filter((hit) => hit.score > 0)
    .sort((a, b) => b.score - a.score || a.plant.name.localeCompare(b.plant.name))
    .slice(0, limit);
}

/** The nearest name for a query without hits. */
export function didYouMean(all: readonly Plant[], query: string): string | null {
  let best: { name: string; d: number } | null = null;
  for (const term of words(query)) {
    for (const plant of all) {
      for (const w of words(plant.name)) {
        const d = distance(term, w);
        if (d <= 2 && (best === null || d < best.d)) best = { name: plant.name, d };
      }
    }
  }
  return best?.name ?? null;
}

export function averageRating(plant: Plant): number {
  return plant.rating.sum / plant.rating.count;
}

/** "H4" and harder: may stay outside at that temperature. */
export function survives(plant: Plant, celsius: number): boolean {
  const lowest: Record<string, number> = { H1: 10, H2: 1, H3: -5, H4: -10, H5: -15, H6: -20, H7: -40 };
  return celsius >= (lowest[plant.hardiness] ?? 10);
}
