import { describe, expect, it } from "vitest";
import { addLine, Cart, CartLine, emptyCart, itemCount, MAX_LINES, mergeCarts, setQuantity, subtotal } from "../src/cart/cart";
import { loadCart, saveCart } from "../src/cart/cartStorage";
import { money } from "../src/lib/money";

function line(sku: string, quantity = 1, price = 500): CartLine {
  return { sku, title: sku, unitPrice: money(price), quantity, maxQuantity: 9 };
}

function cart(...lines: CartLine[]): Cart {
  return lines.reduce(addLine, emptyCart);
}

class MemoryStorage {
  private map = new Map<string, string>();
  getItem = (k: string) => this.map.get(k) ?? null;
  setItem = (k: string, v: string) => void this.map.set(k, v);
  removeItem = (k: string) => void this.map.delete(k);
}

describe("cart", () => {
  it("adds the same plant to its line", () => {
    const c = cart(line("ROS-0001"), line("ROS-0001", 2));
    expect(c.lines).toHaveLength(1);
    expect(itemCount(c)).toBe(3);
  });

  it("never exceeds what is in stock", () => {
    expect(itemCount(cart(line("ROS-0001", 50)))).toBe(9);
    expect(itemCount(setQuantity(cart(line("ROS-0001")), "ROS-0001", 50))).toBe(9);
  });

  it("has an end", () => {
    const full = cart(...Array.from({ length: MAX_LINES }, (_, i) => line(`ROS-${1000 + i}`)));
    expect(() => addLine(full, line("ROS-9999"))).toThrow(RangeError);
  });

  it("sums up", () => {
    expect(subtotal(cart(line("ROS-0001", 2, 450), line("POT-0002", 1, 1200))).minor).toBe(2100);
  });

  it("merges by the larger quantity", () => {
    const merged = mergeCarts(cart(line("ROS-0001", 1)), cart(line("ROS-0001", 3), line("POT-0002")));
    expect(itemCount(merged)).toBe(4);
  });
});

describe("cart storage", () => {
  it("comes back as it was", () => {
    const storage = new MemoryStorage() as unknown as Storage;
    const c = cart(line("ROS-0001", 2));
    saveCart(c, storage);
    expect(loadCart(storage)).toEqual(c);
  });

  it("forgets what it cannot read", () => {
    const storage = new MemoryStorage() as unknown as Storage;
    storage.setItem("fernhill.cart.v3", '{"lines":[{"sku":"<script>"}]}');
    expect(loadCart(storage)).toEqual(emptyCart);
    expect(storage.getItem("fernhill.cart.v3")).toBeNull();
  });
});
