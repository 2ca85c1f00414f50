"""Sends mail from templates. Failures are logged and counted, never shown to the client."""

import logging
import pathlib
import smtplib
import string
from email.message import EmailMessage
from urllib.parse import urlsplit

log = logging.getLogger("accounts.mailer")

TEMPLATES = pathlib.Path(__file__).parent / "mail_templates"


class Mailer:
    def __init__(self, url, sender, connect=None):
        self.url = urlsplit(url)
        self.sender = sender
        self.connect = connect or self._connect
        self.failures = 0

    def _connect(self):
        host, port = self.url.hostname, self.url.port or 25
        server = smtplib.SMTP_SSL(host, port) if self.url.scheme == "smtps" else smtplib.SMTP(host, port)
        if self.url.username:
            server.login(self.url.username, self.url.password or "")
        return server

    def compose(self, to, subject, template, values):
        text = string.Template((TEMPLATES / template).read_text(encoding="utf-8")).safe_substitute(values)
        message = EmailMessage()
        message["From"] = self.sender
        message["To"] = to
        message["Subject"] = single_line(subject)
        message.set_content(text)
        return message

    def send(self, to, subject, template, values):
        """True when the server took the message."""
        message = self.compose(to, subject, template, values)
        try:
            with self.connect() as server:
                server.send_message(message)
        except (OSError, smtplib.SMTPException) as e:
            self.failures += 1
            log.error("mail to %s was not sent: %s", mask(to), e)
            return False
        return True


def single_line(text):
    """Header values must not bring headers of their own."""
    return " ".join(text.splitlines())


def mask(address):
    """a...e@example.org for logs."""
    name, _, host = address.partition("@")
    if len(name) < 3:
        return "...@" + host
    return "%s...%s@%s" % (name[0], name[-1], host)
