#!/bin/sh
# peer_logits.sh - compares the logits of mythos and llama.cpp, on files that mythos made and on files that llama.cpp
# made.
#
#   PEER=DIR bench/peer_logits.sh MODEL [TYPE ...]     MODEL: an argument of mythos convert; default types: Q8_0 Q4_0
#                                                      Q4_K_M Q6_K
#
# PEER     folder outside the tree with build-cpu/bin (libllama.so, llama-quantize) and the Python package llama_cpp of
#          the same version in llama_cpp_python-*/
# PYTHON   a Python with numpy (python3)
# MYTHOS   the command (build/mythos)
# WORK     a folder for files
# TEXT     a file whose first tokens are run (README.md)
# TOKENS   how many of its tokens (32)
# BOUND    2e-3
#
# Each type is made twice: by mythos convert, and by llama-quantize from our f16 file. Each file is run by llama.cpp,
# which rounds activations to 8 bits, and by mythos, exact and fast. llama.cpp also runs the file's values in f32, where
# neither side rounds anything. A row agrees when the largest difference is within BOUND of the largest logit, or when
# both choose the same token, or when llama.cpp's own logits of the two tokens are within BOUND of each other.
#
# Exit 1   when a row differs from llama.cpp's row on the values in f32; when a row of the exact path differs from
#          llama.cpp's row on the file although llama.cpp's rounding did not change that row; or when the two files
#          differ in a type. The fast path rounds activations as llama.cpp does, but not to the same values, so its rows
#          are only printed
set -eu
: "${PEER:?set PEER to a directory with build-cpu/bin and llama_cpp_python-*}"
export PEER
exec "${PYTHON:-python3}" "$(dirname "$0")/peer_logits.py" "$@"
