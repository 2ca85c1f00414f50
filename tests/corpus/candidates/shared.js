// What is lost on a way out.
import { open } from 'node:fs/promises';

export async function readMark(file) {
  const handle = await open(file, 'r'); // FIRES resource-leak/closed-below
  const head = await readHead(handle);
  if (head !== MARK) {
    return null;
  }
  const size = await readSize(handle);
  await handle.close(); // FIRES missing-null-check/result-of-any
  return size;
}

export async function quiet_resource_leak_mark(file) {
  const handle = await open(file, 'r');
  try {
    const head = await readHead(handle);
    if (head !== MARK) {
      return null;
    }
    return await readSize(handle);
  } finally {
    await handle.close(); // FIRES missing-null-check/result-of-any
  }
}
