/**
 * The queue on Redis: a list of what is due, a sorted set of what is due later, a hash of what is
 * being worked on. Job ids make putting the same job twice harmless.
 */
import { randomUUID } from "node:crypto";

const DUE = "jobs:due";
const LATER = "jobs:later";
const TAKEN = "jobs:taken";
const DEAD = "jobs:dead";

export class Queue {
  constructor(redis, now = () => Date.now()) {
    this.redis = redis;
    this.now = now;
  }

  async put(type, payload, { id = randomUUID(), delaySeconds = 0 } = {}) {
    const job = JSON.stringify({ id, type, payload, attempts: 0 });
    if (delaySeconds > 0) await this.redis.zadd(LATER, this.now() + delaySeconds * 1000, job);
    else await this.redis.lpush(DUE, job);
    return id;
  }

  /** Moves what has become due to the list. */
  async promote() {
    const due = await this.redis.zrangebyscore(LATER, 0, this.now());
    for (const job of due) {
      if (await this.redis.zrem(LATER, job)) await this.redis.lpush(DUE, job);
    }
    return due.length;
  }

  async take(timeoutSeconds) {
    await this.promote();
    const answer = await this.redis.brpop(DUE, timeoutSeconds);
    if (!answer) return null;
    const job = JSON.parse(answer[1]);
    await this.redis.hset(TAKEN, job.id, JSON.stringify({ ...job, takenAt: this.now() }));
    return job;
  }

  async finish(job) {
    await this.redis.hdel(TAKEN, job.id);
  }

  async retry(job, delaySeconds) {
    await this.finish(job);
    const again = JSON.stringify({ ...job, attempts: job.attempts + 1 });
    await this.redis.zadd(LATER, this.now() + delaySeconds * 1000, again);
  }

  async bury(job, reason) {
    await this.finish(job);
    await this.redis.lpush(DEAD, JSON.stringify({ ...job, reason, buriedAt: this.now() }));
  }

  /** Jobs whose worker died: taken long ago and never finished. */
  async reclaim(olderThanMs = 15 * 60_000) {
    const taken = await this.redis.hgetall(TAKEN);
    let n = 0;
    for (const text of Object.values(taken)) {
      const job = JSON.parse(text);
      if (this.now() - job.takenAt < olderThanMs) continue;
      await this.retry(job, 0);
      n++;
    }
    return n;
  }
}
