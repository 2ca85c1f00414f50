/** Money in minor units. Never a float: 0.1 + 0.2 pounds is 30 pence here. */
export interface Money {
  readonly minor: number;
  readonly currency: string;
}

export function money(minor: number, currency = "GBP"): Money {
  if (!Number.isSafeInteger(minor)) throw new RangeError(`not a whole number of pence: ${minor}`);
  return { minor, currency };
}

function same(a: Money, b: Money): void {
  if (a.currency !== b.currency) throw new TypeError(`cannot mix ${a.currency} and ${b.currency}`);
}

export function add(a: Money, b: Money): Money {
  same(a, b);
  return money(a.minor + b.minor, a.currency);
}

export function subtract(a: Money, b: Money): Money {
  same(a, b);
  return money(a.minor - b.minor, a.currency);
}

export function times(a: Money, n: number): Money {
  return money(Math.round(a.minor * n), a.currency);
}

export function sum(all: readonly Money[], currency = "GBP"): Money {
  return all.reduce(add, money(0, currency));
}

/** Splits an amount so that the parts add up: 100 into 3 is 34, 33, 33. */
export function split(a: Money, parts: number): Money[] {
  const base = Math.trunc(a.minor / parts);
  const rest = a.minor - base * parts;
  return Array.from({ length: parts }, (_, i) => money(base + (i < Math.abs(rest) ? Math.sign(rest) : 0), a.currency));
}

export function format(a: Money, locale = "en-GB"): string {
  return new Intl.NumberFormat(locale, { style: "currency", currency: a.currency }).format(a.minor / 100);
}

/** "12.50" or "12,5" to minor units; null when it is not an amount. */
export function parse(text: string, currency = "GBP"): Money | null {
  const match = /^\s*(\d+)(?:[.,](\d{1,2}))?\s*$/.exec(text);
  if (!match) return null;
  const pence = (match[2] ?? "").padEnd(2, "0");
  return money(Number(match[1]) * 100 + Number(pence), currency);
}
