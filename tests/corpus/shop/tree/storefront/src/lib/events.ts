/** A tiny typed event bus. Listeners that throw do not keep the others from hearing. */
export type Events = {
  "cart:changed": { lines: number };
  "session:ended": { reason: "logout" | "expired" };
  "flag:changed": { name: string; on: boolean };
  "notice": { text: string; kind: "info" | "warning" | "error" };
};

type Listener<T> = (event: T) => void;

const listeners = new Map<keyof Events, Set<Listener<never>>>();

export function on<K extends keyof Events>(name: K, listener: Listener<Events[K]>): () => void {
  let set = listeners.get(name);
  if (!set) {
    set = new Set();
    listeners.set(name, set);
  }
  set.add(listener as Listener<never>);
  return () => {
    set.delete(listener as Listener<never>);
  };
}

export function emit<K extends keyof Events>(name: K, event: Events[K]): void {
  for (const listener of [...(listeners.get(name) ?? [])]) {
    try {
      (listener as Listener<Events[K]>)(event);
    } catch (e) {
      console.error("listener of", name, e);
    }
  }
}

export function once<K extends keyof Events>(name: K): Promise<Events[K]> {
  return new Promise((resolve) => {
    const off = on(name, (event) => {
      off();
      resolve(event);
    });
  });
}
