#!/bin/sh
# spirv_words.sh SPV INC - writes the 32-bit words of a shader as numbers of C, a comma behind each: what
# glslc -mfmt=num writes, without compiling the shader a second time.
set -e
od -An -v -t x4 -w16 "$1" >"$2.new"
sed 's/ \([0-9a-f]*\)/0x\1,/g' "$2.new" >"$2"
rm "$2.new"
