/** Thumbnails of plant pictures, by ImageMagick in a process of its own. */
import { exec } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, rename, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(exec);

export const SIZES = { list: 240, detail: 960, zoom: 2400 };

export function thumbnailPath(dir, sku, size, source) {
  const tag = createHash("sha256").update(source).digest("hex").slice(0, 8);
  return path.join(dir, sku.slice(0, 3), `${sku}.${size}.${tag}.webp`);
}

async function isFresh(target, source) {
  try {
    const [t, s] = await Promise.all([stat(target), stat(source)]);
    return t.mtimeMs >= s.mtimeMs;
  } catch {
    return false;
  }
}

export async function convert(source, target, width) {
  await run(`convert "${source}" -auto-orient -resize ${width}x${width} -strip "${target}"`);
}

export async function makeThumbnail({ sku, source, dir }, { log }) {
  let made = 0;
  for (const [size, width] of Object.entries(SIZES)) {
    const target = thumbnailPath(dir, sku, size, source);
    if (await isFresh(target, source)) continue;
    await mkdir(path.dirname(target), { recursive: true });
    const temporary = `${target}.${process.pid}.tmp.webp`;
    await convert(source, temporary, width);
    await rename(temporary, target);
    made++;
  }
  log.info(`${sku}: ${made} thumbnails`);
  return made;
}
