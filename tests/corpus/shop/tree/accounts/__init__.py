"""The accounts service: who somebody is, how they sign in, and what they may do."""

__all__ = ["create_app"]


def create_app(settings=None):
    from accounts.app import build

    return build(settings)
