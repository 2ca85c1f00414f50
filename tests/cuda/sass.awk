# sass.awk - the rules of tests/cuda/sass.csv against disassembled kernels.
#
#   awk -v arch=90a -v file=proj -f sass.awk sass.csv DISASSEMBLY      (of cuobjdump -sass)
#
# Prints   name,file,kernel,arch,value,least,most,verdict   a line per rule and kernel that it speaks of; verdict is
#          "ok" or "BROKEN"
# Loops    a branch back closes one; the loop of an instruction is the shortest that holds it

function hex(text,   n, i) {
    n = 0
    for (i = 1; i <= length(text); i++)
        n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
    return n
}

# Instructions that match, from the first to before `end`.
function count(pattern, end,   i, c) {
    c = 0
    for (i = 1; i < end; i++)
        c += op[i] ~ pattern
    return c
}

function first(pattern,   i) {
    for (i = 1; i <= n_op; i++)
        if (op[i] ~ pattern)
            return i
    return 0
}

# Instructions of the loop around the first match; 0: it is in none.
function loop_around(pattern,   i, k, best) {
    i = first(pattern)
    best = 0
    for (k = 1; i && k <= n_loop; k++)
        if (loop_from[k] <= i && i <= loop_to[k] && (!best || loop_to[k] - loop_from[k] + 1 < best))
            best = loop_to[k] - loop_from[k] + 1
    return best
}

# Most instructions between two neighbouring matches of one loop.
function widest_gap(pattern,   i, last, gap, size) {
    size = loop_around(pattern)
    gap = last = 0
    for (i = 1; i <= n_op; i++)
        if (op[i] ~ pattern) {
            if (last && i - last - 1 < size && i - last - 1 > gap)
                gap = i - last - 1
            last = i
        }
    return gap
}

# Whether a rule's pattern is this kernel's; one that begins with ! is every other kernel's.
function speaks_of(pattern) { return pattern ~ /^!/ ? kernel !~ substr(pattern, 2) : kernel ~ pattern }

function judge(   r, i, value) {
    n_loop = 0
    for (i = 1; i <= n_op; i++)
        if (op[i] ~ /^(@!?U?P[0-9T]+ )?BRA(\.[A-Z]+)* / && target[i] != "" && hex(target[i]) < address[i]) {
            loop_from[++n_loop] = at[hex(target[i])]
            loop_to[n_loop] = i
        }
    for (r = 1; r <= n_rule; r++) {
        if (!speaks_of(rule_kernel[r]) || arch !~ ("^(" rule_arch[r] ")$"))
            continue
        if (rule_what[r] == "before") { # the wait of a dependent launch
            i = first("ACQBULK")
            if (!i)
                continue
            value = count(rule_anchor[r], i)
        } else if (rule_what[r] == "loop")
            value = loop_around(rule_anchor[r]) / rule_per[r]
        else if (rule_what[r] == "gap")
            value = widest_gap(rule_anchor[r])
        else
            value = count(rule_anchor[r], n_op + 1)
        printf("%s,%s,%s,%s,%g,%s,%s,%s\n", rule_name[r], file, kernel, arch, value, rule_least[r], rule_most[r],
               value >= rule_least[r] + 0 && value <= rule_most[r] + 0 ? "ok" : "BROKEN")
    }
}

FNR == NR {
    if (/^#/ || /^name,/ || NF == 0)
        next
    split($0, f, ",")
    n_rule++
    rule_name[n_rule] = f[1]; rule_kernel[n_rule] = f[2]; rule_arch[n_rule] = f[3]; rule_what[n_rule] = f[4]
    rule_anchor[n_rule] = f[5]; rule_per[n_rule] = f[6]; rule_least[n_rule] = f[7]; rule_most[n_rule] = f[8]
    next
}

/Function : / {
    if (kernel != "")
        judge()
    kernel = $3
    n_op = 0
    delete at
    next
}

/^ *\/\*[0-9a-f]+\*\/ / {
    line = $0
    sub(/^ *\/\*/, "", line)
    where = line
    sub(/\*\/.*/, "", where)
    sub(/^[0-9a-f]+\*\/ */, "", line)
    sub(/ *;.*/, "", line)
    op[++n_op] = line
    address[n_op] = hex(where)
    at[address[n_op]] = n_op
    target[n_op] = ""
    if (line ~ /BRA/ && match(line, /0x[0-9a-f]+$/))
        target[n_op] = substr(line, RSTART + 2)
}

END { if (kernel != "") judge() }
