#!/bin/sh
# peer.sh - measures mythos and llama.cpp on the same files, alternating, and prints tok/s, the ratio, and the share of
# the read bandwidth that the machine has at that moment.
#
#   PEER=DIR bench/peer.sh [cell ...]     a cell is MODEL:TYPE[:DEPTH], such as gemma3-270m:Q8_0:2048; default: all
#
# PEER     folder outside the tree with build-cpu/bin/llama-bench, models/MODEL-TYPE.gguf and, for the bandwidth, limits
# MYTHOS   the command (build/mythos)
# THREADS  2
# ROUNDS   how often A B B A is run (3, which is six fresh processes for each side)
# DEVICE   cpu; or vulkan:N, compared with build-vk/bin/llama-bench
# PROMPT   tokens of a prompt (512); for a model that makes embeddings, the length of one text
# GEN      tokens that are generated (64)
# NICE     prefix of every measuring command, such as "chrt -f 5" on a machine that others use
# OUT      file for one JSON line per cell (none)
#
# Files    published shapes with random weights and the real vocabulary; gemma3-4b has 34 layers, width 2560, 8 heads, 4
#          key heads of 256 and feed-forwards of 10240
# Rules    every measurement is a fresh process, in the order A B B A; results are medians. Where others took more than
#          FOREIGN percent (3) of the processors during a process, it is measured again, up to TRIES times (4), and the
#          quietest is kept. Differences under 3 % count as equal
set -eu
: "${PEER:?set PEER to a directory with build-cpu/bin/llama-bench and models/}"
export PEER
exec python3 "$(dirname "$0")/peer.py" "$@"
