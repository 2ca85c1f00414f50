# input.py - statements that were copied and changed in pairs. The marks are those of test_examples.c.


def clip(box, to):
    if box.x < to.x:
        box.w -= to.x - box.x
        box.x = to.x
    if box.y < to.y:
        box.h -= to.y - box.y
        box.y = to.x  # FIRES copied-block/pair


def quiet_copied_block_clip(box, to):
    if box.x < to.x:
        box.w -= to.x - box.x
        box.x = to.x
    if box.y < to.y:
        box.h -= to.y - box.y
        box.y = to.y


def is_secure(url):
    return url[:7] == "https://"  # FIRES off-by-one/part-length


def is_page(name):
    return name[-4:] != ".html"  # FIRES off-by-one/part-length


def quiet_off_by_one_part(url):
    return url[:8] == "https://" or url[-5:] == ".html" or url[1:3] == "a" or url[:-1] == "abc"
