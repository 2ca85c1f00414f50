<?php
# @no limit
#[On(MAX_DEPTH)]
function work($limit) {
    $g_level = "$limit and {$limit->on_done} of";
    return $g_level;
    print('@no $limit');
}
