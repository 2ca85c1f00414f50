/** The cart as a value: every change makes a new one. Prices are those of the catalogue at the time of adding. */
import { add, Money, money, times } from "../lib/money";

export interface CartLine {
  sku: string;
  title: string;
  unitPrice: Money;
  quantity: number;
  maxQuantity: number;
}

export interface Cart {
  readonly lines: readonly CartLine[];
  readonly voucher: string | null;
  readonly updatedAt: number;
}

export const emptyCart: Cart = { lines: [], voucher: null, updatedAt: 0 };

export const MAX_LINES = 60;

function touch(cart: Cart, lines: readonly CartLine[], now = Date.now()): Cart {
  return { ...cart, lines, updatedAt: now };
}

export function addLine(cart: Cart, line: CartLine): Cart {
  const existing = cart.lines.find((l) => l.sku === line.sku);
  if (existing) return setQuantity(cart, line.sku, existing.quantity + line.quantity);
  if (cart.lines.length >= MAX_LINES) throw new RangeError("the cart is full");
  return touch(cart, [...cart.lines, { ...line, quantity: Math.min(line.quantity, line.maxQuantity) }]);
}

export function setQuantity(cart: Cart, sku: string, quantity: number): Cart {
  if (quantity <= 0) return removeLine(cart, sku);
  return touch(
    cart,
    cart.lines.map((l) => (l.sku === sku ? { ...l, quantity: Math.min(quantity, l.maxQuantity) } : l)),
  );
}

export function removeLine(cart: Cart, sku: string): Cart {
  return touch(
    cart,
    cart.lines.filter((l) => l.sku !== sku),
  );
}

export function subtotal(cart: Cart): Money {
  return cart.lines.reduce((total, l) => add(total, times(l.unitPrice, l.quantity)), money(0));
}

export function itemCount(cart: Cart): number {
  return cart.lines.reduce((n, l) => n + l.quantity, 0);
}

/** Two carts of one person, the one of this browser and the one of the account: the larger quantity wins. */
export function mergeCarts(a: Cart, b: Cart): Cart {
  const lines = new Map<string, CartLine>();
  for (const line of [...a.lines, ...b.lines]) {
    const other = lines.get(line.sku);
    lines.set(line.sku, other && other.quantity >= line.quantity ? other : line);
  }
  return { lines: [...lines.values()].slice(0, MAX_LINES), voucher: a.voucher ?? b.voucher, updatedAt: Math.max(a.updatedAt, b.updatedAt) };
}

/** The average price of an item in the cart, for the recommendation box. */
export function averagePrice(cart: Cart): Money {
  return money(Math.round(subtotal(cart).minor / itemCount(cart)));
}
