/** The weekly newsletter: in batches, to those who agreed, each with a link to stop it. */
import { createHmac, timingSafeEqual } from "node:crypto";

export const BATCH = Number(process.env.JOBS_NEWSLETTER_BATCH ?? 200);

/** A link that works without signing in, and for nobody else. */
export function unsubscribeToken(userId, secret) {
  return createHmac("sha256", secret).update(`newsletter:${userId}`).digest("base64url");
}

export function isUnsubscribeToken(userId, token, secret) {
  const wanted = Buffer.from(unsubscribeToken(userId, secret));
  const given = Buffer.from(token);
  return wanted.length === given.length && timingSafeEqual(wanted, given);
}

export function fill(template, values) {
  return template.replace(/\{\{(\w+)\}\}/g, (whole, name) => (name in values ? escapeHtml(String(values[name])) : whole));
}

export function escapeHtml(text) {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

export function* batches(all, size = BATCH) {
  for (let i = 0; i < all.length; i += size) yield all.slice(i, i + size);
}

export async function sendNewsletter({ issue, accounts, mailer, secret, publicUrl }, { log }) {
  let sent = 0;
  let skipped = 0;
  const recipients = await accounts.consenting("newsletter");
  for (const batch of batches(recipients)) {
    const results = await Promise.allSettled(
      batch.map((r) =>
        mailer.send(r.email, issue.subject, fill(issue.template, { name: r.name, stop: `${publicUrl}/stop/${r.id}/${unsubscribeToken(r.id, secret)}` })),
      ),
    );
    for (const result of results) {
      if (result.status === "fulfilled") sent++;
      else skipped++;
    }
    log.info(`newsletter ${issue.id}: ${sent} sent, ${skipped} failed`);
  }
  return { sent, skipped };
}
