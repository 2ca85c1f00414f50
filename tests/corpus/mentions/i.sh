# @no MAX_DEPTH
MAX_DEPTH=8
g_level=0
work() {
    echo "$g_level of ${MAX_DEPTH} and $#" "$limit"
    echo '@no $limit'
    limit=$((g_level + MAX_DEPTH))
    if [ "$limit" = "$MAX_DEPTH" ]; then g_level=$limit; fi
}
