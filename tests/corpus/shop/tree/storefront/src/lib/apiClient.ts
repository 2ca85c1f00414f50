/**
 * The one place that calls fetch. Adds headers, understands our error bodies, retries what
 * is safe to retry, and ends everything when the page goes away.
 */
import { apiUrl, previewHeaders } from "../config";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly fields: Record<string, string> = {},
  ) {
    super(message);
    this.name = "ApiError";
  }

  get isAuth(): boolean {
    return this.status === 401;
  }
}

export interface RequestOptions {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  body?: unknown;
  headers?: Record<string, string>;
  retries?: number;
  signal?: AbortSignal;
}

const RETRY_STATUS = new Set([429, 502, 503, 504]);

function isRetryable(method: string): boolean {
  return method === "GET" || method === "PUT" || method === "DELETE";
}

export function backoffMs(attempt: number, retryAfter: string | null): number {
  const seconds = retryAfter === null ? NaN : Number(retryAfter);
  if (Number.isFinite(seconds) && seconds >= 0) return Math.min(seconds * 1000, 30_000);
  return Math.min(200 * 2 ** attempt, 5_000);
}

async function toError(response: Response): Promise<ApiError> {
  try {
    const body = await response.json();
    return new ApiError(response.status, body.error ?? "unknown", body.message ?? response.statusText, body.fields);
  } catch {
    return new ApiError(response.status, "unknown", response.statusText || "the server did not answer");
  }
}

export async function request<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const method = options.method ?? "GET";
  const retries = isRetryable(method) ? (options.retries ?? 2) : 0;
  const init: RequestInit = {
    method,
    credentials: "same-origin",
    headers: {
      Accept: "application/json",
      ...(options.body === undefined ? {} : { "Content-Type": "application/json" }),
      ...previewHeaders(location.host),
      ...options.headers,
    },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    ...(options.signal ? { signal: options.signal } : {}),
  };
  for (let attempt = 0; ; attempt++) {
    const response = await fetch(apiUrl(path), init);
    if (response.ok) {
      return (response.status === 204 ? undefined : await response.json()) as T;
    }
    if (attempt >= retries || !RETRY_STATUS.has(response.status)) {
      throw await toError(response);
    }
    await new Promise((wake) => setTimeout(wake, backoffMs(attempt, response.headers.get("Retry-After"))));
  }
}
