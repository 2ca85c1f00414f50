/** Chooses one of the customer's addresses, or adds one. */
import { FormEvent, useEffect, useState } from "react";
import type { Address } from "../generated/api";
import { ApiError, request } from "../lib/apiClient";

export function AddressStep({ onChosen }: { onChosen: (id: number) => void }) {
  const [addresses, setAddresses] = useState<Address[] | null>(null);
  const [errors, setErrors] = useState<Record<string, string>>({});

  useEffect(() => {
    const controller = new AbortController();
    request<Address[]>("/addresses/", { signal: controller.signal })
      .then(setAddresses)
      .catch((e) => {
        if (!controller.signal.aborted) throw e;
      });
    return () => controller.abort();
  }, []);

  async function addAddress(e: FormEvent<HTMLFormElement>) {
    e.preventDefault();
    const form = new FormData(e.currentTarget);
    try {
      setAddresses(
        await request<Address[]>("/addresses/", {
          method: "POST",
          body: {
            label: form.get("label"),
            lines: String(form.get("lines")).split("\n"),
            postcode: form.get("postcode"),
            country: form.get("country"),
          },
        }),
      );
      setErrors({});
    } catch (e) {
      if (e instanceof ApiError) setErrors(e.fields);
      else throw e;
    }
  }

  if (addresses === null) return <p>Loading…</p>;
  return (
    <section>
      {addresses.map((a) => (
        <button key={a.id} onClick={() => onChosen(a.id)}>
          {a.label}: {a.lines.join(", ")}, {a.postcode}
        </button>
      ))}
      <form onSubmit={addAddress}>
        <input name="label" placeholder="home" required />
        <textarea name="lines" required rows={3} />
        {errors["lines"] && <small role="alert">{errors["lines"]}</small>}
        <input name="postcode" required />
        {errors["postcode"] && <small role="alert">{errors["postcode"]}</small>}
        <select name="country" defaultValue="GB">
          {["GB", "IE", "DE", "NL", "FR"].map((c) => (
            <option key={c}>{c}</option>
          ))}
        </select>
        <button>Add this address</button>
      </form>
    </section>
  );
}
