/* test_secret_forms.c - strings that the detectors were not made from, one or more of each form that public detectors
 * describe: what gitleaks' rules and their examples are about (generic-api-key, curl-auth-user, curl-auth-header,
 * hashicorp-tf-password, nuget-config-password, kubernetes-secret-yaml), what detect-secrets' keyword detector takes
 * (a name, then = : := => or nothing, quotes, brackets, @), trufflehog's addresses and connection strings, and the
 * manuals of commands that take a password on their line. The values are invented, none was ever used.
 *
 * hidden   between | and | stands the secret: no byte of it may be left
 * stays    nothing in it is one */
#include "frontend/inspect/secrets/redact.h"
#include "tests/support/check.h"

#include <string.h>

static const char *const hidden[] = {
    /* short values, bare, behind a telling key */
    "password: |hunter2|\n",
    "db_pass: |tr0ub4|\n",
    "  pwd: |Zx9|\n",
    "PASSWORD=|k7!m|\n",
    "export DB_PASSWORD=|Qw3rt|\n",
    "MYSQL_PWD=|sum8er| mysqldump shop > shop.sql\n",
    "PGPASSWORD=|el3phant| psql -h db -U app\n",
    "smtp.password = |x9y8|\n",
    "spring.datasource.password=|R3d|\n",
    "passphrase: |4ever|\n",
    "admin_password: |1234|\n",
    "root_password = |p@ss|\n",
    "user=bob&password=|b0b|&next=/\n",
    /* connection strings */
    "Server=db;Uid=app;Pwd=|Zx9|;Port=3306\n",
    "\"Server=tcp:h,1433;User ID=sa;Password=|Str0ng!|;Encrypt=True\"",
    "jdbc:mysql://h/shop?user=app&password=|a1b2|\n",
    "host=db user=app password=|s3a| dbname=shop\n",
    "amqp://guest:|gu3st|@rabbit:5672/\n",
    "ftp://ana:|fl0r|@files.local/in\n",
    /* an address with a password in it, as the value of a name that says it is secret: all of it, however written */
    "DB_PASSWORD=|postgres://user:pw@host/db|\n",
    "DB_PASSWORD=\"|postgres://user:pw@host/db|\"\n",
    "db_secret: |https://user:abc123@host/x?sig=k9|\n",
    "db_secret: '|https://user:abc123@host/x?sig=k9|'\n",
    "run --db-secret |https://user:abc123@host/x| next",
    "token = \"|://user:pw1@host/db|\"",
    "\"DB_SECRET=|postgres://user:pw1@host/db|\\nNEXT=1\"",
    "webhook_secret = \"|hooks.slack.com/services/T00/B00/XXXXXXXXXXXX1|\"",
    /* as the value of another name: the password, also one with signs that an address should have escaped */
    "DATABASE_URL=postgres://user:|pw|@host/db\n",
    "DATABASE_URL=postgres://user:|wJal/rXUtn|@host/db?mail=a@b\n",
    "url = \"postgres://user:|%40dmin|@host/db\"",
    "url = \"postgres://user:|$ecret!|@host/db\"",
    "url = \"postgres://user:|**a**|@host/db\"",
    "url = \"postgres://user:|{x|@host/db\"",
    "url = \"postgres://user:|it's|@host/db\"",
    "url = \"redis://:|pw1|@host/0\"",
    /* a token in the place of the user */
    "git clone https://|ghp_abcdefghijklmnopqrst0123456789:x-oauth-basic|@github.com/a/b",
    "git clone https://|6da89121079f83b2eb6accc9d2f1:x-oauth-basic|@host/a/b",
    "git clone https://|6da89121079f83b2eb6accc9d2f1:|@host/a/b",
    "dsn: https://|6da89121079f83b2eb6accc9d2f1|@o1.host:8443/1",
    /* values with blanks */
    "pwd: \"|correct horse battery staple|\"\n",
    "passphrase = '|seven green kettles walking|'\n",
    "\"password\": \"|amber violin 42 tractor|\",",
    "db_password: \"|my d0g ate it|\"\n",
    /* quotes, brackets, signs */
    "password := \"|v9k|\"",
    "config['password'] = '|n0pe|'",
    "settings[\"db_password\"] = \"|t1ger|\"",
    ":password => '|ruby5|'",
    ":pwd => '|Zx9|'",
    "pwd := \"|Zx9|\"",
    "char password[] = \"|c4t|\";",
    "NSString *password = @\"|0bjc|\";",
    "$password = \"|php7x|\";",
    "password \"|ngx1nx|\";",
    "<password>|xml1|</password>",
    "<add key=\"ClearTextPassword\" value=\"|nu6et|\" />",
    "administrator_login_password = \"|tf-Gr33n|\"",
    "{\\\"password\\\": \\\"|esc4ped|\\\"}",
    "password=\"|correct-horse-battery-staple|\"",
    /* files of their own forms */
    "machine files.local login ana password |n3trc|\n",
    "db.local:5432:shop:app:|pgp4ss|\n",
    "requirepass |r3dis|\n",
    /* keys and tokens by their name */
    "client_secret = \"|6da89121079f83b2eb6accc|\"",
    "api_key: |c4ed6c21-9dd5-4a05-8e3f-c56d1151cce8|\n",
    "X-Api-Key: |3a16750dd36341a48ebd035408f7730f|\n",
    "Authorization: Token |22cb987851bc5659229114c62e60c79a|\n",
    /* commands */
    "mysql -u root -p|s3cr3t| shop",
    "mysqldump --user=root -p'|du mp 1|' shop",
    "mysql -u root \\\n  -p|s3cr3t| shop",
    "mysql -u root \\\r\n  -p|s3cr3t| shop",
    "mariadb -h db -p|m4ria|",
    "mysqladmin --password=|adm1n| status",
    "curl -u admin:|Sup3r| https://host/x",
    "curl -k --user 'api:|d2LkV|' https://host",
    "curl -s -X POST \\\n  -u dev:|yqDV| https://host",
    "curl -u \"ann:|two words|\" https://host",
    "curl -uadmin:|att4ched| https://host",
    "curl --proxy-user px:|pr0xy| https://host",
    "wget --user=ann --password=|w9t| https://host",
    "$ sshpass -p |ssh3| ssh root@host",
    "sshpass -p'|ssh 4|' scp a b:",
    "redis-cli -h cache -a |r3d| ping",
    "docker login -u ann -p |d0ck| registry.local",
    "docker login --username ann --password |d0ck3r| registry.local",
    "helm registry login r.local -u ann -p |h3lm|",
    "mongosh -u ann -p |m0ng|",
    "ldapsearch -x -D cn=admin -w |ld4p| -b dc=x",
    "smbclient //h/share -U ann%|sm8|",
    "lftp -u ann,|lf7p| sftp://h",
    "sqlcmd -S h -U sa -P |Sq1|",
    "7z a -p|z1p| out.7z in",
    "unzip -P |un2ip| in.zip",
    "openssl pkcs12 -in a.p12 -passin pass:|p12| -nodes",
    "htpasswd -bc .htpasswd ann |ht9|",
    "keytool -list -storepass |st0re|",
    "gpg --batch --passphrase |gp6| -d a.gpg",
    "ipmitool -I lanplus -U adm -P |ip4| power status",
    "mosquitto_pub -u ann -P |m9tt| -t t -m m",
    "snmpget -v3 -u ann -A |auth7p| -X |pr1v| h oid",
    "xfreerdp /v:h /u:ann /p:|rd9|",
};

static const char *const stays[] = {
    /* nothing is given */
    "password: \"\"",
    "password:",
    "password = None",
    "pwd = os.getcwd()",
    "password: ${DB_PASSWORD}",
    "password: {{ vault.db }}",
    "password: <password>",
    "password=$1",
    "password = \"changeme\"",
    "PASSWORD=%PASS%",
    "password: null",
    "password: true\n",
    "passwords: 3 of 8 changed",
    "password_length: 12\n",
    "password_min = 8\n",
    /* addresses without a password */
    "url = postgres://user:$PASS@host/db",
    "url = postgres://$USER:${PASS:-none!}@host/db",
    "url = postgres://user:$(cat /run/pw)@host/db",
    "url = postgres://user:%DB_PASS%@host/db",
    "url = postgres://user:%s@host/db",
    "url = postgres://user:{0}@host/db",
    "url = postgres://user:***@host/db",
    "url = postgres://user:@host/db",
    "http://host:8080/x@y",
    "http://localhost:${PORT}/a@b",
    "http://[::1]:80/x@y",
    "ssh://git@host:org/repo@v1",
    "https://ann@example.org:8080/a@b",
    "file://C:/Users/a@b",
    /* words about a password */
    "\"password\": \"Enter your password\"",
    "password: \"Your password is required\"",
    "password_label = \"New password\"",
    "\"password\": \"The password of the account\"",
    "password: \"Forgot password?\"",
    "pwd: \"Please enter at least 8 characters\"",
    "raise ValueError(\"password: must have a digit\")",
    "# password: see the vault",
    "the password: ask Ann",
    "password: string",
    "password: string;",
    "password: String,",
    "password: Optional[str] = None",
    "password: required\n",
    "password = request.form[\"password\"]",
    "password = input()",
    "password = args.password",
    "login(username=username, password=password)",
    "func auth(user, password string) error",
    "if password != stored {",
    "my_password = foo(hey)you",
    "open(self, password = \"\"):",
    "$password = $input;",
    "apiKey: this.apiKey,",
    "apiKey: fs.readFileSync('foo',",
    "pass = 0;",
    "tests: 12 pass: 12 fail: 0",
    "pass: 2 of 3\n",
    "pass 1\n",
    "pass2 = run()",
    "first pass: parse\n",
    "pwd\n",
    "cd $(pwd)/src\n",
    "PWD=/home/ann/src\n",
    "OLDPWD=/srv/app2\n",
    "pw: pipewire",
    "secret santa: ann",
    "token: identifier\n",
    "token = next_token()",
    "key: value",
    "primary key: id",
    "auth: none\n",
    "author: Ann Lee 2",
    "password hashing: bcrypt",
    "passwd: files systemd\n",
    "bypass=\"route2\"",
    /* commands without a value */
    "mysql -u root -p",
    "mysql -u root -p shop",
    "mysql -P3306 -u root",
    "mysql --port=3306 --protocol=tcp",
    "mkdir -p a/b",
    "curl -u \"$USER:$PASS\" https://host",
    "curl -u ${U}:${P} https://host",
    "curl -u ann https://host",
    "curl -u user:password https://host",
    "curl -u <user>:<password> https://host",
    "curl -X POST -u \"$(id):$(pw)\" h",
    "nc -u -l 41234",
    "docker run -p 8080:80 web",
    "docker run -u 1000:1000 web",
    "ssh -p 2222 host",
    "ps -p 1234",
    "redis-cli -a \"$REDIS\" ping",
    "sshpass -p \"$PW\" ssh h",
    "sshpass -f pw.txt ssh h",
    "cp -p a1 b2",
    "tar -xzp a1.tgz",
    "zip -r out.zip in",
    "7z x in.7z",
    "unzip -p in.zip a.txt",
    "openssl rsa -passin env:KEYPASS -in k",
    "openssl req -passout stdin",
    "htpasswd -c .htpasswd ann",
    "docker login -u ann --password-stdin r.local",
    "grep -w word2 file",
    "ls -A dir2",
    "chmod -R u+w,g-w a1",
    "git commit -a -m fix2",
    "python -u a1.py",
    "useradd -u 1001:1001 ann",
    "the flag -p takes a value2",
    "mysql is fast; -p3 is not a flag of it",
    "mysql -u root\ncc -ps3cr3t\n",
    "mysql -u root\r\ncc -ps3cr3t\r\n",
    /* seen in the wild */
    "return hmac.HMAC(pwd, challenge, 'md5').hexdigest()",
    "check(pwd, \"md5\")",
    "if self.challenge[\"pw-algorithm\"] == \"MD5\":",
    "proxy_url=\"socks5h://<username>:<password>@proxy-host\"",
    "require(len(set(password)) >= 5, \"password\", \"repeats too few characters\")",
    /* what stands in code and looks alike */
    "x = a ? password : other2",
    "case PASSWORD: return 7;",
    "for (pass = 0; pass < 2; pass++)",
    "enum { PASS = 1, FAIL = 2 };",
    "assert password_ok(p1)",
    "const passwordField2 = useRef()",
    "import { password } from './prompt2'",
    "std::string password; // 2 fields",
    "password.length >= 8",
    "db.local:5432/shop",
    "10:20:30:40:50\n",
    "a:b:c:d:e\n",
};

/* ---- */

static char out[2048];
static size_t n_out;

static void put(void *user, const char *text, size_t len, bool is_placeholder)
{
    (void)user;
    (void)is_placeholder;
    assert_true(n_out + len < sizeof(out));
    memcpy(out + n_out, text, len);
    out[n_out += len] = '\0';
}

/* The text without its marks, redacted: what is left of it in `out`. */
static void redact(const char *text, size_t n)
{
    n_out = 0;
    out[0] = '\0';
    myth_redact_text(NULL, text, n, put, NULL);
}

static void every_form_is_hidden(void **state)
{
    uint32_t n_left = 0, n_secret = 0;
    (void)state;
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
        char text[512], want[1024];
        size_t n = 0, n_want = 0;
        bool is_inside = false;
        for (const char *p = hidden[i]; *p; p++) {
            if (*p == '|') {
                is_inside = !is_inside;
                n_secret += is_inside;
                if (is_inside)
                    want[n_want++] = '|';
            } else {
                text[n++] = *p;
                if (!is_inside)
                    want[n_want++] = *p;
            }
        }
        want[n_want] = '\0';
        assert_false(is_inside);
        redact(text, n);
        /* what stands around the secrets is there as it was, and one placeholder for each */
        const char *at = out, *w = want;
        bool ok = true;
        while (ok && *w) {
            if (*w == '|') {
                const char *end = strncmp(at, "[REDACTED:", 10) == 0 ? strchr(at, ']') : NULL;
                ok = end != NULL;
                at = ok ? end + 1 : at;
                w++;
            } else {
                ok = *at++ == *w++;
            }
        }
        if (!ok || *at) {
            print_error("%s\n  is shown as: %s\n", hidden[i], out);
            n_left++;
        }
    }
    printf("%u secrets in %zu strings\n", n_secret, sizeof(hidden) / sizeof(hidden[0]));
    assert_int_equal(n_left, 0);
}

static void innocent_strings_stay(void **state)
{
    uint32_t n_hidden = 0;
    (void)state;
    for (size_t i = 0; i < sizeof(stays) / sizeof(stays[0]); i++) {
        redact(stays[i], strlen(stays[i]));
        if (strcmp(out, stays[i]) != 0) {
            print_error("%s\n  is shown as: %s\n", stays[i], out);
            n_hidden++;
        }
    }
    printf("%zu innocent strings\n", sizeof(stays) / sizeof(stays[0]));
    assert_int_equal(n_hidden, 0);
}

/* A name with digits of a short secret would tell it: whoever guesses it has the digits to compare with. */
static void a_short_secret_has_no_digest(void **state)
{
    (void)state;
    static const char text[] = "password = \"violin amber 42 tractor meadow\"";
    redact("password: hunter2\n", 18);
    assert_string_equal(out, "password: [REDACTED:password:short]\n");
    redact("password = \"hunter2\"", 20);
    assert_string_equal(out, "password = \"[REDACTED:password:short]\"");
    redact(text, sizeof(text) - 1);
    assert_non_null(strstr(out, "[REDACTED:password:"));
    assert_null(strstr(out, ":short]"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_is_hidden),
        cmocka_unit_test(innocent_strings_stay),
        cmocka_unit_test(a_short_secret_has_no_digest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
