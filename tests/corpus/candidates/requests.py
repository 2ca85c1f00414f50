"""Parts of requests where a program takes them for its own. Marks: see test_examples.c."""

import base64
import pickle
import subprocess

import requests
from flask import Response, redirect, render_template_string, url_for


def ping(request):
    host = request.args["host"]  # FIRES missing-null-check/chain
    return subprocess.run("ping -c 1 " + host, shell=True, check=True)  # FIRES shell-injection/request


def look_up(request):
    return os.popen("whois " + request.form["name"]).read()  # FIRES shell-injection/request missing-null-check/chain


def command_of(request):
    if request.form["kind"] == "short":  # FIRES missing-null-check/chain
        command = "list " + request.form["folder"]
    else:
        command = "list --long " + request.form["folder"]
    return os.system(command)  # FIRES shell-injection/request


def restore(request):
    state = base64.b64decode(request.cookies["state"])  # FIRES missing-null-check/chain
    return pickle.loads(state)  # FIRES unsafe-deserialization/request


def settings_of(request):
    return yaml.load(request.data, Loader=yaml.Loader)  # FIRES unsafe-deserialization/request


def run_it(job):
    return eval(job)  # FIRES unsafe-deserialization/given


@app.get("/greet/{name}")
def greet(name: str, tone: str):
    return f"<p>{tone}, {name}</p>"  # FIRES unescaped-output/request


@app.route("/hello/<name>")
def hello(name):
    return render_template_string("Hello " + name)  # FIRES unescaped-output/request


def echo(request):
    return Response("You said " + request.form["text"])  # FIRES unescaped-output/request missing-null-check/chain


@app.route("/page/<int:number>")
def quiet_unescaped_output_number(number):
    return f"<p>{number}</p>"


@app.get("/page/{number}")
def quiet_unescaped_output_typed(number: int, store=Depends(store_of)):
    return f"<p>{number}</p>" + store.footer


def quiet_unescaped_output_json(request):
    return Response("\"" + request.form["text"] + "\"", mimetype="application/json")  # FIRES missing-null-check/chain


@app.route("/files/<path:name>")
def show_file(name):
    with open("files/" + name) as source:  # FIRES path-traversal/request
        return source.read()


def search(db, request):
    return rows_of(db, request.args["order"])  # FIRES missing-null-check/chain


def rows_of(db, order):
    return db.execute(f"SELECT name FROM users ORDER BY {order}")  # FIRES sql-injection/request


def filtered(db, request):
    order = "name"
    if request.args["by"]:  # FIRES missing-null-check/chain
        order = request.args["by"]
    return db.execute("SELECT name FROM users "  # FIRES sql-injection/request
                      f"ORDER BY {order}")


def chosen(db, request):
    order = request.args["order"]  # FIRES missing-null-check/chain
    if order not in ("name", "age"):
        return None
    return db.execute(f"SELECT name FROM users ORDER BY {order}")  # FIRES sql-injection/joined


def limited(db, request):
    limit = int(request.args["limit"])  # FIRES missing-null-check/chain
    return db.execute(f"SELECT name FROM users LIMIT {limit}")  # FIRES sql-injection/joined


def go_on(request):
    return redirect(request.args["next"])  # FIRES open-redirect/request missing-null-check/chain


def go_back(request):
    data = request.get_json()
    return redirect(data["target"])  # FIRES open-redirect/request missing-null-check/result-of-any


def quiet_open_redirect_own(request, user):
    if request.args["next"] and is_ours(request.args["next"]):  # FIRES missing-null-check/chain
        return redirect(request.args["next"])
    return redirect("/users/" + request.args["id"])


def quiet_open_redirect_asked(request):
    if is_ours(request.args.get("next")):  # FIRES missing-null-check/chain
        return redirect(request.args.get("next"))
    return redirect("/")


def quiet_open_redirect_route(request):
    return redirect(url_for("page", name=request.args["name"]))  # FIRES missing-null-check/chain


def quiet_open_redirect_joined(request):
    return redirect(url_for("page") + "?q=" + request.args["q"])  # FIRES missing-null-check/chain


def preview(request):
    return requests.get(request.args["url"]).text  # FIRES request-forgery/request missing-null-check/chain


def fetch_it(request):
    return requests.request("GET", request.json["url"])  # FIRES request-forgery/request missing-null-check/chain


def quiet_request_forgery_host(request):
    return requests.get("https://example.org/" + request.args["name"])  # FIRES missing-null-check/chain


def quiet_request_forgery_checked(request):
    url = request.args["url"]  # FIRES missing-null-check/chain
    parts = urlparse(url)
    if parts.hostname not in HOSTS:  # FIRES missing-null-check/result-of-any
        return None
    return requests.get(url)


# ---- what is closed later, but not on every way out ----


def first_line(path):
    source = open(path)  # FIRES resource-leak/closed-later path-traversal/parameter
    line = source.readline()  # FIRES missing-null-check/result-of-any
    if not line:
        return None
    source.close()
    return line


def quiet_resource_leak_closed(path):
    source = open(path)  # FIRES path-traversal/parameter
    line = source.readline()  # FIRES missing-null-check/result-of-any
    source.close()
    return line


RELEASE = "https://example.org/shop/tool/releases/latest"


def unpack_release(archive, folder):
    with zipfile.ZipFile(archive) as opened:  # FIRES path-traversal/parameter
        for name in opened.namelist():
            target = os.path.join(folder, name)  # FIRES path-traversal/archive-release missing-null-check/chain
            with opened.open(name) as source, open(target, "wb") as to:  # FIRES path-traversal/made
                shutil.copyfileobj(source, to)
