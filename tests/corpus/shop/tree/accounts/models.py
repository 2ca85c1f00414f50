"""Plain values that travel between the modules of the service."""

from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import List, Optional


def utcnow():
    """Aware, always UTC. Tests replace it."""
    return datetime.now(timezone.utc)


@dataclass(frozen=True)
class User:
    id: int
    email: str
    display_name: str
    role: str = "customer"
    created_at: Optional[datetime] = None
    deleted_at: Optional[datetime] = None

    @property
    def is_staff(self):
        return self.role in ("support", "admin")

    @property
    def is_deleted(self):
        return self.deleted_at is not None

    @classmethod
    def from_row(cls, row):
        return cls(
            id=row["id"],
            email=row["email"],
            display_name=row["display_name"],
            role=row["role"],
            created_at=row["created_at"],
            deleted_at=row["deleted_at"],
        )

    def public(self):
        """What other services and the browser are told about a user."""
        return {"id": self.id, "email": self.email, "name": self.display_name, "role": self.role}


@dataclass(frozen=True)
class Session:
    """A signed-in browser. `token` is only known right after creation."""

    user_id: int
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime
    user_agent: str = ""
    ip_address: str = ""
    token: Optional[str] = None

    def is_expired(self, now):
        return now >= self.expires_at


@dataclass(frozen=True)
class Address:
    id: int
    user_id: int
    label: str
    lines: List[str] = field(default_factory=list)
    postcode: str = ""
    country: str = "GB"
    is_default: bool = False

    def one_line(self):
        return ", ".join([*self.lines, self.postcode, self.country])


@dataclass(frozen=True)
class Consent:
    purpose: str
    granted: bool
    changed_at: datetime
