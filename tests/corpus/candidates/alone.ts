// alone.ts - faults that the text of one function shows, whatever its callers do, and code beside them that is right. The
// marks are those of test_examples.c.

function sumOf(prices: number[]) {
  let sum = 0;
  for (let i = 0; i <= prices.length; i++) { // FIRES off-by-one/behind missing-null-check/parameter
    sum += prices[i];
  }
  return sum;
}

function nameOf(user: User | null) {
  if (user === null) {
    return user.name; // FIRES inverted-condition/absent-used
  }
  return user.title;
}

function quiet_off_by_one(prices: number[], rows: number) {
  let sum = 0;
  for (let i = 0; i < prices.length; i++) { // FIRES missing-null-check/parameter
    sum += prices[i];
  }
  return sum;
}

function quiet_inverted_condition(user: User | null) {
  if (user === null) {
    return user?.name;
  }
  return 'x';
}

function sumWhile(prices: number[]) {
  let i = 0;
  let sum = 0;
  while (i <= prices.length) { // FIRES off-by-one/at-most-own missing-null-check/parameter
    sum += prices[i];
    i += 1;
  }
  return sum;
}

function nameTold(user: User | null) {
  if (user === null) {
    show('none');
    return user.name; // FIRES inverted-condition/null-branch
  }
  return '';
}

const params = new URLSearchParams(location.search);

function greet() {
  document.getElementById('name').innerHTML = 'Hello ' + params.get('name'); // FIRES unescaped-output/address
  document.write('<b>' + location.hash + '</b>'); // FIRES unescaped-output/address
}

function quiet_unescaped_output() {
  document.getElementById('name').textContent = params.get('name');
  document.write('<b>' + encodeURIComponent(location.hash) + '</b>');
}

function billingOf() {
  const billing = 'sk_live_9aQ2mZ7tK4xLr8Vb3Nc6Wd1E'; // FIRES hardcoded-secret/live-key
  return billing;
}

function quiet_hardcoded_secret() {
  const prefix = 'sk_live_';
  return prefix;
}
