"""HTTP routes below /addresses: always those of the caller."""

from flask import Blueprint, g, jsonify, request

from accounts import addresses
from accounts.middleware import require_login

bp = Blueprint("addresses", __name__)


def _show(address):
    return {
        "id": address.id,
        "label": address.label,
        "lines": address.lines,
        "postcode": address.postcode,
        "country": address.country,
        "default": address.is_default,
    }


@bp.get("/")
@require_login
def index():
    return jsonify([_show(a) for a in addresses.list_addresses(g.user.id)])


@bp.post("/")
@require_login
def create():
    body = request.get_json(force=True)
    found = addresses.add_address(
        g.user.id, body.get("label", "home"), body.get("lines", []), body.get("postcode", ""), body.get("country", "GB")
    )
    return jsonify([_show(a) for a in found]), 201


@bp.post("/<int:address_id>/default")
@require_login
def make_default(address_id):
    addresses.make_default(g.user.id, address_id)
    return "", 204


@bp.delete("/<int:address_id>")
@require_login
def delete(address_id):
    """Deletes an address of the caller; needs no permission beyond being signed in."""
    addresses.delete_address(g.user.id, address_id)
    return "", 204
