/** Five dots under a password field. The server decides what is good enough; this is encouragement. */
const WORDS = ["far too short", "weak", "so-so", "good", "strong"] as const;

export function score(password: string): number {
  let points = Math.min(Math.floor(password.length / 6), 3);
  if (/\d/.test(password) && /[a-z]/i.test(password)) points += 1;
  if (new Set(password).size < password.length / 2) points -= 1;
  return Math.max(0, Math.min(points, 4));
}

export function PasswordMeter({ password }: { password: string }) {
  const points = score(password);
  return (
    <div className="meter" role="meter" aria-valuemin={0} aria-valuemax={4} aria-valuenow={points} aria-label="strength">
      {WORDS.map((word, i) => (
        <span key={word} className={i <= points ? "dot on" : "dot"} />
      ))}
      <small>{password ? WORDS[points] : ""}</small>
    </div>
  );
}
