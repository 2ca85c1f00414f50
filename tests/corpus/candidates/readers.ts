// readers.ts - what reads texts from outside as more than texts. The marks are those of test_examples.c.
const ldap = ldapjs;

function read(text: string) {
  return libxmljs.parseXml(text, { noent: true }); // FIRES xml-entities/option
}

function quiet_xml_entities_closed(text: string) {
  return libxmljs.parseXml(text, { noent: false, nonet: true });
}

function find(client: Client, login: string) {
  const filter = `(&(objectClass=person)(uid=${login}))`; // FIRES ldap-injection/filter
  return client.list(filter); // FIRES missing-null-check/parameter
}

function findOption(client: Client, login: string) {
  return client.list('ou=people', { filter: `(uid=${login})` }); // FIRES ldap-injection/filter missing-null-check/parameter
}

function findAt(client: Client, login: string) {
  return client.search('(uid=' + login + ')'); // FIRES ldap-injection/search missing-null-check/parameter
}

function quiet_ldap_injection_escaped(client: Client, login: string) {
  const name = escapeFilter(login);
  return client.search(`(uid=${name})`); // FIRES missing-null-check/parameter
}

function asked(req: Request) {
  return new RegExp(req.query.pattern, 'i'); // FIRES regex-injection/request missing-null-check/chain
}

function listed(names: string[], query: string) {
  const wanted = new RegExp(query, 'i'); // FIRES regex-injection/term
  return names.filter((name) => wanted.test(name)); // FIRES missing-null-check/parameter
}

function quiet_regex_injection_escaped(req: Request, names: string[], query: string) {
  const asks = new RegExp(escapeRegExp(req.query.word), 'i'); // FIRES missing-null-check/chain
  const wanted = new RegExp(escapeRegExp(query), 'i');
  return names.filter((name) => wanted.test(name) || asks.test(name)); // FIRES missing-null-check/parameter
}
