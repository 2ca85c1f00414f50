/** A voucher code: checked by the server when typing stops. */
import { useEffect, useState } from "react";
import { config } from "../config";
import { ApiError, request } from "../lib/apiClient";

interface Props {
  value: string | null;
  onChange: (voucher: string | null) => void;
}

/** Codes look like SPRING-24 or ABCD-1234-EFGH; blanks and case do not matter. */
export function normaliseVoucher(text: string): string | null {
  const code = text.trim().toUpperCase().replace(/\s+/g, "-");
  return /^[A-Z0-9]{2,12}(-[A-Z0-9]{2,12}){0,3}$/.test(code) ? code : null;
}

export function VoucherField({ value, onChange }: Props) {
  const [text, setText] = useState(value ?? "");
  const [state, setState] = useState<"idle" | "good" | "bad">("idle");

  useEffect(() => {
    const code = normaliseVoucher(text);
    if (code === null) {
      setState(text ? "bad" : "idle");
      onChange(null);
      return;
    }
    const controller = new AbortController();
    const timer = setTimeout(async () => {
      try {
        await request(`/billing/vouchers/${code}`, { signal: controller.signal });
        setState("good");
        onChange(code);
      } catch (e) {
        if (e instanceof ApiError) setState("bad");
      }
    }, config.searchDebounceMs);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text]);

  return (
    <label className={state}>
      Voucher
      <input value={text} onChange={(e) => setText(e.target.value)} />
      {state === "bad" && <small role="alert">We do not know this code.</small>}
    </label>
  );
}
