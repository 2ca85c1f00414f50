# examples.py - for each row of the rules about Python a function in which it finds a place, marked at the end of its
# line, and for each rule one in which the same call or construct is harmless.
import hashlib
import os
import pickle
import random
import re
import secrets
import socket
import subprocess
import sys
import threading

import yaml
from markupsafe import Markup

lock = threading.Lock()


# ---- bounds and numbers ----


def day_name(names, day):
    return names[day]  # FIRES missing-bounds-check/element


def second_of(line):
    parts = line.split(" or ")
    return parts[1]  # FIRES missing-bounds-check/part missing-null-check/result-of-any


def second_or_all(line):
    if " or " in line:
        line = second_of(line)
    return line


def third_of(line):
    parts = line.split(" and ")
    return parts[1]  # FIRES missing-bounds-check/part-taken missing-null-check/result-of-any


def third_or_all(line):
    if " or " in line:
        line = third_of(line)
    return line


def domain_of(address):
    parts = address.split("@")
    return parts[1]  # FIRES missing-bounds-check/part-taken missing-null-check/result-of-any


def input_name():
    return sys.argv[1] # FIRES missing-bounds-check/arguments


def quiet_missing_bounds_check_part(address):
    parts = address.split("@")
    if len(parts) < 2:
        return ""
    return parts[1]


def quiet_missing_bounds_check(names, day):
    if day >= len(names):
        return None
    return names[day]


def total_of(prices):
    total = at = 0
    while at <= len(prices):  # FIRES off-by-one/at-most-own
        total += prices[at]
        at += 1
    return total


def seek(source, data):
    at = source.tell()
    if at > len(data):  # FIRES off-by-one/more-size
        return None
    return byte_at(data, at)


def quiet_off_by_one(prices):
    total = at = 0
    while at < len(prices):
        total += prices[at]
        at += 1
    return total


def mean(values, total):
    count = measure(values)
    return total / count  # FIRES division-by-zero/divisor


def mean_of(values):
    return sum(values) / len(values)  # FIRES division-by-zero/count


def mean_later(values):
    total = 0
    for value in values:
        total += value
    n = 0
    n += len(values)
    return total / n  # FIRES division-by-zero/divisor


def quiet_division_by_zero_result(values):
    if not values:
        return 0
    return sum(values) / len(values)


def quiet_division_by_zero(values, total):
    count = measure(values)
    if count == 0:
        return 0.0
    return total / count + total / 2


# ---- texts ----


def find_user(db, name):
    return db.execute("select id from users where name = '" + name + "'")  # FIRES sql-injection/quoted


def find_order(db, number):
    return db.execute("select * from orders where number = {}".format(number))  # FIRES sql-injection/compared


def find_item(db, number):
    statement = "select * from items where number = {}".format(number)
    return db.execute(statement)  # FIRES sql-injection/compared


def users_by(column):
    sql = "SELECT name FROM users ORDER BY " + column  # FIRES sql-injection/text
    return sql


def avatar_path(folder, filename):
    return os.path.join(folder, filename)  # FIRES path-traversal/second


def quiet_sql_injection_text(name):
    line = "Select a user, or write " + name
    return line


def quiet_sql_injection(db, name):
    return db.execute("select id from users where name = ?", (name,))


def archive(folder):
    return os.system("tar cf backup.tar " + folder)  # FIRES shell-injection/given


def convert(source):
    command = f"convert {source} out.png"
    return subprocess.run(command, shell=True, check=True)  # FIRES shell-injection/given-shell


def quiet_shell_injection(source):
    if os.system("sync") != 0:
        return None
    return subprocess.run(["convert", source, "out.png"], check=True)


def load_session(request):
    return pickle.loads(request.body)  # FIRES unsafe-deserialization/request


def read_settings(text):
    return yaml.load(text)  # FIRES unsafe-deserialization/yaml


def quiet_unsafe_deserialization(text):
    return yaml.load(text, Loader=yaml.SafeLoader)


def read_page(name):
    with open("pages/" + name) as source:  # FIRES path-traversal/joined
        return source.read()


def download(folder, name):
    with open(os.path.join(folder, name), "rb") as source: # FIRES path-traversal/inner
        return source.read()


def remove_upload(folder, name):
    target = os.path.join(folder, name)
    os.remove(target)  # FIRES path-traversal/made


def read_text(path):
    with open(path) as source:  # FIRES path-traversal/parameter
        return source.read()


def quiet_path_traversal():
    with open("settings.ini") as source:
        return source.read()


def greeting(name):
    return Markup("<b>Hello " + name + "</b>")  # FIRES unescaped-output/markup


def welcome(name):
    return HttpResponse("<b>Welcome " + name + "</b>")  # FIRES unescaped-output/answer


def quiet_unescaped_output(name):
    return HttpResponse(Markup("<b>Hello</b>") + escape(name))


# ---- resources ----


def serve_once(handler):
    listener = bound_socket()
    listener.close() # FIRES missing-null-check/result-of-any
    listener.settimeout(1)  # FIRES use-after-free/closed
    return handler


def quiet_use_after_free(handler):
    listener = bound_socket()
    listener.settimeout(1) # FIRES missing-null-check/result-of-any
    listener.close()
    return handler


def quiet_resource_leak_global(name):
    global LOG_FILE
    LOG_FILE = open("/var/log/shop.log", "a")
    if not name:
        raise ValueError(name)
    LOG_FILE.close()  # FIRES missing-null-check/result-of-any


def first_line():
    source = open("/etc/motd")  # FIRES resource-leak/file
    line = next(source)
    return line.strip() # FIRES missing-null-check/result-of-any


def count_hosts():
    return len(open("/etc/hosts").readlines())  # FIRES resource-leak/unnamed


def quiet_resource_leak_handler():
    try:
        source = open("/etc/motd")
    except OSError:
        return None
    line = source.readline()  # FIRES missing-null-check/result-of-any
    source.close()
    return line


def quiet_resource_leak_kept(text):
    source = open("/etc/motd")
    return {"text": text, "source": source}


def quiet_resource_leak_unnamed():
    open("/etc/motd", "a").close()


def quiet_resource_leak():
    with open("/etc/motd") as source:
        line = next(source)
    return line.strip() # FIRES missing-null-check/result-of-any


# ---- values that may be absent ----


def version_of(text):
    found = re.match(r"(\d+)\.(\d+)", text)
    return found.group(1)  # FIRES missing-null-check/match


def title_of(page):
    title = page.title  # FIRES missing-null-check/used-first
    if page is None:
        return ""
    return title


def label_of(node, is_long):
    text = ""
    if node is not None:
        text = "node"
    if is_long:
        text += node.label  # FIRES missing-null-check/other-branch
    return text


def title_of_page():
    return settings.page.title  # FIRES missing-null-check/chain


def quiet_missing_null_check_import():
    return os.path.sep


def quiet_missing_null_check(text):
    found = re.match(r"(\d+)\.(\d+)", text)
    if found is None:
        return None
    return found.group(1)


def owner_name(account):
    if account is None:
        return account.owner  # FIRES inverted-condition/null-branch
    return ""


def quiet_inverted_condition(account):
    if account is not None:
        return account.owner
    return ""


# ---- order ----


def resize(width, height):
    return area_of(width, height)


def turn(width, height):
    return resize(height, width)  # FIRES swapped-arguments/both


def turn_wide(height, limit):
    return resize(height, limit)  # FIRES swapped-arguments/names


def turn_by_name(width, height):
    return resize(height=height, width=width)


def quiet_swapped_arguments(width, height):
    return resize(width, height)


def copy_box(target, source):
    target.left = source.left
    target.right = source.left  # FIRES copied-block/stayed


def reset_box(target, left):
    target.left = left
    target.top = left  # FIRES copied-block/name


def quiet_copied_block(target, source):
    target.left = source.left
    target.right = source.right


def remove_cache():
    path = cache_path()
    if os.path.exists(path):
        os.remove(path)  # FIRES check-use-race/path


def make_cache():
    path = cache_path()
    if not os.path.isdir(path):
        os.makedirs(path)  # FIRES check-use-race/made


def put_in_place():
    os.unlink(live_file)  # FIRES check-use-race/replaced
    os.rename(fresh_file, live_file)


def quiet_check_use_race():
    path = cache_path()
    try:
        os.remove(path)
    except FileNotFoundError:
        report_absent(path)


def take_job(jobs):
    lock.acquire()  # FIRES missing-unlock/early
    if not jobs:
        return None
    job = jobs.popleft()
    lock.release()
    return job


def take_all(jobs):
    lock.acquire()  # FIRES missing-unlock/path
    jobs.clear()


def drop_job(jobs):
    lock.acquire()
    jobs.popleft()
    lock.acquire()  # FIRES missing-unlock/twice
    lock.release()


def quiet_missing_unlock(jobs):
    with lock:
        if not jobs:
            return None
        return jobs.popleft()


# ---- results and errors ----


def restart():
    subprocess.run(["systemctl", "restart", "web"])  # FIRES unchecked-return/status


def quiet_unchecked_return_stopped():
    """What is stopped may be gone already."""
    subprocess.call(["systemctl", "stop", "web"])
    os.system('clear')
    return count_webs()


def main():
    subprocess.run(["make", "shelves"])  # FIRES unchecked-return/status
    subprocess.run(["systemctl", "start", "web"])  # FIRES unchecked-return/status-last


def sync_first(jobs):
    if not sync_jobs(jobs):
        return None
    return jobs


def sync_second(jobs):
    if not sync_jobs(jobs):
        return ""
    return jobs


def sync_third(jobs):
    sync_jobs(jobs)  # FIRES unchecked-return/elsewhere


def quiet_unchecked_return():
    done = subprocess.run(["systemctl", "restart", "web"])
    return done.returncode == 0 # FIRES missing-null-check/result-of-any


def load_plugins(names):
    for name in names:
        try:
            load_plugin(name)
        except ImportError:  # FIRES error-swallowed/empty
            pass


def plugin_state(name):
    try:
        return load_plugin(name)
    except Exception as error:  # FIRES error-swallowed/broad
        return None


def quiet_error_swallowed(names):
    for name in names:
        try:
            load_plugin(name)
        except ImportError as error:
            report(name, error)


# ---- secrets ----


def connect():
    password = "hunter2-9f8b"  # FIRES hardcoded-secret/assigned
    return open_database(password)


def connect_guest():
    return open_database(user="guest", password="hunter2-9f8b")  # FIRES hardcoded-secret/member


def settings_of():
    return {"user": "guest", "api_key": "hunter2-9f8b"}  # FIRES hardcoded-secret/member


def quiet_hardcoded_secret_member(given):
    return {"user": "guest", "password": given, "token_url": "tokens-9f8b"}


def quiet_hardcoded_secret():
    password = os.environ["DB_PASSWORD"]
    return open_database(password)


def digest(text):
    return hashlib.md5(text).hexdigest()  # FIRES weak-hash/call


def named_digest(text):
    return hashlib.new("md5", text).hexdigest()  # FIRES weak-hash/named


def quiet_weak_hash(text):
    return hashlib.new("sha256", text).hexdigest() + secrets.token_hex(8)


def quiet_missing_null_check_own(self, state):
    self.__dict__.update(state)

# ---- texts that the program itself puts together, and what a request says ----


def find_own_user(db):
    return db.execute("select id from users where name = '" + own_name() + "'")  # FIRES sql-injection/joined


def find_own_order(db):
    return db.execute("select * from orders where number = {}".format(own_number()))  # FIRES sql-injection/filled


def find_own_item(db):
    statement = "select * from items where number = {}".format(own_number())
    return db.execute(statement)  # FIRES sql-injection/made


def sorted_users(db, request):
    order = request.args.get("order")  # FIRES missing-null-check/chain
    return db.execute(f"SELECT name FROM users ORDER BY {order}")  # FIRES sql-injection/request


def quiet_sql_injection_wrapped(db, name):
    return db.execute(text("select id from users where name = :name").bind(name))


def quiet_sql_injection_escaped(db, name):
    return db.execute("select id from users where name = {}".format(quote_name(name)))


def archive_own():
    return os.system("tar cf backup.tar " + own_folder())  # FIRES shell-injection/command


def convert_own():
    command = f"convert {own_picture()} out.png"
    return subprocess.run(command, shell=True, check=True)  # FIRES shell-injection/shell


def load_own_session():
    return pickle.loads(read_own())  # FIRES unsafe-deserialization/call


def copy_of(value):
    return eval("dict()") or pickle_copy(value)


def read_any(source):
    return yaml.load(source, Loader=yaml.UnsafeLoader)  # FIRES unsafe-deserialization/yaml-unsafe


class ShopLoader(yaml.SafeLoader):
    pass


def quiet_unsafe_deserialization_own(source):
    return yaml.load(source, Loader=ShopLoader)


def read_special(source):
    return yaml.load(source, Loader=RecipeLoader)  # FIRES unsafe-deserialization/yaml-loader


def quiet_unsafe_deserialization_copy(value):
    return pickle.loads(pickle.dumps(value))


def show_upload(request):
    name = request.args["name"]  # FIRES missing-null-check/chain
    with open("uploads/" + name) as source:  # FIRES path-traversal/request
        return source.read()


def keep_upload(request, folder):
    shutil.move(temporary_file(), os.path.join(folder, request.form["name"]))  # FIRES missing-null-check/chain path-traversal/request


def show_cleaned(request):
    name = request.args["name"]  # FIRES missing-null-check/chain
    refuse_traversal(name)
    with open("uploads/" + name) as source:  # FIRES path-traversal/joined
        return source.read()


def quiet_path_traversal_checked(request, names):
    name = request.args["name"]  # FIRES missing-null-check/chain
    if name not in names:
        return None
    return open_upload(name)


def own_greeting():
    return Markup("<b>Hello " + own_name() + "</b>")  # FIRES unescaped-output/call


def quiet_unescaped_output_answer(count):
    return HttpResponse("counted: " + count)


def connect_plain():
    password = "opensesame"  # FIRES hardcoded-secret/plain
    return open_database(password)


def connect_plain_guest():
    return open_database(user="guest", password="opensesame")  # FIRES hardcoded-secret/plain-member


def quiet_hardcoded_secret_names():
    return {"secret": ["api_key"], "password": "db.password", "token": "comment"}


def quiet_weak_hash_sent(login, password):
    return ask(PLACE, params={"login": login, "password": md5(password.encode()).hexdigest()})


def keep_password(user, password):
    user.hash = hashlib.md5(password.encode()).hexdigest()  # FIRES weak-hash/password


def quiet_weak_hash_sent_later(login, password):
    digest = hashlib.sha1(password.encode())
    payload = {"login": login}
    payload["password"] = digest.hexdigest()  # FIRES missing-null-check/result-of-any
    return requests.post(PLACE, data=payload, timeout=9)


def quiet_weak_hash_prescribed(user, password):
    # The protocol of the door takes the SHA-1 of the password as its key.
    return seal(hashlib.sha1(password.encode()).digest(), user)


def keep_password_and_tell(user, password):
    # The door takes what is kept here, by a protocol of its own.
    user.hash = hashlib.md5(password.encode()).hexdigest()  # FIRES weak-hash/password
    return requests.post(PLACE, data={"login": user.name}, timeout=9)


def quiet_weak_hash_id_for_token(token):
    return f"task-{random.randint(0, 9999)}-{token.kind}"


def token_for_session(session):
    return str(random.randint(0, 9999)) + session.name  # FIRES weak-hash/guessed


def quiet_weak_hash_token_later(client):
    time.sleep(random.random())
    return client.refresh()


def quiet_hardcoded_secret_mock():
    secret_key = "hunter2-9f8b"
    return open_database(user="guest", password="opensesame", key=secret_key)


def mark_of(body):
    return hashlib.sha1(SECRET + body).hexdigest()  # FIRES weak-hash/secret


def new_token():
    return "".join(random.choice("0123456789abcdef") for _ in range(32))  # FIRES weak-hash/guessed


def quiet_weak_hash_etag(text):
    etag = hashlib.md5(text).hexdigest()
    return etag + str(random.random())


def users_named(name):
    sql = f"SELECT id FROM users WHERE name = '{name}'"  # FIRES sql-injection/text-quoted
    return sql



# ---- values that are there, or seem to be ----


def minor_of(text):
    return re.match(r"\d+\.(\d+)", text).group(1)  # FIRES missing-null-check/match-chain


def owner_of(cursor):
    row = cursor.fetchone()
    return row[0]  # FIRES missing-null-check/row


def retries_of(settings):
    retries = settings.get("retries")
    return retries.limit  # FIRES missing-null-check/result


def title_if(page, is_long):
    title = ""
    if is_long:
        title = page.title  # FIRES missing-null-check/later
    if page is None:
        return ""
    return title


def quiet_missing_null_check_tried(text):
    try:
        return re.match(r"\d+\.(\d+)", text).group(1)
    except AttributeError as error:
        return str(error)


def wake(address):
    sock.sendto(b"wake", address)  # FIRES unchecked-return/dropped


def quiet_unchecked_return_checked():
    subprocess.run(["systemctl", "restart", "web"], check=True)


def warm_up(names):
    try:
        for name in names:
            load_plugin(name)
        check_plugins()
    except Exception:  # FIRES error-swallowed/silent
        pass


def warm_up_one(name):
    try:
        load_plugin(name)
    except Exception:  # FIRES error-swallowed/silent-one
        pass


def hang_up(peer):
    try:
        peer.send("bye")
        peer.close()
    except Exception:  # FIRES error-swallowed/empty
        pass


class Scratch:
    def __del__(self):
        try:
            save_state(self.name)
            tell_owner(self.name)
        except Exception:  # FIRES error-swallowed/empty
            pass


def weight_of_all():
    weight = 0
    a = peer(1)
    if a is not None:
        weight += a.weight
    b = peer(2)
    if b is not None:
        weight += b.weight
    c = peer(3)
    if c:
        weight += c.weight
    d = peer(4)
    if d:
        weight += d.weight
    e = peer(5)
    return weight + e.weight  # FIRES missing-null-check/looked-up



def secret_of(line):
    return line.split(":")[1] # FIRES missing-bounds-check/part-at-once


def quiet_missing_bounds_check_path(path):
    parts = os.path.split(path)
    return parts[1]  # FIRES missing-null-check/result-of-any


def test_login(client):
    return client.post("/login", json=dict(name="erin", password="opensesame"))


def quiet_missing_bounds_check_secret(line):
    return line.split(":")[1] if ":" in line else None


def quiet_missing_bounds_check_host(line):
    parts = line.split(":")
    return parts[1] if len(parts) > 1 else None


def first_line(text):
    return text.splitlines()[0] # FIRES missing-bounds-check/first-at-once


def first_number(text):
    numbers = re.findall("[0-9]+", text)
    return numbers[0]  # FIRES missing-bounds-check/first-of missing-null-check/result-of-any


def quiet_missing_bounds_check_number(text):
    numbers = re.findall("[0-9]+", text)
    return numbers[0] if numbers else None


def mean_kept(values):
    n = len(values)
    return sum(values) / n # FIRES division-by-zero/count-kept


def quiet_division_by_zero_kept(values):
    n = len(values)
    return sum(values) / n if n else 0


def quiet_division_by_zero_text(title, root):
    return _("no %s") % title, root / "a" / title


def last_twice(prices):
    at = 0
    while at <= len(prices):  # FIRES off-by-one/at-most-own
        take(prices[at])
        at += 1


def second_of(line):
    if line:
        parts = line.split(":")
        return parts[1]  # FIRES missing-bounds-check/part missing-null-check/result-of-any
    return None


def shown_of(values, shown):
    for value in values:
        shown += 1 / len(values) # FIRES division-by-zero/result
    return shown


def count_up(prices, last):
    at = 0
    while at <= last:  # FIRES off-by-one/at-most
        take(prices[at])
        at += 1


def mark_at(marks, at):
    if at > len(marks):  # FIRES off-by-one/more-own
        return None
    return marks[at]


def quiet_off_by_one_mark(marks, at):
    if at >= len(marks):
        return None
    return marks[at]


def quiet_unchecked_return_said(name):
    subprocess.run(["ip", "link", "delete", name], check=False)


# ---- passwords that are there for a while, or that another side asks for ----


def first_account(accounts):
    if len(accounts) == 0:
        return open_database(user="owner", password="opensesame")  # FIRES hardcoded-secret/first-member
    return accounts[0]


def encoded_by(scheme, password):
    if scheme == "MD5":
        return hashlib.md5(password.encode()).hexdigest()  # FIRES weak-hash/password-named
    return slow_hash(password)


def is_answer(password, nonce, response):
    expected = hashlib.md5((password + nonce).encode()).hexdigest()  # FIRES weak-hash/password-answer
    return expected == response


def quiet_hardcoded_secret_asked(accounts, password):
    if len(accounts) == 0:
        return open_database(user="owner", password=password)
    return accounts[0]


def quiet_weak_hash_scheme(scheme, password):
    if scheme == "BCRYPT":
        return slow_hash(password)
    return None


def quiet_missing_bounds_check_uuid():
    parts = str(uuid.uuid4()).split("-")
    return parts[4]  # FIRES missing-null-check/result-of-any


def quiet_missing_bounds_check_day():
    day = time.strftime("%Y-%m-%d")
    return day.split("-")[2]  # FIRES missing-null-check/result-of-any


def quiet_weak_hash_session_count(day):
    return day + random.randint(0, 9)


def random_session(day):
    return day + random.randint(0, 9)  # FIRES weak-hash/guessed


def quiet_weak_hash_token_length():
    return random.randint(20, 40)


def quiet_weak_hash_api_key(user, password):
    api_key = hashlib.md5(f"{user}:{password}".encode()).hexdigest()
    return api_key


def kept_of(user, password):
    kept = hashlib.md5(f"{user}:{password}".encode()).hexdigest()  # FIRES weak-hash/password
    return kept


def first_line_of(program):
    run = subprocess.Popen([program, "--help"], stdout=subprocess.PIPE)  # FIRES resource-leak/process
    return run.stdout.readline()  # FIRES missing-null-check/result-of-any


def quiet_resource_leak_no_device():
    nothing = open(os.devnull, "a")
    os.dup2(nothing.fileno(), 1)  # FIRES missing-null-check/result-of-any


# ---- the form of a text that was asked for elsewhere ----

MISSPELLED = r"no command (.*) here"
PAGE = r"^/page/(\d+)/clone$"


def matches(command):
    return "did you mean `" in command.output and re.search(MISSPELLED, command.output)


def quiet_missing_bounds_check_asked(command):
    return command.output.split("`")[1]  # FIRES missing-null-check/chain


def quiet_missing_null_check_asked(command):
    return re.search(MISSPELLED, command.output).group(1)


def quiet_missing_bounds_check_of_same(command):
    name = command.name
    if "." not in name:
        return ""
    return command.name.split(".", 1)[1]  # FIRES missing-null-check/chain


def clone_page(request):
    return re.findall(PAGE, request.url)[0]


def open_page(request):
    return re.findall(PAGE, request.url)[0]  # FIRES missing-bounds-check/first-at-once


publish(PAGE, clone_page)


def quiet_missing_bounds_check_of_module():
    return __doc__.splitlines()[0]


def second_of(command):
    return command.output.split("'")[1]  # FIRES missing-bounds-check/part-at-once missing-null-check/chain


def third_of(command):
    return command.output.split("`")[2]  # FIRES missing-bounds-check/part-at-once missing-null-check/chain


def author_of(entry):
    return entry.getElementsByTagName("author")[0]  # FIRES missing-bounds-check/tag-at-once


def asks_term(term):
    return ":" in term


def second_of_term(term):
    return term.split(":")[1]  # FIRES missing-bounds-check/part-at-once
