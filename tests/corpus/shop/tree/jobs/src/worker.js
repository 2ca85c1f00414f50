/**
 * Takes jobs from the queue and runs them, a few at a time. A job that throws is put back with
 * a delay; after MAX_ATTEMPTS it goes to the list of the dead, where a person looks at it.
 */
import { remindCarts } from "./cartReminder.js";
import { sendNewsletter } from "./newsletter.js";
import { importStock } from "./stockImport.js";
import { makeThumbnail } from "./thumbnails.js";

export const HANDLERS = {
  "cart.remind": remindCarts,
  "newsletter.send": sendNewsletter,
  "stock.import": importStock,
  "thumbnail.make": makeThumbnail,
};

export const MAX_ATTEMPTS = 5;

export function delaySeconds(attempt) {
  return Math.min(30 * 3 ** (attempt - 1), 6 * 3600);
}

export class Worker {
  constructor(queue, { concurrency = 4, handlers = HANDLERS, log = console } = {}) {
    this.queue = queue;
    this.concurrency = concurrency;
    this.handlers = handlers;
    this.log = log;
    this.running = new Set();
    this.stopping = false;
  }

  /** Runs one job to its end, whatever that is. Never throws. */
  async runJob(job) {
    const handler = this.handlers[job.type];
    if (!handler) {
      this.log.error(`no handler for ${job.type}`);
      await this.queue.bury(job, "no handler");
      return "buried";
    }
    try {
      await handler(job.payload, { log: this.log, jobId: job.id });
      await this.queue.finish(job);
      return "done";
    } catch (e) {
      if (job.attempts + 1 >= MAX_ATTEMPTS) {
        this.log.error(`${job.type} ${job.id}: ${e.message}; buried`);
        await this.queue.bury(job, e.message);
        return "buried";
      }
      const wait = delaySeconds(job.attempts + 1);
      this.log.warn(`${job.type} ${job.id}: ${e.message}; again in ${wait} s`);
      await this.queue.retry(job, wait);
      return "retried";
    }
  }

  async loop() {
    while (!this.stopping) {
      if (this.running.size >= this.concurrency) {
        await Promise.race(this.running);
        continue;
      }
      const job = await this.queue.take(5);
      if (!job) continue;
      const promise = this.runJob(job).finally(() => this.running.delete(promise));
      this.running.add(promise);
    }
    await Promise.all(this.running);
  }

  stop() {
    this.stopping = true;
  }
}
