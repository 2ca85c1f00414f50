#!/bin/sh
# peer_tokens.sh - compares the tokens of many texts between mythos and llama.cpp, from the same file.
#
#   PEER=DIR bench/peer_tokens.sh MODEL [TREE ...]     MODEL: an argument of mythos convert, or a GGUF file; TREE:
#                                                      folders from whose files texts are cut (.)
#
# PEER, PYTHON, MYTHOS, WORK   as in peer_logits.sh
# TEXTS                        how many texts (2,000)
#
# Texts are pieces of 1 to 2,000 bytes from files of the trees, cut at the ends of characters. A tenth of them is mixed
# with markers of the vocabulary and runs of blanks. U+2581 is left out, because llama.cpp reads it as a blank while the
# reference tokenizers read it as itself. Both sides read markers as tokens (--special, parse_special). The first few
# differences are printed; any difference makes the exit code 1.
set -eu
: "${PEER:?set PEER to a directory with build-cpu/bin and llama_cpp_python-*}"
export PEER
exec "${PYTHON:-python3}" "$(dirname "$0")/peer_tokens.py" "$@"
