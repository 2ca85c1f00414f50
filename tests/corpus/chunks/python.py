"""Users and their pages."""
import os
from flask import Flask, request

app = Flask(__name__)
LIMIT = 10


class UserStore(BaseStore):
    """Keeps users in memory."""

    def __init__(self, path):
        self.path = path

    def find(self, name):
        """Returns the user of that name."""
        return load_user(self.path, name)


@app.route("/users", methods=["GET"])
def list_users():
    return render(UserStore(os.environ["USERS"]).find(request.args["q"]))


# Reads one user.
def load_user(path, name):
    return open(path).read()


def _private_helper():
    return LIMIT


def test_load_user():
    assert load_user("/tmp/x", "a") == ""


FIRST, SECOND = 1, 2
