/** Keeps the cart in local storage, so that a visitor finds it again. Anything unreadable is an empty cart. */
import { z } from "zod";
import { emit } from "../lib/events";
import { Cart, emptyCart } from "./cart";

const KEY = "fernhill.cart.v3";
const MAX_AGE_MS = 60 * 24 * 3600 * 1000;

const lineSchema = z.object({
  sku: z.string().regex(/^[A-Z]{3}-\d{4,6}$/),
  title: z.string().max(120),
  unitPrice: z.object({ minor: z.number().int().nonnegative(), currency: z.string().length(3) }),
  quantity: z.number().int().positive(),
  maxQuantity: z.number().int().positive(),
});

const cartSchema = z.object({
  lines: z.array(lineSchema).max(60),
  voucher: z.string().nullable(),
  updatedAt: z.number(),
});

export function loadCart(storage: Storage = localStorage, now = Date.now()): Cart {
  const raw = storage.getItem(KEY);
  if (raw === null) return emptyCart;
  try {
    const cart = cartSchema.parse(JSON.parse(raw));
    return now - cart.updatedAt > MAX_AGE_MS ? emptyCart : cart;
  } catch {
    storage.removeItem(KEY);
    return emptyCart;
  }
}

export function saveCart(cart: Cart, storage: Storage = localStorage): void {
  try {
    storage.setItem(KEY, JSON.stringify(cart));
  } catch {
    // Private windows have no room. The cart lives as long as the page.
  }
  emit("cart:changed", { lines: cart.lines.length });
}

/** Another tab has changed the cart. */
export function onForeignChange(listener: (cart: Cart) => void): () => void {
  const handler = (e: StorageEvent) => {
    if (e.key === KEY) listener(loadCart());
  };
  addEventListener("storage", handler);
  return () => removeEventListener("storage", handler);
}
