"""Profile pictures: where they are kept and what we accept."""

import glob
import hashlib
import os
import struct

from accounts.errors import Invalid, NotFound

MAX_BYTES = 512 * 1024
MAX_SIDE = 2048
SIGNATURES = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpg"), (b"GIF87a", "gif"), (b"GIF89a", "gif"))


def sniff(data):
    """The kind of an image by its first bytes; the client's word does not count."""
    for signature, kind in SIGNATURES:
        if data.startswith(signature):
            return kind
    raise Invalid("not an image we know", {"image": "PNG, JPEG or GIF"})


def png_size(data):
    """Width and height from the header of a PNG."""
    if len(data) < 24:
        raise Invalid("the image is cut off")
    return struct.unpack(">II", data[16:24])


def store(directory, user_id, filename, data):
    """Keeps an uploaded picture under the user's directory and returns its name."""
    if len(data) > MAX_BYTES:
        raise Invalid("the image is too large", {"image": "at most 512 KiB"})
    kind = sniff(data)
    if kind == "png":
        width, height = png_size(data)
        if width > MAX_SIDE or height > MAX_SIDE:
            raise Invalid("the image is too large", {"image": "at most 2048 pixels a side"})
    folder = os.path.join(directory, str(user_id))
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, filename)
    with open(path, "wb") as f:
        f.write(data)
    return filename


def load(directory, user_id, name):
    """Bytes and entity tag of a stored picture."""
    if os.path.basename(name) != name:
        raise NotFound("no such picture")
    path = os.path.join(directory, str(user_id), name)
    try:
        with open(path, "rb") as f:
            data = f.read()
    except FileNotFoundError:
        raise NotFound("no such picture") from None
    return data, '"%s"' % hashlib.sha256(data).hexdigest()[:24]


def remove_all(directory, user_id):
    """When an account is deleted. Missing files are what we want anyway."""
    n = 0
    for path in glob.glob(os.path.join(directory, str(int(user_id)), "*")):
        os.unlink(path)
        n += 1
    return n


def initials(display_name):
    """Two letters for those who have no picture."""
    words = [w for w in display_name.split() if w[0].isalnum()]
    if not words:
        return "?"
    return (words[0][0] + (words[-1][0] if len(words) > 1 else "")).upper()
