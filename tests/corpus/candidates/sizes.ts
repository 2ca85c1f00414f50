// sizes.ts - examples for the rows about sizes that somebody outside chose, units and copies that fail.
import * as fs from "fs";

interface Reply {
  value: string;
  expires_in: number;
}

export function takeBlock(buf: Buffer) {
  const length = buf.readUInt32BE(0); // FIRES missing-null-check/parameter
  return Buffer.alloc(length); // FIRES unbounded-allocation/length-read
}

export function keepTape(tape: string, vault: string, log: Console) {
  try {
    fs.copyFileSync(tape, vault); // FIRES path-traversal/joined
  } catch (err) { // FIRES error-swallowed/source-removed
    log.error(err); // FIRES missing-null-check/parameter
  }
  fs.unlinkSync(tape); // FIRES path-traversal/joined
}

export function expiry(reply: Reply) {
  return Date.now() + reply.expires_in; // FIRES wrong-operator/unit FIRES missing-null-check/parameter
}

export function endOf(startMs: number, waitSeconds: number) {
  const endMs = startMs + waitSeconds; // FIRES wrong-operator/unit
  return endMs;
}

export function entry(asked: number, reply: Reply) {
  return { value: reply.value, expiresAtMs: asked + reply.expires_in }; // FIRES wrong-operator/unit FIRES missing-null-check/parameter
}

// compared before, of two bytes, or of a constant
export function quiet_unbounded_allocation(buf: Buffer, most: number) {
  const length = buf.readUInt32BE(0); // FIRES missing-null-check/parameter
  if (length > most) {
    throw new Error("too long");
  }
  return [Buffer.alloc(length), Buffer.alloc(buf.readUInt16BE(4)), Buffer.alloc(16)];
}

// leaves in the handler, or removes it where the copy was made
export function quiet_error_swallowed_source(tape: string, vault: string, log: Console) {
  try {
    fs.copyFileSync(tape, vault); // FIRES path-traversal/joined
    fs.unlinkSync(tape); // FIRES path-traversal/joined
  } catch (err) {
    log.error(err); // FIRES missing-null-check/parameter
  }
  try {
    fs.copyFileSync(tape, vault + "2"); // FIRES path-traversal/joined
  } catch (err) {
    log.error(err);
    return;
  }
  fs.rmSync(tape); // FIRES path-traversal/joined
}

// changed to the unit of the other
export function quiet_wrong_operator_unit(reply: Reply, waitMs: number) {
  const endMs = Date.now() + reply.expires_in * 1000; // FIRES missing-null-check/parameter
  const laterMs = Date.now() + waitMs;
  return { endMs: endMs + waitMs, laterMs };
}
