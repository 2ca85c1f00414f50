/** The cart: lines, quantities, voucher, subtotal, and the way to the checkout. */
import { useEffect, useState } from "react";
import { format } from "../lib/money";
import { Cart, CartLine, itemCount, removeLine, setQuantity, subtotal } from "./cart";
import { loadCart, onForeignChange, saveCart } from "./cartStorage";
import { VoucherField } from "./VoucherField";

function QuantityField({ line, onChange }: { line: CartLine; onChange: (n: number) => void }) {
  return (
    <input
      type="number"
      min={0}
      max={line.maxQuantity}
      value={line.quantity}
      aria-label={`Quantity of ${line.title}`}
      onChange={(e) => onChange(e.target.valueAsNumber || 0)}
    />
  );
}

function Line({ line, update }: { line: CartLine; update: (f: (c: Cart) => Cart) => void }) {
  return (
    <tr>
      <td>{line.title}</td>
      <td>{format(line.unitPrice)}</td>
      <td>
        <QuantityField line={line} onChange={(n) => update((c) => setQuantity(c, line.sku, n))} />
      </td>
      <td>
        <button onClick={() => update((c) => removeLine(c, line.sku))}>Remove</button>
      </td>
    </tr>
  );
}

export function CartPage({ onCheckout }: { onCheckout: (cart: Cart) => void }) {
  const [cart, setCart] = useState<Cart>(() => loadCart());

  useEffect(() => onForeignChange(setCart), []);

  function update(change: (c: Cart) => Cart) {
    setCart((before) => {
      const after = change(before);
      saveCart(after);
      return after;
    });
  }

  if (cart.lines.length === 0) return <p>Your cart is empty. Spring is coming!</p>;
  return (
    <main>
      <h1>Your cart ({itemCount(cart)})</h1>
      <table>
        <tbody>
          {cart.lines.map((line) => (
            <Line key={line.sku} line={line} update={update} />
          ))}
        </tbody>
      </table>
      <VoucherField value={cart.voucher} onChange={(voucher) => update((c) => ({ ...c, voucher }))} />
      <p className="total">Subtotal {format(subtotal(cart))}</p>
      <button onClick={() => onCheckout(cart)}>To the checkout</button>
    </main>
  );
}
