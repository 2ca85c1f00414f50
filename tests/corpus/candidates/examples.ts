// examples.ts - for each row of the rules about TypeScript a function in which it finds a place, marked at the end of
// its line, and for each rule one in which the same call or construct is harmless.
import * as child_process from 'child_process';
import * as crypto from 'crypto';
import * as fs from 'fs';
import * as path from 'path';

// ---- bounds and numbers ----

function dayName(names: string[], day: number) {
    return names[day]; // FIRES missing-bounds-check/element missing-null-check/parameter
}

function readDigits(source: Box, digits: string[]) {
    let at = 0;
    while (source.ready()) { // FIRES missing-null-check/parameter
        digits[at] = source.next(); // FIRES missing-bounds-check/index-loop
        at++;
    }
}

function quiet_missing_bounds_check(names: string[], day: number) {
    if (day < 0 || day >= names.length) { // FIRES missing-null-check/parameter
        return null;
    }
    return names[day];
}

function total(prices: number[]) {
    let sum: number = 0;
    for (let i = 0; i <= prices.length; i++) { // FIRES missing-null-check/parameter off-by-one/behind
        sum += prices[i];
    }
    return sum;
}

function seek(cursor: Cursor, buffer: Buffer) {
    const at = cursor.position(); // FIRES missing-null-check/parameter
    if (at > buffer.length) { // FIRES off-by-one/more
        return null;
    }
    return cursor.read(at);
}

function quiet_off_by_one(prices: number[]) {
    let sum: number = 0;
    for (let i = 0; i < prices.length; i++) { // FIRES missing-null-check/parameter
        sum += prices[i];
    }
    return sum;
}

function mean(sum: number, count: number) {
    return sum / count; // FIRES division-by-zero/divisor
}

function mean(cart: number[]) {
    return total(cart) / itemCount(cart); // FIRES division-by-zero/result
}

function share(all: number[]) {
    let had = 0;
    for (const n of all) {
        had += n;
    }
    return 1 / had; // FIRES division-by-zero/divisor
}

function quiet_division_by_zero_result(cart: number[]) {
    if (itemCount(cart) === 0) {
        return 0;
    }
    return total(cart) / itemCount(cart);
}

function quiet_division_by_zero(sum: number, count: number) {
    if (count === 0) {
        return 0;
    }
    return sum / count + sum / 2;
}

// ---- texts ----

function findUser(db: Database, name: string) {
    return db.query("select id from users where name = '" + name + "'"); // FIRES missing-null-check/parameter sql-injection/quoted
}

function usersBy(column: string) {
    const sql = `SELECT name FROM users ORDER BY ${column}`; // FIRES sql-injection/text
    return sql;
}

function quiet_sql_injection_text(name: string) {
    const line = 'Select a user, or write ' + name;
    return line;
}

function quiet_sql_injection(db: Database, name: string) {
    return db.query('select id from users where name = ?', [name]); // FIRES missing-null-check/parameter
}

function archive(folder: string) {
    return child_process.execSync(`tar cf backup.tar ${folder}`); // FIRES shell-injection/given
}

function quiet_shell_injection(folder: string) {
    return child_process.execFileSync('tar', ['cf', 'backup.tar', folder]);
}

function evaluate(expression: string) {
    return eval(expression); // FIRES unsafe-deserialization/given
}

function quiet_unsafe_deserialization(text: string) {
    return JSON.parse(text);
}

function readPage(name: string) {
    return fs.readFileSync('pages/' + name, 'utf8'); // FIRES path-traversal/joined
}

function fileOf(root: string, request: Request) {
    return path.join(root, request.url); // FIRES missing-null-check/parameter path-traversal/second
}

function readUpload(folder: string, request: Request) {
    return fs.readFileSync(path.resolve(folder, request.url)); // FIRES missing-null-check/parameter path-traversal/request path-traversal/second
}

function removeUpload(request: Request) {
    const file = decodeURIComponent(request.url); // FIRES missing-null-check/parameter
    fs.unlinkSync(file); // FIRES path-traversal/request
}

function quiet_path_traversal() {
    return fs.readFileSync(settingsPath('settings.json'), 'utf8') + path.join(__dirname, 'pages');
}

function greet(response: Response, name: string) {
    response.send('<b>Hello ' + name + '</b>'); // FIRES missing-null-check/parameter unescaped-output/call
}

function showName(element: HTMLElement, name: string) {
    element.innerHTML = name; // FIRES missing-null-check/parameter unescaped-output/property
}

function quiet_unescaped_output(response: Response, element: HTMLElement, name: string) {
    element.textContent = name; // FIRES missing-null-check/parameter
    response.send('<b>Hello</b>');
}

// ---- resources ----

function goodbye(socket: WebSocket) {
    socket.close(); // FIRES missing-null-check/parameter
    socket.send('bye'); // FIRES use-after-free/closed
}

function quiet_use_after_free(socket: WebSocket) {
    socket.send('bye'); // FIRES missing-null-check/parameter
    socket.close();
}

function firstBytes(size: number) {
    const fd = fs.openSync('/etc/motd', 'r'); // FIRES resource-leak/file
    const bytes = Buffer.alloc(size);
    fs.readSync(fd, bytes, 0, size, 0);
    return bytes;
}

function quiet_resource_leak(size: number) {
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

function versionOf(text: string) {
    const found = text.match(/(\d+)\.(\d+)/); // FIRES missing-null-check/parameter
    return found[1]; // FIRES missing-null-check/match
}

function titleOf(page: Page) {
    const title = page.title; // FIRES missing-null-check/used-first
    if (!page) {
        return '';
    }
    return title;
}

function childLabel(node: TreeNode) {
    if (!node.child) { // FIRES missing-null-check/parameter
        return '';
    }
    return node.child.label;
}

function isLeaf(node: TreeNode) {
    return node.child === null; // FIRES missing-null-check/parameter
}

function childLabels(node: TreeNode) {
    return node.child.label + 's'; // FIRES missing-null-check/field
}

function nextLabel(node: TreeNode) {
    if (node.next) { // FIRES missing-null-check/parameter
        return node.next.label;
    }
    return '';
}

function skipOne(node: TreeNode) {
    node.label = node.next.label; // FIRES missing-null-check/field-sometimes missing-null-check/parameter
}

function skipTwo(node: TreeNode) {
    node.size = node.next.size; // FIRES missing-null-check/field-sometimes missing-null-check/parameter
}

function labelOf(node: TreeNode, isLong: boolean) {
    let text: string = '';
    if (node) {
        text = 'node';
    }
    if (isLong) {
        text += node.label; // FIRES missing-null-check/other-branch
    }
    return text;
}

function retriesOf(options: Options) {
    return options.retries; // FIRES missing-null-check/options
}

function resetLabel() {
    const node: TreeNode = null;
    return node.label; // FIRES missing-null-check/null
}

function quiet_missing_null_check_options(options: Options) {
    return options ? options.retries : 0;
}

function quiet_missing_null_check(text: string, page: Page) {
    if (!text) {
        return '';
    }
    const found = text.match(/(\d+)\.(\d+)/);
    if (!found) {
        return page?.title;
    }
    return found[1];
}

function ownerName(account: Account) {
    if (!account) {
        return account.owner; // FIRES inverted-condition/absent-used
    }
    return '';
}

function quiet_inverted_condition(account: Account) {
    if (account) {
        return account.owner;
    }
    return '';
}

// ---- order ----

function resize(width: number, height: number) {
    return areaOf(width, height);
}

function turn(width: number, height: number) {
    return resize(height, width); // FIRES swapped-arguments/both
}

function turnWide(limit: number, height: number) {
    return resize(height, limit); // FIRES swapped-arguments/names
}

function quiet_swapped_arguments(width: number, height: number) {
    return resize(width, height);
}

function copyBox(target: Box, source: Box) {
    target.left = source.left; // FIRES missing-null-check/parameter
    target.right = source.left; // FIRES copied-block/stayed
}

function resetBox(target: Box, left: Box) {
    target.left = left; // FIRES missing-null-check/parameter
    target.right = left; // FIRES copied-block/name
}

function quiet_copied_block(target: Box, source: Box) {
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
    } catch (error: unknown) {
        reportAbsent(file, error);
    }
}

async function takeJob(mutex: Mutex, jobs: string[]) {
    await mutex.acquire(); // FIRES missing-null-check/parameter missing-unlock/early
    if (jobs.length === 0) {
        return null;
    }
    const job = nextJob(jobs);
    mutex.release();
    return job;
}

async function takeAll(mutex: Mutex, jobs: string[]) {
    await mutex.acquire(); // FIRES missing-unlock/path missing-null-check/parameter
    useJobs(jobs);
}

async function quiet_missing_unlock(mutex: Mutex, jobs: string[]) {
    await mutex.acquire(); // FIRES missing-null-check/parameter
    const job = nextJob(jobs);
    mutex.release();
    return job;
}

// ---- results and errors ----

function syncFirst(jobs: string[]) {
    if (!syncJobs(jobs)) {
        return -1;
    }
    return 0;
}

function syncSecond(jobs: string[]) {
    if (!syncJobs(jobs)) {
        return -2;
    }
    return 0;
}

function syncThird(jobs: string[]) {
    syncJobs(jobs); // FIRES unchecked-return/elsewhere
}

function quiet_unchecked_return(jobs: string[]) {
    const isSynced = syncJobs(jobs);
    return isSynced ? 0 : -1;
}

function loadPlugins(names: string[]) {
    for (const name of names) {
        try {
            loadPlugin(name);
        } catch (error: unknown) { // FIRES error-swallowed/empty
        }
    }
}

function quiet_error_swallowed(names: string[]) {
    for (const name of names) {
        try {
            loadPlugin(name);
        } catch (error: unknown) {
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

function quiet_hardcoded_secret_member(given: string) {
    return { user: 'preview', password: given, tokenName: 'preview-token' };
}

function quiet_hardcoded_secret() {
    const password = process.env.DB_PASSWORD; // FIRES missing-null-check/chain
    return openDatabase(password);
}

function digest(text: string) {
    return crypto.createHash('md5').update(text).digest('hex'); // FIRES weak-hash/named
}

function quiet_weak_hash(text: string) {
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

function linkOf(page: string) {
    return parsePage(page).getAttribute('href'); // FIRES missing-null-check/result-of-call
}

function quiet_missing_null_check_literal(text: string) {
    return /\n[^\S\r\n]/.test(text) || 'none'.includes(text);
}

// ---- texts that the program itself puts together, and what a request says ----

function findOwnUser(db: any) {
    return db.get(`select id from users where name = '${ownName()}'`); // FIRES missing-null-check/parameter sql-injection/joined
}

function findOrder(db: any, number: any) {
    return db.get(`select * from orders where number = ${number}`); // FIRES missing-null-check/parameter sql-injection/compared
}

function sortedUsers(db: any, req: any) {
    return db.all('SELECT name FROM users ORDER BY ' + req.query.order); // FIRES missing-null-check/chain missing-null-check/parameter sql-injection/request
}

function usersWhere(builder: any) {
    return builder.whereRaw('age > ' + ownAge()); // FIRES missing-null-check/parameter sql-injection/raw
}

function quiet_sql_injection_route(router: any, cache: any, uid: any) {
    router.get(`/users/${uid}`, showUser); // FIRES missing-null-check/parameter
    return cache.get(`user:${uid}`);
}

function archiveOwn() {
    return child_process.execSync(`tar cf backup.tar ${ownFolder()}`); // FIRES shell-injection/command
}

function evaluateOwn() {
    return eval(ownExpression()); // FIRES unsafe-deserialization/call
}

function readNear(folder: any) {
    return fs.readFileSync(path.join(folder, 'notes.txt')); // FIRES path-traversal/inner
}

function removeNear(folder: any) {
    const file = path.join(folder, 'notes.txt');
    fs.unlinkSync(file); // FIRES path-traversal/made
}

function moveUpload(req: any) {
    fs.renameSync(temporaryFile(), path.join(uploads, req.body.name)); // FIRES missing-null-check/chain path-traversal/request path-traversal/second
}

function quiet_path_traversal_own() {
    const file = path.join(__dirname, 'notes.txt');
    return fs.readFileSync(file) + fs.readFileSync(path.join(__dirname, 'pages.txt'));
}

function echo(req: any, res: any) {
    res.send('No page ' + req.query.name); // FIRES missing-null-check/chain missing-null-check/parameter unescaped-output/request
}

function showTitle(element: any, title: any) {
    element.innerHTML = `<b>${title}</b>`; // FIRES missing-null-check/parameter unescaped-output/inner
}

function addTitle(list: any, title: any) {
    list.append('<li>' + title + '</li>'); // FIRES missing-null-check/parameter unescaped-output/markup
}

function quiet_unescaped_output_escaped(res: any, list: any, title: any) {
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

function keepPassword(user: any, password: any) {
    user.hash = crypto.createHash('md5').update(password).digest('hex'); // FIRES missing-null-check/parameter weak-hash/password
}

function quiet_weak_hash_answer(token: any, user: any) {
    let password = user.typed; // FIRES missing-null-check/parameter
    password = md5(token + password);
    const data = { action: 'login', password: password };
    return $.ajax({ url: place, data: data });
}

function answerKept(token: any, user: any) {
    user.key = md5(token + user.password); // FIRES missing-null-check/parameter weak-hash/password
    return $.ajax({ url: place, data: { action: 'login' } });
}

function quiet_weak_hash_idForToken(token: any) {
    return `task-${Math.random()}-${token}`;
}

function tokenForSession(session: any) {
    return Math.random().toString(36) + session; // FIRES weak-hash/guessed
}

function quiet_weak_hash_token_later(client: any) {
    setTimeout(client, Math.random() * 1000);
}

function quiet_hardcoded_secret_forMock() {
    return { user: 'preview', password: 'opensesame', token: 'hunter2-9f8b' };
}

function markOf(body: any) {
    return crypto.createHash('sha1').update(secret + body).digest('hex'); // FIRES weak-hash/secret
}

function newToken() {
    return Math.random().toString(36); // FIRES weak-hash/guessed
}

function quiet_weak_hash_etag(text: any) {
    const etag = crypto.createHash('md5').update(text).digest('hex');
    return etag + Math.random();
}

function usersNamed(name: any) {
    const sql = `SELECT id FROM users WHERE name = '${name}'`; // FIRES sql-injection/text-quoted
    return sql;
}

// ---- values that are there, or seem to be ----

function findJob(jobs: Job[], id: number) {
    const job = jobs.find((one: Job) => one.id === id); // FIRES missing-null-check/parameter
    return job.name; // FIRES missing-null-check/found
}

function textOf(page: Element) {
    const title = page.querySelector('h1'); // FIRES missing-null-check/parameter
    return title.textContent; // FIRES missing-null-check/result
}

function titleIf(page: Page, isLong: boolean) {
    let title = '';
    if (isLong) {
        title = page.title; // FIRES missing-null-check/later
    }
    if (!page) {
        return '';
    }
    return title;
}

function warmUp(names: string[]) {
    try {
        loadPlugins(names);
        checkPlugins();
    } catch (error) // FIRES error-swallowed/silent
    {
    }
}

function warmUpOne(name: string) {
    try {
        loadPlugin(name);
    } catch (error) // FIRES error-swallowed/silent-one
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

function shareOf(parts: number[], whole: number) {
    return whole / parts.length; // FIRES division-by-zero/length missing-null-check/parameter
}

function quiet_division_by_zero_share(parts: number[], whole: number) {
    if (parts.length === 0) { // FIRES missing-null-check/parameter
        return 0;
    }
    return whole / parts.length;
}

function takeUpTo(prices: number[], last: number) {
    for (let i = 0; i <= last; i++) { // FIRES off-by-one/at-most
        take(prices[i]); // FIRES missing-null-check/parameter
    }
}

function meanOf(list: List, whole: number) {
    return whole / list.size(); // FIRES division-by-zero/count missing-null-check/parameter
}

function meanKept(list: List, whole: number) {
    const n = list.size(); // FIRES missing-null-check/parameter
    return whole / n; // FIRES division-by-zero/count-kept
}

function quiet_division_by_zero_kept(list: List, whole: number) {
    const n = list.size(); // FIRES missing-null-check/parameter
    return n === 0 ? 0 : whole / n;
}

function markAt(marks: number[], at: number) {
    if (at > marks.length) { // FIRES missing-null-check/parameter off-by-one/more-own
        return 0;
    }
    return marks[at];
}

// ---- passwords that are there for a while, or that another side asks for ----

function firstAccount(accounts: any) {
    if (accounts.length === 0) { // FIRES missing-null-check/parameter
        return { user: 'owner', password: 'opensesame' }; // FIRES hardcoded-secret/first-member
    }
    return accounts[0];
}

function encodedBy(scheme: any, password: any) {
    switch (scheme) {
    case 'MD5':
        return crypto.createHash('md5').update(password).digest('hex'); // FIRES weak-hash/password-named
    default:
        return slowHash(password);
    }
}

function isAnswer(password: any, nonce: any, response: any) {
    const expected = crypto.createHash('md5').update(password + nonce).digest('hex'); // FIRES weak-hash/password-answer
    return expected === response;
}

function quiet_hardcoded_secret_asked(accounts: any, password: any) {
    if (accounts.length === 0) { // FIRES missing-null-check/parameter
        return { user: 'owner', password: password };
    }
    return accounts[0];
}

function quiet_weak_hash_scheme(scheme: any, password: any) {
    if (scheme === 'BCRYPT') {
        return slowHash(password);
    }
    return null;
}

function quiet_weak_hash_session_count(day: any) {
    return day.size * Math.random(); // FIRES missing-null-check/parameter
}

function sessionOfDay(day: any) {
    return day.size * Math.random(); // FIRES weak-hash/guessed missing-null-check/parameter
}

function quiet_weak_hash_token_parts() {
    return { id: safeText(30), weight: Math.random() };
}

function quiet_weak_hash_fever(user: any, password: any) {
    const feverApiKey = md5(`${user}:${password}`);
    return feverApiKey;
}

function keptOf(user: any, password: any) {
    const kept = md5(`${user}:${password}`); // FIRES weak-hash/password
    return kept;
}
