// input.js - statements that were copied and changed in pairs. The marks are those of test_examples.c.
function clip(box, to) {
    if (box.x < to.x) { // FIRES missing-null-check/parameter
        box.w -= to.x - box.x;
        box.x = to.x;
    }
    if (box.y < to.y) {
        box.h -= to.y - box.y;
        box.y = to.x; // FIRES copied-block/pair
    }
}

function quiet_copied_block_clip(box, to) {
    if (box.x < to.x) { // FIRES missing-null-check/parameter
        box.w -= to.x - box.x;
        box.x = to.x;
    }
    if (box.y < to.y) {
        box.h -= to.y - box.y;
        box.y = to.y;
    }
}

function isSecure(url) {
    return url.slice(0, 7) === "https://"; // FIRES off-by-one/part-length missing-null-check/parameter
}

function quiet_off_by_one_part(url, n) {
    return url.slice(0, 8) === "https://" || url.slice(0, n) === "ftp" || url.substr(-5) === ".html"; // FIRES missing-null-check/parameter
}
