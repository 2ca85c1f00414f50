#version 460
#include "common.glsl"
// head_topk   one round of choosing the k best (logit, id) of each row: keeps the k best of every list of 4,096 entries
//
// Rounds     the first round reads logits of a stripe of the vocabulary, and handles asked logits, biases and masks.
//            Each later round reads what the round before kept. The round that has a single list is the last: it sorts
//            the k best, and computes log-sum-exp and entropy of the row. Larger logits are better, and of equal ones
//            the smaller id is; -inf and NaN are never kept
// Select     finds the k-th largest key in four passes over its bytes (radix select). Keeps all keys above it, then
//            equal ones in order of id
// Sums       of each list: most m, S = sum e^(x - m), T = sum e^(x - m) (x - m). Lists are at fixed places of the
//            vocabulary. Over all lists: lse = m + log S, entropy = log S - T / S
// Precision  f32; keys have all bits of the logits, so the choice is exact
// Traffic    4 bytes for each id of the vocabulary and row, then 8 k for each list
// Launch     x: lists; y: rows; 256 threads of 16 entries
layout(local_size_x = 256) in;
layout(constant_id = 1) const bool IS_FIRST = true;
layout(constant_id = 2) const bool IS_LAST = true;
ARGS(head_topk)
vk_head_topk_args a;                 // a copy, because loops would read args.a from memory again

#include "math.glsl"

const uint LIST = 4096, SHARE = 16;

shared uint entry[LIST];                // bits of logits, then keys; for the sort keys in one half, ids in the other
shared uint bin[256];
shared uint part[32];                   // one per subgroup
shared float partf[32];
shared uint found_key, found_above;

uint place(uint e) { return e & ~15u | (e ^ e >> 4) & 15u; }        // spreads a thread's entries over the banks

float group_sum(float v)
{
    v = lanes_sum(v);
    if (subgroupElect())
        partf[gl_SubgroupID] = v;
    barrier();
    float sum = 0.0;
    for (uint i = 0; i < gl_NumSubgroups; i++)
        sum += partf[i];
    barrier();
    return sum;
}

uint group_max(uint v)
{
    v = subgroupMax(v);
    if (subgroupElect())
        part[gl_SubgroupID] = v;
    barrier();
    uint most = 0;
    for (uint i = 0; i < gl_NumSubgroups; i++)
        most = max(most, part[i]);
    barrier();
    return most;
}

// Sum of v over the threads before this one.
uint group_before(uint v)
{
    uint sum = subgroupInclusiveAdd(v), before = 0;
    if (gl_SubgroupInvocationID == gl_SubgroupSize - 1)
        part[gl_SubgroupID] = sum;
    barrier();
    for (uint i = 0; i < gl_SubgroupID; i++)
        before += part[i];
    barrier();
    return before + sum - v;
}

// A key for which larger means a better logit; entries with key 0 are never kept.
uint key_of(float v)
{
    uint u = floatBitsToUint(v == 0.0 ? 0.0 : v);
    return is_minus_inf(v) || is_nan(v) ? 0u : (u & 0x80000000u) != 0u ? ~u : u | 0x80000000u;
}

float logit_of(uint key)
{
    return key == 0u ? -INF : uintBitsToFloat((key & 0x80000000u) != 0u ? key ^ 0x80000000u : ~key);
}

// Loads the logits of ids first .. first + n - 1 into entry[], writes those that were asked for, then adds biases and
// sets forbidden ids to -inf.
void read_logits(uint row, uint first, uint n, uint64_t logits)
{
    const uint t = gl_LocalInvocationIndex;
    for (uint i = t; i < LIST; i += 256)
        entry[place(i)] = floatBitsToUint(i < n ? F32(logits).v[i] : -INF);
    barrier();
    for (uint i = t; i < a.n_ask; i += 256) {
        uint64_t at = (uint64_t(row) * a.n_ask + i) * 4ul;
        uint id = U32(a.ask_id + at).v[0];
        if (id >= first && id - first < n)
            U32(a.ask_logit + at).v[0] = entry[place(id - first)];
        else if (id >= a.n_vocab && first == 0)
            U32(a.ask_logit + at).v[0] = 0x7fc00000u;
    }
    barrier();
    if (a.bias_off != 0ul) {
        int last = I32(a.bias_off).v[row + 1];
        for (int i = I32(a.bias_off).v[row]; i < last; i++) {
            uint at = U32(a.bias_id).v[i] - first;     // ids below first wrap to large numbers
            if (at < n && at / SHARE == t)
                entry[place(at)] = floatBitsToUint(uintBitsToFloat(entry[place(at)]) + F32(a.bias).v[i]);
        }
    }
    int mask = a.mask_idx != 0ul ? I32(a.mask_idx).v[row] : -1;
    if (mask >= 0) {
        U32 words = U32(a.masks + uint64_t(mask) * ((a.n_vocab + 31) / 32) * 4ul);
        for (uint e = t * SHARE; e < min(t * SHARE + SHARE, n); e++)
            if ((words.v[(first + e) / 32] >> ((first + e) % 32) & 1u) == 0u)
                entry[place(e)] = floatBitsToUint(-INF);
    }
}

// Computes the list's sums, and replaces its logits in entry[] by their keys.
void reduce_list(uint64_t stats)
{
    const uint t = gl_LocalInvocationIndex;
    uint most_key = 0;
    for (uint i = 0; i < SHARE; i++)
        most_key = max(most_key, key_of(uintBitsToFloat(entry[place(t * SHARE + i)])));
    const float most = logit_of(group_max(most_key));
    float sum = 0.0, sum_x = 0.0;
    for (uint i = 0; i < SHARE; i++) {
        float v = uintBitsToFloat(entry[place(t * SHARE + i)]);
        if (!is_minus_inf(v)) {
            float e = exp_f32(v - most);
            sum += e;
            sum_x = fma(e, v - most, sum_x);
        }
        entry[place(t * SHARE + i)] = key_of(v);
    }
    sum = group_sum(sum);
    sum_x = group_sum(sum_x);
    if (t == 0) {
        F32(stats).v[0] = most;
        F32(stats).v[1] = sum;
        F32(stats).v[2] = sum_x;
    }
}

void finish_row(uint row, uint64_t stats)
{
    const uint t = gl_LocalInvocationIndex;
    uint most_key = 0;
    for (uint i = t; i < a.n_stat; i += 256)
        most_key = max(most_key, key_of(F32(stats).v[i * 4]));
    const float most = logit_of(group_max(most_key));
    float sum = 0.0, sum_x = 0.0;
    for (uint i = t; i < a.n_stat; i += 256) {
        const float list = F32(stats).v[i * 4 + 1];
        if (floatBitsToUint(list) != 0u) {              // the list has logits: their sum is 1 or more, or NaN
            float d = F32(stats).v[i * 4] - most, e = exp_f32(d);
            sum = fma(e, list, sum);
            sum_x = fma(e, fma(list, d, F32(stats).v[i * 4 + 2]), sum_x);
        }
    }
    sum = group_sum(sum);
    sum_x = group_sum(sum_x);
    if (t == 0) {
        float log_sum = is_nan(sum) ? sum : most > -INF ? log_f32(sum) : 0.0;
        F32(a.lse).v[row] = most + log_sum;
        F32(a.entropy).v[row] = is_nan(sum) ? sum : most > -INF ? log_sum - sum_x / sum : 0.0;
    }
}

// Finds the k-th largest key of entry[] (found_key), and how many are larger (found_above).
void select_key(uint k)
{
    const uint t = gl_LocalInvocationIndex;
    if (k == 1) {
        uint most = 0;
        for (uint i = 0; i < SHARE; i++)
            most = max(most, entry[place(t * SHARE + i)]);
        most = group_max(most);
        if (t == 0) {
            found_key = most;
            found_above = 0;
        }
        barrier();
        return;
    }
    uint prefix = 0, above = 0;
    for (int shift = 24; shift >= 0; shift -= 8) {
        bin[t] = 0;
        barrier();
        for (uint i = 0; i < SHARE; i++) {
            uint key = entry[place(t * SHARE + i)];
            if (shift == 24 || key >> (shift + 8) == prefix >> (shift + 8))
                atomicAdd(bin[key >> shift & 255u], 1u);
        }
        barrier();
        // how many keys are in this thread's bin, and how many in the bins above it
        uint mine = bin[255 - t], larger = above + group_before(mine);
        if (larger < k && larger + mine >= k) {
            found_key = prefix | (255 - t) << shift;
            found_above = larger;
        }
        barrier();
        prefix = found_key;
        above = found_above;
        barrier();
    }
}

void put(uint list, uint at, uint key, uint id)
{
    if (IS_LAST) {
        entry[at] = key;
        entry[LIST / 2 + at] = ~id;
    } else {
        U32 out_pair = U32(a.kept + (uint64_t(gl_WorkGroupID.y) * a.kept_stride + (list * a.k + at)) * 8ul);
        out_pair.v[0] = floatBitsToUint(logit_of(key));
        out_pair.v[1] = id;
    }
}

// Sorts the pairs (entry[i], entry[LIST / 2 + i]) for i < n into descending order; n is a power of two.
void sort_pairs(uint n)
{
    for (uint size = 2; size <= n; size *= 2)
        for (uint step = size / 2; step > 0; step /= 2) {
            barrier();
            for (uint i = gl_LocalInvocationIndex; i < n / 2; i += 256) {
                uint lo = i / step * step * 2 + i % step, hi = lo + step;
                uint key_lo = entry[lo], key_hi = entry[hi], id_lo = entry[LIST / 2 + lo], id_hi = entry[LIST / 2 + hi];
                bool is_down = (lo & size) == 0, is_less = key_lo < key_hi || key_lo == key_hi && id_lo < id_hi;
                if (is_less == is_down && (key_lo != key_hi || id_lo != id_hi)) {
                    entry[lo] = key_hi;
                    entry[hi] = key_lo;
                    entry[LIST / 2 + lo] = id_hi;
                    entry[LIST / 2 + hi] = id_lo;
                }
            }
        }
    barrier();
}

void main()
{
    a = args.a;
    const uint t = gl_LocalInvocationIndex, list = a.list0 + gl_WorkGroupID.x, k = a.k, row = a.row0 + gl_WorkGroupID.y;
    const uint first = gl_WorkGroupID.x * LIST, n = min(a.n_in - first, LIST);
    const uint64_t stats = a.stats + uint64_t(gl_WorkGroupID.y) * a.n_stat * 16ul;
    const uint64_t in_row = a.given + uint64_t(gl_WorkGroupID.y) * a.given_stride * (IS_FIRST ? 4ul : 8ul);
    if (IS_FIRST) {
        read_logits(row, list * LIST, n, in_row + first * 4ul);
        reduce_list(stats + list * 16ul);
    } else {
        for (uint i = t; i < LIST; i += 256)
            entry[place(i)] = i < n ? key_of(F32(in_row + (first + i) * 8ul).v[0]) : 0u;
    }
    if (IS_LAST) {
        memoryBarrierBuffer();
        barrier();
        finish_row(row, stats);
    }
    barrier();
    select_key(k);

    uint key[SHARE], n_equal = 0, n_above = 0;
    for (uint i = 0; i < SHARE; i++) {
        key[i] = entry[place(t * SHARE + i)];
        n_equal += uint(key[i] == found_key);
        n_above += uint(key[i] > found_key);
    }
    // wanted: how many of the keys that equal the threshold are kept
    const uint threshold = found_key, wanted = threshold != 0u ? k - found_above : 0;
    uint equal_before = group_before(n_equal), at = group_before(n_above) + min(equal_before, wanted);
    const uint n_kept = threshold != 0u ? k : found_above;
    if (IS_LAST)
        barrier();
    for (uint i = 0; i < SHARE; i++) {
        bool is_equal = key[i] == threshold;
        if (key[i] > threshold || is_equal && equal_before < wanted) {
            uint e = t * SHARE + i;
            put(list, at++, key[i], IS_FIRST ? list * LIST + e : U32(in_row + (first + e) * 8ul).v[1]);
        }
        equal_before += uint(is_equal);
    }
    uint n_sort = 1;
    while (n_sort < k)
        n_sort *= 2;
    for (uint i = n_kept + t; i < (IS_LAST ? n_sort : k); i += 256)
        put(list, i, 0u, 0xffffffffu);
    if (!IS_LAST)
        return;
    sort_pairs(n_sort);
    for (uint i = t; i < k; i += 256) {
        U32(a.top_id + (uint64_t(row) * k + i) * 4ul).v[0] = ~entry[LIST / 2 + i];
        F32(a.top_logit + (uint64_t(row) * k + i) * 4ul).v[0] = logit_of(entry[i]);
    }
}
