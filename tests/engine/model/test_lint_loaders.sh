#!/bin/sh
# The readers of model files take memory from the ledger only, and do arithmetic on sizes through the helpers of
# bytes.h: a line with a raw sum or product of something that is named like a size must say in a comment why it cannot
# overflow.
cd "${MYTHOS_SOURCE_DIR:-.}" || exit 1
files=""
for name in meta meta_json weights weights_gguf weights_parts weights_safetensors config config_gguf config_json; do
    files="$files engine/model/$name.c"
done
status=0
if grep -nE '\b(malloc|calloc|realloc|strdup|strndup|alloca|free)[[:space:]]*\(' $files; then
    echo "memory that is not on the ledger" >&2
    status=1
fi
if grep -nE \
    '\b(n_[a-z]+|[a-z_]*(bytes|size|count|off|len|begin|end|pos|left|cap|used|data|dim\[[a-z0-9]+\])) (\+|\*|<<)=? ' \
    $files | grep -v '/\*'; then
    echo "arithmetic on sizes outside myth_add_u64, myth_mul_u64, myth_align_u64, without a reason" >&2
    status=1
fi
# The lint sees: a line of the forbidden kind is found.
printf 'x = n_tensor * size;\n' | grep -qE '\bn_[a-z]+ \* ' || status=1
exit $status
