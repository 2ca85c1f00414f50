// sizes.js - examples for the rows about sizes that somebody outside chose, units and copies that fail.
const fs = require("fs");

function takeBlock(buf) {
  const length = buf.readUInt32BE(0); // FIRES missing-null-check/parameter
  return Buffer.alloc(length); // FIRES unbounded-allocation/length-read
}

function keepTape(tape, vault, log) {
  try {
    fs.copyFileSync(tape, vault); // FIRES path-traversal/joined
  } catch (err) { // FIRES error-swallowed/source-removed
    log.error(err); // FIRES missing-null-check/parameter
  }
  fs.unlinkSync(tape); // FIRES path-traversal/joined
}

class Transfers {
  quiet_error_swallowed_entry(id, socket) {
    try {
      socket.send(JSON.stringify({ type: "CANCEL", id })); // FIRES missing-null-check/parameter
    } catch (err) {
      console.error(err);
    }
    this.active.delete(id); // FIRES missing-null-check/chain
  }
}

function expiry(reply) {
  return Date.now() + reply.expires_in; // FIRES wrong-operator/unit FIRES missing-null-check/parameter
}

function endOf(startMs, waitSeconds) {
  const endMs = startMs + waitSeconds; // FIRES wrong-operator/unit
  return endMs;
}

function entry(asked, reply) {
  return { value: reply.value, expiresAtMs: asked + reply.expires_in }; // FIRES wrong-operator/unit FIRES missing-null-check/parameter
}

// compared before, of two bytes, or of a constant
function quiet_unbounded_allocation(buf, most) {
  const length = buf.readUInt32BE(0); // FIRES missing-null-check/parameter
  if (length > most) {
    throw new Error("too long");
  }
  return [Buffer.alloc(length), Buffer.alloc(buf.readUInt16BE(4)), Buffer.alloc(16)];
}

// leaves in the handler, or removes it where the copy was made
function quiet_error_swallowed_source(tape, vault, log) {
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
function quiet_wrong_operator_unit(reply, waitMs) {
  const endMs = Date.now() + reply.expires_in * 1000; // FIRES missing-null-check/parameter
  const laterMs = Date.now() + waitMs;
  return { endMs: endMs + waitMs, laterMs };
}

module.exports = {
  takeBlock, keepTape, expiry, endOf, entry, quiet_unbounded_allocation, quiet_error_swallowed_source,
  quiet_wrong_operator_unit,
};
