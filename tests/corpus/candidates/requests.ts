// Parts of requests where a program takes them for its own. Marks: see test_examples.c.

function condition(query, term) {
  query.andWhere(`name LIKE '%${term}%'`); // FIRES sql-injection/condition missing-null-check/parameter
}

function quiet_sql_injection_bound(query, term) {
  query.andWhere('name LIKE :term', { term }); // FIRES missing-null-check/parameter
}

function byName(db, req) {
  const { name } = req.query; // FIRES missing-null-check/parameter
  return db.query(`SELECT id FROM users WHERE name = '${name}'`); // FIRES sql-injection/request
}

function quiet_sql_injection_escaped(db, req) {
  const { name } = req.query; // FIRES missing-null-check/parameter
  return db.query('SELECT id FROM users WHERE name = ' + db.escape(name));
}

function lookUp(req) {
  return execSync('nslookup ' + req.body.host); // FIRES shell-injection/request missing-null-check/chain
}

function lookUpTyped(asked: express.Request) {
  return execSync('nslookup ' + asked.body.host); // FIRES shell-injection/request missing-null-check/chain
}

function quiet_shell_injection_known(req) {
  const { name } = req.body; // FIRES missing-null-check/parameter
  if (!names.has(name)) {
    return null;
  }
  return start(name);
}

function compute(req) {
  return eval(req.body.formula); // FIRES unsafe-deserialization/request missing-null-check/chain
}

function goOn(req, res) {
  res.redirect(req.query.next); // FIRES open-redirect/request missing-null-check/parameter missing-null-check/chain
}

function goFar(req, res) {
  res.redirect(302, req.body.target); // FIRES open-redirect/request missing-null-check/parameter missing-null-check/chain
}

function quiet_open_redirect_own(req, res) {
  res.redirect('/users/' + req.params.id); // FIRES missing-null-check/parameter missing-null-check/chain
}

function quiet_open_redirect_secure(req, res) {
  res.redirect('https://' + req.headers.host + req.url); // FIRES missing-null-check/parameter missing-null-check/chain
}

function quiet_open_redirect_checked(req, res) {
  const { next } = req.query; // FIRES missing-null-check/parameter
  if (!next.startsWith(home)) {
    return;
  }
  res.redirect(next);
}

function preview(req) {
  const { url } = req.body; // FIRES missing-null-check/parameter
  return axios.get(url); // FIRES request-forgery/request
}

function fetchIt(req) {
  const wanted = req.query.url; // FIRES missing-null-check/chain
  return fetchPage(wanted);
}

function fetchPage(wanted) {
  return fetch(wanted); // FIRES request-forgery/request
}

function quiet_request_forgery_host(req) {
  return axios.get(`https://example.org/users/${req.params.id}`); // FIRES missing-null-check/chain
}

function quiet_request_forgery_base(req) {
  return axios.get(base + '/users/' + req.params.id); // FIRES missing-null-check/chain
}

function quiet_path_traversal_record(store: any, req: any) {
  const id = req.query.id; // FIRES missing-null-check/chain
  store.set(new File({ id: id, name: 'new' })); // FIRES missing-null-check/parameter
}

function download(req, res) {
  const { name } = req.params; // FIRES missing-null-check/parameter
  res.sendFile(path.join(folder, name)); // FIRES path-traversal/request path-traversal/second
}

function answer(req, res) {
  const { name } = req.query; // FIRES missing-null-check/parameter
  res.send('Hello ' + name); // FIRES unescaped-output/request
}

// ---- what is released later, but not on every way out ----

async function nextJob(pool) {
  const client = await pool.connect(); // FIRES resource-leak/closed-later missing-null-check/parameter
  const rows = await client.query('SELECT id FROM jobs'); // FIRES missing-null-check/result-of-any
  if (rows.length === 0) {
    return null;
  }
  client.release();
  return rows[0];
}

async function quiet_resource_leak_released(pool) {
  const client = await pool.connect(); // FIRES missing-null-check/parameter
  const rows = await client.query('SELECT id FROM jobs'); // FIRES missing-null-check/result-of-any
  client.release();
  return rows;
}
