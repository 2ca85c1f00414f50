// examples.js - for each row of the rules about JavaScript a function in which it finds a place, marked at the end of
// its line, and for each rule one in which the same call or construct is harmless.
const child_process = require('child_process');
const crypto = require('crypto');
const fs = require('fs');
const path = require('path');

// ---- bounds and numbers ----

function dayName(names, day) {
    return names[day]; // FIRES missing-bounds-check/element missing-null-check/parameter
}

function readDigits(source, digits) {
    let at = 0;
    while (source.ready()) { // FIRES missing-null-check/parameter
        digits[at] = source.next(); // FIRES missing-bounds-check/index-loop
        at++;
    }
}

function quiet_missing_bounds_check(names, day) {
    if (day < 0 || day >= names.length) { // FIRES missing-null-check/parameter
        return null;
    }
    return names[day];
}

function total(prices) {
    let sum = 0;
    for (let i = 0; i <= prices.length; i++) { // FIRES missing-null-check/parameter off-by-one/behind
        sum += prices[i];
    }
    return sum;
}

function seek(cursor, buffer) {
    const at = cursor.position(); // FIRES missing-null-check/parameter
    if (at > buffer.length) { // FIRES off-by-one/more
        return null;
    }
    return cursor.read(at);
}

function quiet_off_by_one(prices) {
    let sum = 0;
    for (let i = 0; i < prices.length; i++) { // FIRES missing-null-check/parameter
        sum += prices[i];
    }
    return sum;
}

function mean(sum, count) {
    return sum / count; // FIRES division-by-zero/divisor
}

function mean(cart) {
    return total(cart) / itemCount(cart); // FIRES division-by-zero/result
}

function share(all) {
    let had = 0;
    for (const n of all) {
        had += n;
    }
    return 1 / had; // FIRES division-by-zero/divisor
}

function quiet_division_by_zero_result(cart) {
    if (itemCount(cart) === 0) {
        return 0;
    }
    return total(cart) / itemCount(cart);
}

function quiet_division_by_zero(sum, count) {
    if (count === 0) {
        return 0;
    }
    return sum / count + sum / 2;
}

// ---- texts ----

function findUser(db, name) {
    return db.query("select id from users where name = '" + name + "'"); // FIRES missing-null-check/parameter sql-injection/quoted
}

function usersBy(column) {
    const sql = `SELECT name FROM users ORDER BY ${column}`; // FIRES sql-injection/text
    return sql;
}

function quiet_sql_injection_text(name) {
    const line = 'Select a user, or write ' + name;
    return line;
}

function quiet_sql_injection(db, name) {
    return db.query('select id from users where name = ?', [name]); // FIRES missing-null-check/parameter
}

function archive(folder) {
    return child_process.execSync(`tar cf backup.tar ${folder}`); // FIRES shell-injection/given
}

function quiet_shell_injection(folder) {
    return child_process.execFileSync('tar', ['cf', 'backup.tar', folder]);
}

function evaluate(expression) {
    return eval(expression); // FIRES unsafe-deserialization/given
}

function quiet_unsafe_deserialization(text) {
    return JSON.parse(text);
}

function readPage(name) {
    return fs.readFileSync('pages/' + name, 'utf8'); // FIRES path-traversal/joined
}

function fileOf(root, request) {
    return path.join(root, request.url); // FIRES missing-null-check/parameter path-traversal/second
}

function readUpload(folder, request) {
    return fs.readFileSync(path.resolve(folder, request.url)); // FIRES missing-null-check/parameter path-traversal/request path-traversal/second
}

function removeUpload(request) {
    const file = decodeURIComponent(request.url); // FIRES missing-null-check/parameter
    fs.unlinkSync(file); // FIRES path-traversal/request
}

function quiet_path_traversal() {
    return fs.readFileSync(settingsPath('settings.json'), 'utf8') + path.join(__dirname, 'pages');
}

function greet(response, name) {
    response.send('<b>Hello ' + name + '</b>'); // FIRES missing-null-check/parameter unescaped-output/call
}

function showName(element, name) {
    element.innerHTML = name; // FIRES missing-null-check/parameter unescaped-output/property
}

function quiet_unescaped_output(response, element, name) {
    element.textContent = name; // FIRES missing-null-check/parameter
    response.send('<b>Hello</b>');
}

// ---- resources ----

function goodbye(socket) {
    socket.close(); // FIRES missing-null-check/parameter
    socket.send('bye'); // FIRES use-after-free/closed
}

function quiet_use_after_free(socket) {
    socket.send('bye'); // FIRES missing-null-check/parameter
    socket.close();
}

function firstBytes(size) {
    const fd = fs.openSync('/etc/motd', 'r'); // FIRES resource-leak/file
    const bytes = Buffer.alloc(size);
    fs.readSync(fd, bytes, 0, size, 0);
    return bytes;
}

function quiet_resource_leak(size) {
    const fd = fs.openSync('/etc/motd', 'r');
    const bytes = Buffer.alloc(size);
    try {
        fs.readSync(fd, bytes, 0, size, 0);
    } finally {
        fs.closeSync(fd);
    }
    return bytes;
}

// ---- values that may be absent ----

function versionOf(text) {
    const found = text.match(/(\d+)\.(\d+)/); // FIRES missing-null-check/parameter
    return found[1]; // FIRES missing-null-check/match
}

function titleOf(page) {
    const title = page.title; // FIRES missing-null-check/used-first
    if (!page) {
        return '';
    }
    return title;
}

function childLabel(node) {
    if (!node.child) { // FIRES missing-null-check/parameter
        return '';
    }
    return node.child.label;
}

function isLeaf(node) {
    return node.child === null; // FIRES missing-null-check/parameter
}

function childLabels(node) {
    return node.child.label + 's'; // FIRES missing-null-check/field
}

function nextLabel(node) {
    if (node.next) { // FIRES missing-null-check/parameter
        return node.next.label;
    }
    return '';
}

function skipOne(node) {
    node.label = node.next.label; // FIRES missing-null-check/field-sometimes missing-null-check/parameter
}

function skipTwo(node) {
    node.size = node.next.size; // FIRES missing-null-check/field-sometimes missing-null-check/parameter
}

function labelOf(node, isLong) {
    let text = '';
    if (node) {
        text = 'node';
    }
    if (isLong) {
        text += node.label; // FIRES missing-null-check/other-branch
    }
    return text;
}

function retriesOf(options) {
    return options.retries; // FIRES missing-null-check/options
}

function resetLabel() {
    const node = null;
    return node.label; // FIRES missing-null-check/null
}

function quiet_missing_null_check_options(options) {
    return options ? options.retries : 0;
}

function quiet_missing_null_check(text, page) {
    if (!text) {
        return '';
    }
    const found = text.match(/(\d+)\.(\d+)/);
    if (!found) {
        return page?.title;
    }
    return found[1];
}

function ownerName(account) {
    if (!account) {
        return account.owner; // FIRES inverted-condition/absent-used
    }
    return '';
}

function quiet_inverted_condition(account) {
    if (account) {
        return account.owner;
    }
    return '';
}

// ---- order ----

function resize(width, height) {
    return areaOf(width, height);
}

function turn(width, height) {
    return resize(height, width); // FIRES swapped-arguments/both
}

function turnWide(limit, height) {
    return resize(height, limit); // FIRES swapped-arguments/names
}

function quiet_swapped_arguments(width, height) {
    return resize(width, height);
}

function copyBox(target, source) {
    target.left = source.left; // FIRES missing-null-check/parameter
    target.right = source.left; // FIRES copied-block/stayed
}

function resetBox(target, left) {
    target.left = left; // FIRES missing-null-check/parameter
    target.right = left; // FIRES copied-block/name
}

function quiet_copied_block(target, source) {
    target.left = source.left; // FIRES missing-null-check/parameter
    target.right = source.right;
}

function removeCache() {
    const file = cacheFile();
    if (fs.existsSync(file)) {
        fs.unlinkSync(file); // FIRES check-use-race/path
    }
}

function putInPlace() {
    fs.unlinkSync(liveFile); // FIRES check-use-race/replaced
    fs.renameSync(freshFile, liveFile);
}

function quiet_check_use_race() {
    const file = cacheFile();
    try {
        fs.unlinkSync(file);
    } catch (error) {
        reportAbsent(file, error);
    }
}

async function takeJob(mutex, jobs) {
    await mutex.acquire(); // FIRES missing-null-check/parameter missing-unlock/early
    if (jobs.length === 0) {
        return null;
    }
    const job = nextJob(jobs);
    mutex.release();
    return job;
}

async function takeAll(mutex, jobs) {
    await mutex.acquire(); // FIRES missing-unlock/path missing-null-check/parameter
    useJobs(jobs);
}

async function quiet_missing_unlock(mutex, jobs) {
    await mutex.acquire(); // FIRES missing-null-check/parameter
    const job = nextJob(jobs);
    mutex.release();
    return job;
}

// ---- results and errors ----

function syncFirst(jobs) {
    if (!syncJobs(jobs)) {
        return -1;
    }
    return 0;
}

function syncSecond(jobs) {
    if (!syncJobs(jobs)) {
        return -2;
    }
    return 0;
}

function syncThird(jobs) {
    syncJobs(jobs); // FIRES unchecked-return/elsewhere
}

function quiet_unchecked_return(jobs) {
    const isSynced = syncJobs(jobs);
    return isSynced ? 0 : -1;
}

function loadPlugins(names) {
    for (const name of names) {
        try {
            loadPlugin(name);
        } catch (error) { // FIRES error-swallowed/empty
        }
    }
}

function quiet_error_swallowed(names) {
    for (const name of names) {
        try {
            loadPlugin(name);
        } catch (error) {
            report(name, error);
        }
    }
}

// ---- secrets ----

function connect() {
    const password = 'hunter2-9f8b'; // FIRES hardcoded-secret/assigned
    return openDatabase(password);
}

const preview = { user: 'preview', password: 'hunter2-9f8b' }; // FIRES hardcoded-secret/member

function quiet_hardcoded_secret_member(given) {
    return { user: 'preview', password: given, tokenName: 'preview-token' };
}

function quiet_hardcoded_secret() {
    const password = process.env.DB_PASSWORD; // FIRES missing-null-check/chain
    return openDatabase(password);
}

function digest(text) {
    return crypto.createHash('md5').update(text).digest('hex'); // FIRES weak-hash/named
}

function quiet_weak_hash(text) {
    return crypto.createHash('sha256').update(text).digest('hex');
}

function ageOfHome() {
    const home = chooseHome();
    return home.age; // FIRES missing-null-check/result-of-any
}

function quiet_missing_null_check_home() {
    const home = chooseHome();
    return home ? home.age : 0;
}

function linkOf(page) {
    return parsePage(page).getAttribute('href'); // FIRES missing-null-check/result-of-call
}

function quiet_missing_null_check_literal(text) {
    return /\n[^\S\r\n]/.test(text) || 'none'.includes(text);
}

// ---- texts that the program itself puts together, and what a request says ----

function findOwnUser(db) {
    return db.get(`select id from users where name = '${ownName()}'`); // FIRES missing-null-check/parameter sql-injection/joined
}

function findOrder(db, number) {
    return db.get(`select * from orders where number = ${number}`); // FIRES missing-null-check/parameter sql-injection/compared
}

function sortedUsers(db, req) {
    return db.all('SELECT name FROM users ORDER BY ' + req.query.order); // FIRES missing-null-check/chain missing-null-check/parameter sql-injection/request
}

function usersWhere(builder) {
    return builder.whereRaw('age > ' + ownAge()); // FIRES missing-null-check/parameter sql-injection/raw
}

function quiet_sql_injection_route(router, cache, uid) {
    router.get(`/users/${uid}`, showUser); // FIRES missing-null-check/parameter
    return cache.get(`user:${uid}`);
}

function archiveOwn() {
    return child_process.execSync(`tar cf backup.tar ${ownFolder()}`); // FIRES shell-injection/command
}

function evaluateOwn() {
    return eval(ownExpression()); // FIRES unsafe-deserialization/call
}

function readNear(folder) {
    return fs.readFileSync(path.join(folder, 'notes.txt')); // FIRES path-traversal/inner
}

function removeNear(folder) {
    const file = path.join(folder, 'notes.txt');
    fs.unlinkSync(file); // FIRES path-traversal/made
}

function moveUpload(req) {
    fs.renameSync(temporaryFile(), path.join(uploads, req.body.name)); // FIRES missing-null-check/chain path-traversal/request path-traversal/second
}

function quiet_path_traversal_own() {
    const file = path.join(__dirname, 'notes.txt');
    return fs.readFileSync(file) + fs.readFileSync(path.join(__dirname, 'pages.txt'));
}

function echo(req, res) {
    res.send('No page ' + req.query.name); // FIRES missing-null-check/chain missing-null-check/parameter unescaped-output/request
}

function showTitle(element, title) {
    element.innerHTML = `<b>${title}</b>`; // FIRES missing-null-check/parameter unescaped-output/inner
}

function addTitle(list, title) {
    list.append('<li>' + title + '</li>'); // FIRES missing-null-check/parameter unescaped-output/markup
}

function quiet_unescaped_output_escaped(res, list, title) {
    list.append('<li>' + escapeHTML(title) + '</li>'); // FIRES missing-null-check/parameter
    process.stdout.write('title: ' + title); // FIRES missing-null-check/chain
}

function connectPlain() {
    const password = 'opensesame'; // FIRES hardcoded-secret/plain
    return openDatabase(password);
}

function plainPreview() {
    return { user: 'preview', password: 'opensesame' }; // FIRES hardcoded-secret/plain-member
}

function quiet_hardcoded_secret_names() {
    return { token: 'comment', adminPassword: 'admin:password', forcePasswordReset: 'admin_users' };
}

function keepPassword(user, password) {
    user.hash = crypto.createHash('md5').update(password).digest('hex'); // FIRES missing-null-check/parameter weak-hash/password
}

function quiet_weak_hash_answer(token, user) {
    let password = user.typed; // FIRES missing-null-check/parameter
    password = md5(token + password);
    const data = { action: 'login', password: password };
    return $.ajax({ url: place, data: data });
}

function answerKept(token, user) {
    user.key = md5(token + user.password); // FIRES missing-null-check/parameter weak-hash/password
    return $.ajax({ url: place, data: { action: 'login' } });
}

function quiet_weak_hash_idForToken(token) {
    return `task-${Math.random()}-${token}`;
}

function tokenForSession(session) {
    return Math.random().toString(36) + session; // FIRES weak-hash/guessed
}

function quiet_weak_hash_token_later(client) {
    setTimeout(client, Math.random() * 1000);
}

function quiet_hardcoded_secret_forMock() {
    return { user: 'preview', password: 'opensesame', token: 'hunter2-9f8b' };
}

function markOf(body) {
    return crypto.createHash('sha1').update(secret + body).digest('hex'); // FIRES weak-hash/secret
}

function newToken() {
    return Math.random().toString(36); // FIRES weak-hash/guessed
}

function quiet_weak_hash_etag(text) {
    const etag = crypto.createHash('md5').update(text).digest('hex');
    return etag + Math.random();
}

function usersNamed(name) {
    const sql = `SELECT id FROM users WHERE name = '${name}'`; // FIRES sql-injection/text-quoted
    return sql;
}

// ---- values that are there, or seem to be ----

function findJob(jobs, id) {
    const job = jobs.find((one) => one.id === id); // FIRES missing-null-check/parameter
    return job.name; // FIRES missing-null-check/found
}

function textOf(page) {
    const title = page.querySelector('h1'); // FIRES missing-null-check/parameter
    return title.textContent; // FIRES missing-null-check/result
}

function titleIf(page, isLong) {
    let title = '';
    if (isLong) {
        title = page.title; // FIRES missing-null-check/later
    }
    if (!page) {
        return '';
    }
    return title;
}

function warmUp(names) {
    try {
        loadPlugins(names);
        checkPlugins();
    } catch (error) // FIRES error-swallowed/silent
    {
    }
}

function warmUpOne(name) {
    try {
        loadPlugin(name);
    } catch (error) // FIRES error-swallowed/silent-one
    {
    }
}

function hangUp() {
    try {
        channel.send(JSON.stringify({ type: 'BYE' }));
        channel.close();
    } catch (error) // FIRES error-swallowed/empty
    {
    }
}

function weightOfAll() {
    let weight = 0;
    const a = peer(1);
    if (a) weight += a.weight;
    const b = peer(2);
    if (b) weight += b.weight;
    const c = peer(3);
    if (c !== null) weight += c.weight;
    const d = peer(4);
    if (d) weight += d.weight;
    const e = peer(5);
    return weight + e.weight; // FIRES missing-null-check/looked-up
}

function shareOf(parts, whole) {
    return whole / parts.length; // FIRES division-by-zero/length missing-null-check/parameter
}

function quiet_division_by_zero_share(parts, whole) {
    if (parts.length === 0) { // FIRES missing-null-check/parameter
        return 0;
    }
    return whole / parts.length;
}

function takeUpTo(prices, last) {
    for (let i = 0; i <= last; i++) { // FIRES off-by-one/at-most
        take(prices[i]); // FIRES missing-null-check/parameter
    }
}

function meanOf(list, whole) {
    return whole / list.size(); // FIRES division-by-zero/count missing-null-check/parameter
}

function meanKept(list, whole) {
    const n = list.size(); // FIRES missing-null-check/parameter
    return whole / n; // FIRES division-by-zero/count-kept
}

function quiet_division_by_zero_kept(list, whole) {
    const n = list.size(); // FIRES missing-null-check/parameter
    return n === 0 ? 0 : whole / n;
}

function markAt(marks, at) {
    if (at > marks.length) { // FIRES missing-null-check/parameter off-by-one/more-own
        return 0;
    }
    return marks[at];
}

// ---- passwords that are there for a while, or that another side asks for ----

function firstAccount(accounts) {
    if (accounts.length === 0) { // FIRES missing-null-check/parameter
        return { user: 'owner', password: 'opensesame' }; // FIRES hardcoded-secret/first-member
    }
    return accounts[0];
}

function encodedBy(scheme, password) {
    switch (scheme) {
    case 'MD5':
        return crypto.createHash('md5').update(password).digest('hex'); // FIRES weak-hash/password-named
    default:
        return slowHash(password);
    }
}

function isAnswer(password, nonce, response) {
    const expected = crypto.createHash('md5').update(password + nonce).digest('hex'); // FIRES weak-hash/password-answer
    return expected === response;
}

function quiet_hardcoded_secret_asked(accounts, password) {
    if (accounts.length === 0) { // FIRES missing-null-check/parameter
        return { user: 'owner', password: password };
    }
    return accounts[0];
}

function quiet_weak_hash_scheme(scheme, password) {
    if (scheme === 'BCRYPT') {
        return slowHash(password);
    }
    return null;
}

function quiet_weak_hash_session_count(day) {
    return day.size * Math.random(); // FIRES missing-null-check/parameter
}

function sessionOfDay(day) {
    return day.size * Math.random(); // FIRES weak-hash/guessed missing-null-check/parameter
}

function quiet_weak_hash_token_parts() {
    return { id: safeText(30), weight: Math.random() };
}

function quiet_weak_hash_fever(user, password) {
    const feverApiKey = md5(`${user}:${password}`);
    return feverApiKey;
}

function keptOf(user, password) {
    const kept = md5(`${user}:${password}`); // FIRES weak-hash/password
    return kept;
}
