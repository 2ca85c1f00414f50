/** Reminds people of what they left in the cart: once, after three days, if they agreed to it. */
const DAY = 24 * 3600 * 1000;
const AFTER = 3 * DAY;
const NOT_AFTER = 14 * DAY;

export function isDue(cart, now) {
  const age = now - cart.updatedAt;
  return cart.lines.length > 0 && cart.remindedAt === null && age >= AFTER && age < NOT_AFTER;
}

/** The dearest three plants, which are what people hesitate about. */
export function highlights(cart) {
  return [...cart.lines].sort((a, b) => b.unitPrice.minor - a.unitPrice.minor).slice(0, 3);
}

export function subjectOf(cart) {
  const [first] = highlights(cart);
  const others = cart.lines.length - 1;
  if (others === 0) return `${first.title} is still waiting for you`;
  return `${first.title} and ${others} other${others === 1 ? "" : "s"} are waiting`;
}

export async function remindCarts({ carts, accounts, mailer, now = Date.now() }, { log }) {
  let n = 0;
  for await (const cart of carts.abandonedSince(now - NOT_AFTER)) {
    if (!isDue(cart, now)) continue;
    if (!(await accounts.mayContact(cart.userId, "cart_reminder"))) continue;
    const user = await accounts.find(cart.userId);
    await mailer.send(user.email, subjectOf(cart), "cart_reminder", { name: user.name, lines: highlights(cart) });
    await carts.markReminded(cart.id, now);
    n++;
  }
  log.info(`${n} reminders`);
  return n;
}
