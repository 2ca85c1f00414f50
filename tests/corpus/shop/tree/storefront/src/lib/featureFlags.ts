/**
 * Feature flags in the browser. The list comes with the page (config/feature_flags.toml made
 * into JSON by the deployment); who is in a percentage is decided by a hash of the visitor,
 * so that nobody flips between two versions.
 */
import { emit } from "./events";

export interface Flag {
  enabled: boolean;
  percent: number;
}

let flags: Record<string, Flag> = {};
let visitor = "";

/** FNV-1a; stable over releases, because the split of visitors depends on it. */
export function hash32(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    h ^= text.charCodeAt(i);
    h = Math.imul(h, 0x01000193);
  }
  return h >>> 0;
}

export function configureFlags(list: Record<string, Flag>, visitorId: string): void {
  const before = flags;
  flags = list;
  visitor = visitorId;
  for (const name of new Set([...Object.keys(before), ...Object.keys(list)])) {
    const was = before[name]?.enabled ?? false;
    const is = list[name]?.enabled ?? false;
    if (was !== is) emit("flag:changed", { name, on: isOn(name) });
  }
}

export function isOn(name: string): boolean {
  const flag = flags[name];
  if (!flag || !flag.enabled) return false;
  return flag.percent >= 100 || hash32(`${name}/${visitor}`) % 100 < flag.percent;
}
