/**
 * The checkout as a state machine: address, delivery, payment, review, done. A step can be gone
 * back to; what follows it is kept until it no longer fits.
 */
import { Cart, subtotal } from "../cart/cart";
import { add, Money, money, times } from "../lib/money";
import { request } from "../lib/apiClient";

export type Step = "address" | "delivery" | "payment" | "review" | "done";

export interface DeliveryOption {
  id: string;
  label: string;
  price: Money;
  days: [number, number];
}

export interface CheckoutState {
  step: Step;
  cart: Cart;
  addressId: number | null;
  delivery: DeliveryOption | null;
  paymentSession: string | null;
  orderId: string | null;
}

export type Action =
  | { type: "address"; addressId: number }
  | { type: "delivery"; option: DeliveryOption }
  | { type: "paymentReady"; session: string }
  | { type: "placed"; orderId: string }
  | { type: "back"; to: Step };

const ORDER: Step[] = ["address", "delivery", "payment", "review", "done"];

export function start(cart: Cart): CheckoutState {
  if (cart.lines.length === 0) throw new Error("nothing to check out");
  return { step: "address", cart, addressId: null, delivery: null, paymentSession: null, orderId: null };
}

export function reduce(state: CheckoutState, action: Action): CheckoutState {
  switch (action.type) {
    case "address":
      return { ...state, addressId: action.addressId, delivery: null, step: "delivery" };
    case "delivery":
      return { ...state, delivery: action.option, step: "payment" };
    case "paymentReady":
      return { ...state, paymentSession: action.session, step: "review" };
    case "placed":
      return { ...state, orderId: action.orderId, step: "done" };
    case "back": {
      const from = ORDER.indexOf(state.step);
      const to = ORDER.indexOf(action.to);
      return to < from && state.step !== "done" ? { ...state, step: action.to } : state;
    }
  }
}

/** Free above 60 pounds; heavy pots always cost something. */
export function deliveryPrice(option: DeliveryOption, cart: Cart): Money {
  const goods = subtotal(cart);
  const hasPots = cart.lines.some((l) => l.sku.startsWith("POT-"));
  if (goods.minor >= 6000 && !hasPots) return money(0, goods.currency);
  return option.price;
}

export function total(state: CheckoutState): Money {
  const goods = subtotal(state.cart);
  return state.delivery ? add(goods, deliveryPrice(state.delivery, state.cart)) : goods;
}

/** VAT is included in our prices: this is the share of it. */
export function includedVat(amount: Money, rate = 0.2): Money {
  return times(amount, rate / (1 + rate));
}

/** Creates a payment session with the provider; the card number goes there and never to us. */
export async function createPaymentSession(state: CheckoutState): Promise<string> {
  const answer = await request<{ session: string }>("/billing/payment-sessions", {
    method: "POST",
    body: { amount: total(state).minor, currency: total(state).currency, addressId: state.addressId },
  });
  return answer.session;
}

export async function placeOrder(state: CheckoutState): Promise<string> {
  if (!state.addressId || !state.delivery || !state.paymentSession) throw new Error("the checkout is not complete");
  const answer = await request<{ orderId: string }>("/billing/orders", {
    method: "POST",
    body: {
      lines: state.cart.lines.map((l) => ({ sku: l.sku, quantity: l.quantity })),
      addressId: state.addressId,
      delivery: state.delivery.id,
      paymentSession: state.paymentSession,
      voucher: state.cart.voucher,
    },
  });
  return answer.orderId;
}
