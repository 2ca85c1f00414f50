#!/bin/sh
# peer_tokens.sh - are the tokens of many texts the same here and in llama.cpp, from the same file?
#
#   PEER=DIR bench/peer_tokens.sh MODEL [TREE ...]      MODEL: what mythos convert takes, or a GGUF file; TREE: folders
#   that texts are cut from (.)
#
# PEER     as in peer_logits.sh          PYTHON, MYTHOS, WORK as there          TEXTS how many (2,000)
#
# Texts are pieces of 1 to 2,000 bytes of the trees' files, cut where characters end, a tenth of them mixed with markers
# of the vocabulary and runs of blanks. U+2581 is left out: llama.cpp takes it for a blank, the reference tokenizers for
# itself. Markers are tokens to both (--special, parse_special). Exit 1 at a difference; the first few are printed.
set -eu
: "${PEER:?set PEER to a directory with build-cpu/bin and llama_cpp_python-*}"
export PEER
exec "${PYTHON:-python3}" "$(dirname "$0")/peer_tokens.py" "$@"
