#!/bin/sh
# peer_logits.sh - files of ours read by llama.cpp, and its files read here: do both give the same logits?
#
#   PEER=DIR bench/peer_logits.sh MODEL [TYPE ...]         MODEL: what mythos convert takes; default types Q8_0 Q4_0
#   Q4_K_M Q6_K
#
# PEER     directory outside the tree with build-cpu/bin (libllama.so, llama-quantize) and the Python package llama_cpp
# of the same version
#          in llama_cpp_python-*/          PYTHON with numpy (python3)          MYTHOS the command (build/mythos)
#          WORK a folder for files
# TEXT     a file whose first tokens are run (README.md)          TOKENS of it (32)          BOUND 2e-3
#
# Each type is made twice, by mythos convert and by llama-quantize from our f16 file. Each file is run by llama.cpp,
# which rounds activations to 8 bits, and by mythos, exact and fast; and its values are run by llama.cpp in f32, where
# nothing is rounded on either side. A row agrees when the largest difference is within BOUND of the largest logit, or
# both choose the same token, or llama.cpp's own logits of the two tokens are within BOUND. Exit 1 when a row differs
# from llama.cpp's on the file's values in f32, when a row of the exact path differs from llama.cpp's on the file though
# its own rounding leaves that row where it was, or when the types of the two files differ. The fast path rounds
# activations as llama.cpp does, but not to the same values: its rows are printed.
set -eu
: "${PEER:?set PEER to a directory with build-cpu/bin and llama_cpp_python-*}"
export PEER
exec "${PYTHON:-python3}" "$(dirname "$0")/peer_logits.py" "$@"
