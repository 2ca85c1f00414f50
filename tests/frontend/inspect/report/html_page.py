#!/usr/bin/env python3
"""html_page.py PAGE OUT_DIR - opens a report in headless Chromium, filters by typing and choosing, walks by keys,
at desktop, narrow and phone width.

Speaks the DevTools protocol over a pipe (no packages). Exit 0 = all held; a line per check that did not.
Screenshots: OUT_DIR/desktop.png, narrow.png, phone.png.
"""

import base64, json, os, pathlib, shutil, subprocess, sys, tempfile

DESKTOP, NARROW, PHONE = (1280, 900, False), (480, 900, True), (390, 844, True)


class Browser:
    """Messages end in a zero byte: file 3 of the browser reads, file 4 writes."""

    def __init__(self, program, profile):
        to_read, self.to = os.pipe()
        self.back, from_write = os.pipe()

        def files():
            os.dup2(to_read, 1003), os.dup2(from_write, 1004)
            os.dup2(1003, 3), os.dup2(1004, 4)

        self.process = subprocess.Popen(
            [
                program,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-extensions",
                "--no-first-run",
                "--remote-debugging-pipe",
                "--user-data-dir=" + profile,
                "about:blank",
            ],
            preexec_fn=files,
            pass_fds=(3, 4),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read), os.close(from_write)
        self.rest, self.number, self.session, self.events = b"", 0, None, []

    def receive(self):
        while b"\0" not in self.rest:
            part = os.read(self.back, 1 << 16)
            if not part:
                sys.exit("the browser ended")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit("%s: %s" % (method, answer["error"]))
                return answer["result"]
            self.events.append(answer)

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in result:
            sys.exit("%s: %s" % (expression, result["exceptionDetails"]))
        return result["result"].get("value")

    def key(self, key, text=None):
        code = {"Escape": 27, "Enter": 13, "ArrowDown": 40}.get(key, ord(key[0].upper()))
        down = {"type": "keyDown", "key": key, "windowsVirtualKeyCode": code}
        if text or len(key) == 1:
            down["text"] = text or key
        self.call("Input.dispatchKeyEvent", **down)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def write(self, text):
        for c in text:
            self.key(c)

    def close(self):
        self.process.terminate()
        self.process.wait()


def visible(b):
    return b.value("[...document.querySelectorAll('.finding')].filter(c=>c.offsetParent!==null).map(c=>c.id)")


def walk(b, check):
    """What a person does: look, filter, clear, toggle, step, fold."""
    ids = b.value("[...document.querySelectorAll('.finding')].map(c=>c.id)")
    check("the page has two findings or more", len(ids) >= 2)
    check("all findings are seen at first", visible(b) == ids)
    word = b.value("document.querySelector('.place:last-of-type .finding').dataset.rule")
    b.key("/")
    check("/ puts the cursor into the filter", b.value("document.activeElement.id") == "filter")
    b.write(word)
    check("what is typed stands in the filter", b.value("document.getElementById('filter').value") == word)
    wanted = b.value(
        "[...document.querySelectorAll('.finding')].filter(c=>c.textContent.toLowerCase().includes(%s)).map(c=>c.id)"
        % json.dumps(word.lower())
    )
    check("typing a rule leaves its findings", visible(b) == wanted and wanted)
    check(
        "the count follows",
        b.value("document.getElementById('shown').textContent") == "%d of %d" % (len(wanted), len(ids)),
    )
    b.write(" nosuchword")
    check("a word that is nowhere leaves none", visible(b) == [])
    check("and the page says so", b.value("document.getElementById('none').offsetParent!==null"))
    b.key("Escape")
    check("Escape shows all again", visible(b) == ids)
    b.key("j"), b.key("j")
    check("j steps down", b.value("document.activeElement.id") == ids[1])
    b.key("k")
    check("k steps up", b.value("document.activeElement.id") == ids[0])
    is_open = b.value("document.activeElement.closest('.place').querySelector('details').open")
    b.key("Enter", "\r")
    now_open = b.value("document.activeElement.closest('.place').querySelector('details').open")
    check("Enter folds the code", now_open != is_open)
    b.key("Enter", "\r")
    severity = b.value("document.querySelector('.finding').dataset.severity")
    b.value("document.querySelector('button[data-severity=%s]').click()" % severity)
    same = b.value(
        "[...document.querySelectorAll('.finding')].filter(c=>c.dataset.severity===%s).map(c=>c.id)"
        % json.dumps(severity)
    )
    check("a severity's button leaves its findings", visible(b) == same)
    b.key("Escape")
    choose = (
        "(e=>{e.value=%s;e.dispatchEvent(new Event('change'))})(document.getElementById(%s));"
        "[...document.querySelectorAll('.finding')].filter(c=>c.dataset[%s]===%s).map(c=>c.id)"
    )
    for name, value in (("rule", word), ("file", b.value("document.querySelector('.finding').dataset.file"))):
        value, name = json.dumps(value), json.dumps(name)
        same = b.value(choose % (value, name, name, value))
        check("a choice of %s leaves its findings" % name, visible(b) == same and same)
        b.key("Escape")
        check("Escape ends the choice of %s" % name, visible(b) == ids)
    check(
        "a place without a visible finding is not seen",
        b.value(
            "(()=>{const box=document.getElementById('filter');box.value='nosuchword';"
            "box.dispatchEvent(new Event('input'));"
            "return [...document.querySelectorAll('.place')].every(p=>p.offsetParent===null)})()"
        ),
    )
    b.key("Escape")
    check(
        "cited lines are marked",
        b.value("[...document.querySelectorAll('.place')].every(c=>c.querySelector('.cited,.evidence'))"),
    )


def layout(b, check, width):
    check("nothing is wider than the window", b.value("document.documentElement.scrollWidth") <= width)
    check(
        "buttons can be hit",
        b.value("[...document.querySelectorAll('button')].every(e=>e.getBoundingClientRect().height>=24)"),
    )
    check(
        "text is large enough to read",
        b.value("[...document.querySelectorAll('p,h2,dd,pre')].every(e=>parseFloat(getComputedStyle(e).fontSize)>=11)"),
    )


def main():
    page, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    failed = []
    profile = tempfile.mkdtemp(prefix="mythos-html-")
    b = Browser(shutil.which("chromium") or shutil.which("chromium-browser"), profile)
    try:
        target = b.call("Target.createTarget", url="about:blank")["targetId"]
        b.session = b.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            b.call(domain + ".enable")
        for name, (width, height, is_mobile) in (("desktop", DESKTOP), ("narrow", NARROW), ("phone", PHONE)):

            def check(what, holds):
                if not holds:
                    failed.append("%s: %s" % (name, what))

            b.call(
                "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=is_mobile
            )
            b.call("Page.navigate", url=page.as_uri())
            while b.value("document.readyState") != "complete" or b.value("location.href") == "about:blank":
                pass
            walk(b, check)
            layout(b, check, width)
            b.value("document.activeElement.blur();scrollTo(0,0)")
            shot = b.call("Page.captureScreenshot", format="png")["data"]
            (out / (name + ".png")).write_bytes(base64.b64decode(shot))
        for event in b.events:
            method, params = event.get("method", ""), event.get("params", {})
            if (
                method == "Runtime.exceptionThrown"
                or method == "Log.entryAdded"
                or (method == "Runtime.consoleAPICalled" and params.get("type") in ("error", "warning", "assert"))
            ):
                failed.append("console: " + json.dumps(params)[:300])
            if method == "Network.requestWillBeSent" and not params["request"]["url"].startswith(
                ("file:", "data:", "about:")
            ):
                failed.append("network: " + params["request"]["url"])
    finally:
        b.close()
        shutil.rmtree(profile, ignore_errors=True)
    for line in failed:
        print(line)
    sys.exit(1 if failed else 0)


main()
