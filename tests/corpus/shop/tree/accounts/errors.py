"""Errors that a client may see. Everything else becomes a 500 without detail."""


class ApiError(Exception):
    status = 400
    code = "bad_request"

    def __init__(self, message=None, fields=None):
        super().__init__(message or self.code)
        self.message = message or self.code.replace("_", " ")
        self.fields = fields or {}


class Invalid(ApiError):
    """The request was understood, but a value in it will not do."""

    status = 422
    code = "invalid"


class Unauthenticated(ApiError):
    status = 401
    code = "unauthenticated"


class Forbidden(ApiError):
    status = 403
    code = "forbidden"


class NotFound(ApiError):
    status = 404
    code = "not_found"


class Conflict(ApiError):
    status = 409
    code = "conflict"


class TooManyRequests(ApiError):
    status = 429
    code = "too_many_requests"

    def __init__(self, retry_after):
        super().__init__("try again in %d seconds" % retry_after)
        self.retry_after = retry_after


def require(condition, field, message):
    """Raises Invalid for one field unless the condition holds."""
    if not condition:
        raise Invalid("some fields are not valid", {field: message})
