/** Shows the step that the state machine is in. */
import { useReducer, useState } from "react";
import { Cart } from "../cart/cart";
import { ApiError } from "../lib/apiClient";
import { format } from "../lib/money";
import { AddressStep } from "./AddressStep";
import { CheckoutState, createPaymentSession, placeOrder, reduce, start, Step, total } from "./checkout";
import { DeliveryStep } from "./DeliveryStep";

const TITLES: Record<Step, string> = {
  address: "Where to?",
  delivery: "How fast?",
  payment: "Payment",
  review: "All correct?",
  done: "Thank you!",
};

function Progress({ state }: { state: CheckoutState }) {
  return (
    <ol className="steps">
      {(Object.keys(TITLES) as Step[]).map((step) => (
        <li key={step} aria-current={step === state.step ? "step" : undefined}>
          {TITLES[step]}
        </li>
      ))}
    </ol>
  );
}

export function CheckoutPage({ cart, onPlaced }: { cart: Cart; onPlaced: () => void }) {
  const [state, dispatch] = useReducer(reduce, cart, start);
  const [problem, setProblem] = useState<string | null>(null);

  async function attempt(action: () => Promise<void>) {
    setProblem(null);
    try {
      await action();
    } catch (e) {
      setProblem(e instanceof ApiError ? e.message : "Something went wrong. You have not been charged.");
    }
  }

  return (
    <main>
      <Progress state={state} />
      <h1>{TITLES[state.step]}</h1>
      {problem && <p role="alert">{problem}</p>}
      {state.step === "address" && <AddressStep onChosen={(addressId) => dispatch({ type: "address", addressId })} />}
      {state.step === "delivery" && (
        <DeliveryStep cart={state.cart} onChosen={(option) => dispatch({ type: "delivery", option })} />
      )}
      {state.step === "payment" && (
        <button onClick={() => attempt(async () => dispatch({ type: "paymentReady", session: await createPaymentSession(state) }))}>
          Pay {format(total(state))}
        </button>
      )}
      {state.step === "review" && (
        <button
          onClick={() =>
            attempt(async () => {
              dispatch({ type: "placed", orderId: await placeOrder(state) });
              onPlaced();
            })
          }
        >
          Place the order
        </button>
      )}
      {state.step === "done" && <p>Order {state.orderId} is being packed.</p>}
    </main>
  );
}
