"""What a role may do.

A permission is a word; a grant says who has it: `own` means on what belongs to the
caller, `any` on everybody's. Routes do not compare roles themselves: they ask allowed()
through the middleware's require_permission.
"""

OWN, ANY = "own", "any"

GRANTS = {
    "customer": {
        "profile.read": OWN,
        "profile.write": OWN,
        "account.delete": OWN,
        "address.write": OWN,
        "export.request": OWN,
    },
    "support": {
        "profile.read": ANY,
        "profile.write": OWN,
        "account.delete": OWN,
        "address.write": ANY,
        "export.request": OWN,
        "user.search": ANY,
        "invitation.send": ANY,
    },
    "admin": {
        "profile.read": ANY,
        "profile.write": ANY,
        "account.delete": ANY,
        "address.write": ANY,
        "export.request": ANY,
        "user.search": ANY,
        "role.change": ANY,
        "invitation.send": ANY,
        "audit.read": ANY,
    },
}


def grant_of(role, permission):
    """OWN, ANY, or None when the role does not have the permission at all."""
    return GRANTS.get(role, {}).get(permission)


def allowed(actor, permission, owner_id=None):
    """May `actor` do this to something of `owner_id`?

    Without an owner only a grant for ANY will do.
    """
    grant = grant_of(actor.role, permission)
    if grant is None or actor.is_deleted:
        return False
    if grant == ANY:
        return True
    return owner_id is not None and actor.id == owner_id


def permissions_of(role):
    """For the page that explains roles: sorted pairs of permission and reach."""
    return sorted(GRANTS.get(role, {}).items())


def outranks(actor, other):
    """Staff may not act on those above them."""
    order = ("customer", "support", "admin")
    return order.index(actor.role) >= order.index(other.role)
