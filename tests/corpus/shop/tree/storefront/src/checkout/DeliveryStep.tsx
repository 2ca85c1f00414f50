/** Lists the ways of delivery for a cart, the cheapest first. */
import { useEffect, useState } from "react";
import { Cart } from "../cart/cart";
import { request } from "../lib/apiClient";
import { format } from "../lib/money";
import { deliveryPrice, DeliveryOption } from "./checkout";

function when(option: DeliveryOption): string {
  const [from, to] = option.days;
  if (from === to) return from === 1 ? "tomorrow" : `in ${from} days`;
  return `in ${from} to ${to} days`;
}

export function DeliveryStep({ cart, onChosen }: { cart: Cart; onChosen: (o: DeliveryOption) => void }) {
  const [options, setOptions] = useState<DeliveryOption[]>([]);

  useEffect(() => {
    let gone = false;
    request<DeliveryOption[]>("/billing/delivery-options").then((all) => {
      if (!gone) setOptions([...all].sort((a, b) => a.price.minor - b.price.minor));
    });
    return () => {
      gone = true;
    };
  }, []);

  return (
    <ul>
      {options.map((o) => (
        <li key={o.id}>
          <button onClick={() => onChosen(o)}>
            {o.label}, {when(o)}: {format(deliveryPrice(o, cart))}
          </button>
        </li>
      ))}
    </ul>
  );
}
