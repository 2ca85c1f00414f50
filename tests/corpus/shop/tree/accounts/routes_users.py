"""HTTP routes below /users."""

from flask import Blueprint, current_app, g, jsonify, request

from accounts import avatars, consents, exports, permissions, sessions, session_store, users
from accounts.errors import Forbidden, Invalid
from accounts.middleware import require_login, require_permission, require_recent_password

bp = Blueprint("users", __name__)


@bp.get("/me")
@require_login
def me():
    return jsonify(g.user.public())


@bp.get("/<int:user_id>")
@require_permission("profile.read", owner="user_id")
def show_user(user_id):
    return jsonify(users.get(user_id).public())


@bp.patch("/<int:user_id>")
@require_permission("profile.write", owner="user_id")
def update_user(user_id):
    body = request.get_json(force=True)
    if "name" not in body:
        raise Invalid("nothing to change")
    return jsonify(users.rename(user_id, body["name"]).public())


@bp.delete("/<int:user_id>")
@require_permission("account.delete", owner="user_id")
@require_recent_password
def delete_account(user_id):
    """Deletes an account: one's own, or as an administrator anybody's below one's rank.

    Authorisation is the decorator's; here is only what depends on the other user.
    """
    target = users.get(user_id)
    if target.id != g.user.id and not permissions.outranks(g.user, target):
        raise Forbidden("you may not delete this account")
    users.soft_delete(g.user, user_id)
    sessions.end_all_sessions(user_id, "account deleted")
    avatars.remove_all(current_app.config["SETTINGS"].avatar_dir, user_id)
    return "", 204


@bp.post("/<int:user_id>/role")
@require_permission("role.change")
def change_role(user_id):
    target = users.get(user_id)
    if not permissions.outranks(g.user, target):
        raise Forbidden("you may not change this role")
    return jsonify(users.change_role(g.user, user_id, request.get_json(force=True).get("role")).public())


@bp.get("/search")
@require_permission("user.search")
def search_users():
    prefix = request.args.get("q", "")
    if len(prefix) < 3:
        raise Invalid("at least three characters")
    return jsonify([u.public() for u in users.search(prefix)])


@bp.get("/<int:user_id>/sessions")
@require_permission("profile.read", owner="user_id")
def show_sessions(user_id):
    return jsonify(
        [
            {"since": s.created_at.isoformat(), "seen": s.last_seen_at.isoformat(), "browser": s.user_agent, "ip": s.ip_address}
            for s in session_store.list_sessions(user_id)
        ]
    )


@bp.put("/<int:user_id>/avatar")
@require_permission("profile.write", owner="user_id")
def put_avatar(user_id):
    upload = request.files.get("image")
    if upload is None:
        raise Invalid("no image", {"image": "is missing"})
    settings = current_app.config["SETTINGS"]
    name = avatars.store(settings.avatar_dir, user_id, upload.filename, upload.read())
    return jsonify(avatar=name)


@bp.put("/<int:user_id>/consents/<purpose>")
@require_permission("profile.write", owner="user_id")
def put_consent(user_id, purpose):
    granted = bool(request.get_json(force=True).get("granted"))
    return jsonify(consents.change(user_id, purpose, granted))


@bp.post("/<int:user_id>/export")
@require_permission("export.request", owner="user_id")
def request_export(user_id):
    settings = current_app.config["SETTINGS"]
    return jsonify(file=exports.write_export(settings.export_dir, users.get(user_id))), 202
