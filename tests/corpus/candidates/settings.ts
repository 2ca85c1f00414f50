// settings.ts - protections that are switched off or protect nothing, and settings beside them that are right. The
// marks are those of test_examples.c.

function agentOfShop() {
    return new https.Agent({ keepAlive: true, rejectUnauthorized: false }); // FIRES certificate-check/reject
}

function openShop(options: any) {
    options.rejectUnauthorized = false; // FIRES certificate-check/reject-set missing-null-check/options
    return tls.connect(options);
}

function begin() {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; // FIRES certificate-check/process missing-null-check/chain
}

function quiet_certificate_check_agents(options: any, isStrict: any) {
    if (options.insecure) { // FIRES missing-null-check/options
        options.rejectUnauthorized = false;
    }
    return new https.Agent({ rejectUnauthorized: isStrict });
}

function quiet_certificate_check_dev(ca: any) {
    const agent = new https.Agent({ ca, rejectUnauthorized: true });
    return process.env.NODE_ENV !== 'production' ? new https.Agent({ rejectUnauthorized: false }) : agent; // FIRES missing-null-check/chain
}

function userOf(req: any) {
    const token = req.headers.authorization; // FIRES missing-null-check/chain
    const claims = jwt.decode(token); // FIRES unverified-token/decoded
    return claims.sub; // FIRES missing-null-check/result-of-any
}

function claimsOf(token: any, key: any) {
    return jwt.verify(token, key, { algorithms: ['none', 'HS256'] }); // FIRES unverified-token/none
}

function quiet_unverified_token_kid(req: any, keys: any) {
    const token = req.headers.authorization; // FIRES missing-null-check/chain
    const head = jwt.decode(token, { complete: true }).header;
    return jwt.verify(token, keys[head.kid], { algorithms: ['RS256'] }); // FIRES missing-null-check/parameter missing-bounds-check/element
}

function quiet_unverified_token_expiry(token: any) {
    return jwt.decode(token).exp;
}

function sealBlocks(key: any, text: any) {
    return crypto.createCipheriv('aes-128-ecb', key, null).update(text); // FIRES weak-cipher/named
}

function sealOld(word: any, text: any) {
    return crypto.createCipher('aes192', word).update(text); // FIRES weak-cipher/no-iv
}

function sealNote(text: any, key: any) {
    return CryptoJS.AES.encrypt(text, key, { mode: CryptoJS.mode.ECB }); // FIRES weak-cipher/ecb missing-null-check/chain
}

function sealWord(text: any, key: any) {
    return CryptoJS.DES.encrypt(text, key); // FIRES weak-cipher/call missing-null-check/chain
}

function sealLetter(key: any, text: any) {
    const start = Buffer.alloc(16, 0);
    return crypto.createCipheriv('aes-256-cbc', key, start).update(text); // FIRES weak-cipher/fixed-iv
}

function quiet_weak_cipher_start(key: any, text: any, word: any) {
    const start = crypto.randomBytes(16);
    const filled = Buffer.alloc(16);
    crypto.randomFillSync(filled);
    crypto.createCipheriv('aes-256-cbc', key, Buffer.from(word, 'hex'));
    crypto.createCipheriv('aes-256-gcm', key, filled);
    return crypto.createCipheriv('aes-256-gcm', key, start).update(text);
}

function shareFolder(path: any) {
    fs.chmodSync(path, 0o777); // FIRES open-permissions/chmod
}

function quiet_open_permissions_modes(path: any, mode: any) {
    fs.chmodSync(path, 0o755);
    fs.chmodSync(path, mode);
}

const SECRET = process.env.JWT_SECRET || 'not-so-long'; // FIRES hardcoded-secret/fallback missing-null-check/chain

function signClaims(claims: any) {
    return jwt.sign(claims, 'what-we-sign-by', { expiresIn: '1h' }); // FIRES hardcoded-secret/signs
}

function openSessions(app: any) {
    app.use(session({ secret: 'cat', resave: false })); // FIRES hardcoded-secret/session-key missing-null-check/parameter
}

function quiet_hardcoded_secret_sessions(app: any, own: any) {
    app.use(session({ secret: own, resave: false })); // FIRES missing-null-check/parameter
}

const hookKey = 'what-hooks-use';

function signHook(body: any) {
    return crypto.createHmac('sha256', hookKey).update(body).digest('hex'); // FIRES hardcoded-secret/hmac
}

function quiet_hardcoded_secret_given(claims: any, key: any, body: any) {
    const name = process.env.SECRET_NAME || 'name-of-it'; // FIRES missing-null-check/chain
    const own = process.env.JWT_SECRET || '';
    crypto.createHmac('sha256', 'WebData').update(body);
    crypto.createHmac('sha256', key).update(body + name + own);
    return jwt.sign(claims, key);
}

function invite(user: any) {
    user.accessToken = Math.random().toString(36); // FIRES weak-hash/guessed-value missing-null-check/parameter
    return user;
}

function quiet_weak_hash_colour(user: any) {
    user.colour = Math.random().toString(36); // FIRES missing-null-check/parameter
    user.accessToken = crypto.randomUUID();
    return user;
}
