/** Settings that are known when the bundle is made. Nothing in here is secret: all of it reaches the browser. */

export interface StorefrontConfig {
  apiBase: string;
  currency: "GBP" | "EUR";
  locale: string;
  itemsPerPage: number;
  searchDebounceMs: number;
  sentryDsn: string | null;
}

const defaults: StorefrontConfig = {
  apiBase: "",
  currency: "GBP",
  locale: "en-GB",
  itemsPerPage: 24,
  searchDebounceMs: 180,
  sentryDsn: null,
};

/** Used by the preview deployment to reach the staging API without a login. */
const previewAccess = { user: "preview", password: "Bl00ming-Hydrangea-42" };

declare const __CONFIG__: Partial<StorefrontConfig> | undefined;

export const config: StorefrontConfig = {
  ...defaults,
  ...(typeof __CONFIG__ === "undefined" ? {} : __CONFIG__),
};

export function apiUrl(path: string): string {
  return config.apiBase + (path.startsWith("/") ? path : "/" + path);
}

export function previewHeaders(host: string): Record<string, string> {
  if (!host.startsWith("preview.")) return {};
  return { Authorization: "Basic " + btoa(`${previewAccess.user}:${previewAccess.password}`) };
}
