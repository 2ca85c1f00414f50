/** The page behind the link of a reset mail, and the form that asks for one. */
import { FormEvent, useMemo, useState } from "react";
import { ApiError, request } from "../lib/apiClient";
import { PasswordMeter } from "./PasswordMeter";

function tokenFromLocation(): string {
  return new URLSearchParams(location.search).get("token") ?? "";
}

export function ForgotPasswordForm() {
  const [email, setEmail] = useState("");
  const [sent, setSent] = useState(false);

  async function submit(e: FormEvent) {
    e.preventDefault();
    await request<void>("/auth/reset", { method: "POST", body: { email } });
    setSent(true);
  }

  if (sent) return <p role="status">If we know {email}, a mail with a link is on its way.</p>;
  return (
    <form onSubmit={submit}>
      <label>
        Your e-mail address
        <input type="email" required value={email} onChange={(e) => setEmail(e.target.value)} />
      </label>
      <button>Send me a link</button>
    </form>
  );
}

export function ResetPasswordPage({ onDone }: { onDone: () => void }) {
  const token = useMemo(tokenFromLocation, []);
  const [password, setPassword] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  if (!token) return <ForgotPasswordForm />;

  async function submit(e: FormEvent) {
    e.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      await request<void>("/auth/reset/confirm", { method: "POST", body: { token, password } });
      onDone();
    } catch (e) {
      if (e instanceof ApiError) setProblem(e.fields["password"] ?? e.message);
      else throw e;
    } finally {
      setBusy(false);
    }
  }

  return (
    <form onSubmit={submit} aria-busy={busy}>
      <h1>Choose a new password</h1>
      <label>
        New password
        <input type="password" autoComplete="new-password" value={password} onChange={(e) => setPassword(e.target.value)} />
      </label>
      <PasswordMeter password={password} />
      {problem && <p role="alert">{problem}</p>}
      <button disabled={busy}>Save</button>
    </form>
  );
}
