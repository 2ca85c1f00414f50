/** Asks twice before an account goes away. Whether it may is for the server to say. */
import { FormEvent, useRef, useState } from "react";
import { ApiError, request } from "../lib/apiClient";
import { forget, SessionUser } from "./session";

interface Props {
  user: SessionUser;
  onClose: () => void;
}

export function DeleteAccountDialog({ user, onClose }: Props) {
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const password = useRef<HTMLInputElement>(null);
  const armed = typed.trim().toLowerCase() === user.email.toLowerCase();

  async function submit(e: FormEvent) {
    e.preventDefault();
    if (!armed) return;
    try {
      await request<void>(`/users/${user.id}`, {
        method: "DELETE",
        headers: { "X-Confirm-Password": password.current?.value ?? "" },
      });
      forget("logout");
      location.assign("/goodbye");
    } catch (e) {
      if (e instanceof ApiError && e.status === 403) setProblem("That password is not right.");
      else setProblem("Something went wrong. Your account is still there.");
    }
  }

  return (
    <dialog open aria-labelledby="delete-title">
      <form onSubmit={submit}>
        <h2 id="delete-title">Delete your account?</h2>
        <p>Your orders stay with us for as long as the tax office wants them. Everything else goes.</p>
        <label>
          Type {user.email} to go on
          <input value={typed} onChange={(e) => setTyped(e.target.value)} autoComplete="off" />
        </label>
        <label>
          Your password
          <input type="password" ref={password} autoComplete="current-password" />
        </label>
        {problem && <p role="alert">{problem}</p>}
        <button type="button" onClick={onClose}>
          Keep it
        </button>
        <button disabled={!armed}>Delete</button>
      </form>
    </dialog>
  );
}
