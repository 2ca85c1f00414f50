/**
 * What the page knows of the visitor's session. The cookie itself is out of reach of scripts;
 * this module asks the server once, keeps the answer, and notices when the session has ended.
 */
import { ApiError, request } from "../lib/apiClient";
import { emit } from "../lib/events";

export interface SessionUser {
  id: number;
  email: string;
  name: string;
  role: "customer" | "support" | "admin";
}

let current: Promise<SessionUser | null> | null = null;

async function load(): Promise<SessionUser | null> {
  try {
    return await request<SessionUser>("/users/me");
  } catch (e) {
    if (e instanceof ApiError && e.isAuth) return null;
    throw e;
  }
}

/** The signed-in user, or null for a visitor. Asked once per page. */
export function currentUser(): Promise<SessionUser | null> {
  current ??= load();
  return current;
}

export async function signIn(email: string, password: string): Promise<SessionUser> {
  const user = await request<SessionUser>("/auth/login", { method: "POST", body: { email, password } });
  current = Promise.resolve(user);
  return user;
}

export async function signOut(): Promise<void> {
  await request<void>("/auth/logout", { method: "POST" });
  forget("logout");
}

/** To be called when any request comes back with a 401. */
export function forget(reason: "logout" | "expired"): void {
  current = Promise.resolve(null);
  emit("session:ended", { reason });
}

/** Keeps the session alive while somebody fills in a long form. */
export function keepAlive(everyMs = 10 * 60_000): () => void {
  const timer = setInterval(() => {
    request<void>("/auth/refresh", { method: "POST" }).catch((e) => {
      if (e instanceof ApiError && e.isAuth) forget("expired");
    });
  }, everyMs);
  return () => clearInterval(timer);
}
