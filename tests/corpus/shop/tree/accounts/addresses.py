"""Shipping addresses: normalising, checking, choosing the default one."""

import re

import sqlalchemy as sa

from accounts import db
from accounts.errors import NotFound, require
from accounts.models import Address

POSTCODE = {
    "GB": re.compile(r"^[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}$"),
    "IE": re.compile(r"^[A-Z]\d[\dW] [A-Z\d]{4}$"),
    "DE": re.compile(r"^\d{5}$"),
    "NL": re.compile(r"^\d{4} [A-Z]{2}$"),
    "FR": re.compile(r"^\d{5}$"),
}
SHIPS_TO = tuple(sorted(POSTCODE))
MAX_PER_USER = 12


def normalise_postcode(country, text):
    """Upper case with the blank where the country has it."""
    code = re.sub(r"\s+", "", (text or "")).upper()
    if country == "GB" and len(code) >= 5:
        return code[:-3] + " " + code[-3:]
    if country == "IE" and len(code) == 7:
        return code[:3] + " " + code[3:]
    if country == "NL" and len(code) == 6:
        return code[:4] + " " + code[4:]
    return code


def check(country, lines, postcode):
    require(country in POSTCODE, "country", "we ship to %s" % ", ".join(SHIPS_TO))
    require(1 <= len(lines) <= 4, "lines", "between one and four lines")
    require(all(len(line) <= 80 for line in lines), "lines", "at most 80 characters each")
    require(POSTCODE[country].match(postcode), "postcode", "not a postcode of %s" % country)


def list_addresses(user_id):
    found = db.rows(
        sa.select(db.addresses)
        .where(db.addresses.c.user_id == user_id)
        .order_by(db.addresses.c.is_default.desc(), db.addresses.c.label)
    )
    return [_address(row) for row in found]


def add_address(user_id, label, lines, postcode, country):
    lines = [line.strip() for line in lines if line.strip()]
    postcode = normalise_postcode(country, postcode)
    check(country, lines, postcode)
    existing = list_addresses(user_id)
    require(len(existing) < MAX_PER_USER, "label", "at most %d addresses" % MAX_PER_USER)
    db.run(
        sa.insert(db.addresses).values(
            user_id=user_id, label=label, lines=lines, postcode=postcode, country=country, is_default=not existing
        )
    )
    return list_addresses(user_id)


def make_default(user_id, address_id):
    db.run(sa.update(db.addresses).where(db.addresses.c.user_id == user_id).values(is_default=False))
    touched = db.run(
        sa.update(db.addresses)
        .where(db.addresses.c.id == address_id, db.addresses.c.user_id == user_id)
        .values(is_default=True)
    )
    if touched == 0:
        raise NotFound("no such address")


def delete_address(user_id, address_id):
    """Deletes one address. The default moves to the first of what is left."""
    touched = db.run(
        sa.delete(db.addresses).where(db.addresses.c.id == address_id, db.addresses.c.user_id == user_id)
    )
    if touched == 0:
        raise NotFound("no such address")
    left = list_addresses(user_id)
    if left and not any(a.is_default for a in left):
        make_default(user_id, left[0].id)


def _address(row):
    return Address(
        id=row["id"],
        user_id=row["user_id"],
        label=row["label"],
        lines=list(row["lines"]),
        postcode=row["postcode"],
        country=row["country"],
        is_default=row["is_default"],
    )
