import assert from "node:assert/strict";
import { test } from "node:test";
import { delaySeconds, MAX_ATTEMPTS, Worker } from "../src/worker.js";

const silent = { error() {}, warn() {}, info() {} };

function fakeQueue() {
  const calls = [];
  return {
    calls,
    finish: async (job) => calls.push(["finish", job.id]),
    retry: async (job, s) => calls.push(["retry", job.id, s]),
    bury: async (job, why) => calls.push(["bury", job.id, why]),
  };
}

test("a job that works is finished", async () => {
  const queue = fakeQueue();
  const worker = new Worker(queue, { handlers: { ok: async () => {} }, log: silent });
  assert.equal(await worker.runJob({ id: 1, type: "ok", attempts: 0 }), "done");
  assert.deepEqual(queue.calls, [["finish", 1]]);
});

test("a job that fails is tried again, later each time", async () => {
  const queue = fakeQueue();
  const handlers = {
    bad: async () => {
      throw new Error("no");
    },
  };
  const worker = new Worker(queue, { handlers, log: silent });
  assert.equal(await worker.runJob({ id: 1, type: "bad", attempts: 0 }), "retried");
  assert.equal(await worker.runJob({ id: 1, type: "bad", attempts: MAX_ATTEMPTS - 1 }), "buried");
  assert.deepEqual(queue.calls[0], ["retry", 1, 30]);
  assert.ok(delaySeconds(2) > delaySeconds(1));
});

test("an unknown job is buried", async () => {
  const queue = fakeQueue();
  assert.equal(await new Worker(queue, { handlers: {}, log: silent }).runJob({ id: 9, type: "x", attempts: 0 }), "buried");
});
