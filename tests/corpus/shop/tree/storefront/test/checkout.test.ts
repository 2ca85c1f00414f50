import { describe, expect, it } from "vitest";
import { emptyCart, addLine } from "../src/cart/cart";
import { DeliveryOption, deliveryPrice, includedVat, reduce, start, total } from "../src/checkout/checkout";
import { money } from "../src/lib/money";

const standard: DeliveryOption = { id: "std", label: "Standard", price: money(495), days: [2, 4] };

function cartOf(sku: string, price: number) {
  return addLine(emptyCart, { sku, title: sku, unitPrice: money(price), quantity: 1, maxQuantity: 5 });
}

describe("checkout", () => {
  it("walks through its steps", () => {
    let s = start(cartOf("ROS-0001", 1000));
    s = reduce(s, { type: "address", addressId: 3 });
    expect(s.step).toBe("delivery");
    s = reduce(s, { type: "delivery", option: standard });
    s = reduce(s, { type: "paymentReady", session: "ps_1" });
    s = reduce(s, { type: "placed", orderId: "FH-1" });
    expect(s.step).toBe("done");
    expect(reduce(s, { type: "back", to: "address" }).step).toBe("done");
  });

  it("forgets the delivery when the address changes", () => {
    let s = reduce(start(cartOf("ROS-0001", 1000)), { type: "address", addressId: 3 });
    s = reduce(s, { type: "delivery", option: standard });
    s = reduce(s, { type: "back", to: "address" });
    expect(reduce(s, { type: "address", addressId: 4 }).delivery).toBeNull();
  });

  it("delivers for free above sixty pounds, but not pots", () => {
    expect(deliveryPrice(standard, cartOf("ROS-0001", 6000)).minor).toBe(0);
    expect(deliveryPrice(standard, cartOf("ROS-0001", 5999)).minor).toBe(495);
    expect(deliveryPrice(standard, cartOf("POT-0001", 9000)).minor).toBe(495);
  });

  it("adds the delivery to the total", () => {
    let s = reduce(start(cartOf("ROS-0001", 1000)), { type: "address", addressId: 3 });
    s = reduce(s, { type: "delivery", option: standard });
    expect(total(s).minor).toBe(1495);
    expect(includedVat(total(s)).minor).toBe(249);
  });

  it("needs something in the cart", () => {
    expect(() => start(emptyCart)).toThrow();
  });
});
