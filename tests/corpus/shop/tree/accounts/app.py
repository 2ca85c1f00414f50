"""Wires the accounts service together.

Order matters in two places: the request middleware must be registered before the
blueprints, and the error handlers must come last so that they also see what the
middleware raises.
"""

import logging
import time

from flask import Flask, g, jsonify, request

from accounts import db, errors, middleware
from accounts.mailer import Mailer
from accounts.routes_addresses import bp as addresses_bp
from accounts.routes_auth import bp as auth_bp
from accounts.routes_users import bp as users_bp
from accounts.settings import Settings
from accounts.throttle import Throttle

log = logging.getLogger("accounts")


def build(settings=None):
    """Returns a Flask application that is ready to serve."""
    settings = settings or Settings.from_environment()
    app = Flask("accounts")
    app.config["SETTINGS"] = settings
    app.config["MAX_CONTENT_LENGTH"] = settings.max_body_bytes
    app.config["MAILER"] = Mailer(settings.smtp_url, settings.mail_from)
    app.config["THROTTLE"] = Throttle(settings.login_attempts, settings.login_window_seconds)

    db.configure(settings.database_url, pool_size=settings.pool_size)
    middleware.install(app)

    app.register_blueprint(auth_bp, url_prefix="/auth")
    app.register_blueprint(users_bp, url_prefix="/users")
    app.register_blueprint(addresses_bp, url_prefix="/addresses")

    register_health(app)
    register_errors(app)
    register_timing(app)
    return app


def register_health(app):
    @app.get("/healthz")
    def healthz():
        return jsonify(status="ok")

    @app.get("/readyz")
    def readyz():
        try:
            db.ping()
        except db.Unavailable as e:
            log.warning("not ready: %s", e)
            return jsonify(status="unavailable"), 503
        return jsonify(status="ready")


def register_errors(app):
    @app.errorhandler(errors.ApiError)
    def api_error(e):
        body = {"error": e.code, "message": e.message}
        if e.fields:
            body["fields"] = e.fields
        return jsonify(body), e.status

    @app.errorhandler(404)
    def not_found(_):
        return jsonify(error="not_found", message="no such resource"), 404

    @app.errorhandler(500)
    def crashed(e):
        log.exception("unhandled: %s %s", request.method, request.path)
        return jsonify(error="internal", message="something went wrong"), 500


def register_timing(app):
    """Logs one line per request; the gateway adds its own with the same request id."""

    @app.before_request
    def start():
        g.started = time.monotonic()

    @app.after_request
    def stop(response):
        took = (time.monotonic() - g.get("started", time.monotonic())) * 1000
        log.info(
            "%s %s -> %d in %.1f ms (request %s)",
            request.method,
            request.path,
            response.status_code,
            took,
            request.headers.get("X-Request-Id", "-"),
        )
        return response
