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
