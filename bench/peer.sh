#!/bin/sh
# peer.sh - mythos and llama.cpp on the same files, alternating: tok/s, ratio, share of the read bandwidth of the
# moment.
#
#   PEER=DIR bench/peer.sh [cell ...]         a cell is MODEL:TYPE[:DEPTH], e.g. gemma3-270m:Q8_0:2048; default: all of
#   the table
#
# PEERS    the peers' build folders in $PEER, each with arguments after a colon (build-cpu); all of them alternate, and
#          the ratio is to the best: "build-cpu build-ik build-ik:-rtr,1"
# PEER     directory outside the tree with build-cpu/bin/llama-bench, models/MODEL-TYPE.gguf and, for the bandwidth,
# limits
# MYTHOS   the command (build/mythos)     THREADS 2     ROUNDS pairs of A B B A (3 = six fresh processes of each side)
# DEVICE   cpu, or vulkan:N against build-vk/bin/llama-bench
# PROMPT   512, of a model that makes embeddings one text      GEN 64
# NICE     prefix of every measuring command, e.g. "chrt -f 5" on a machine that others use
# OUT      file for one JSON line per cell (none)
#
# Files    shapes as published, random weights, the real vocabulary; gemma3-4b: 34 layers, 2560 wide, 8 heads and 4 for
# keys of 256, 10240
# Rules    fresh process per measurement, order A B B A, medians; a process during which others took more than FOREIGN
# percent (3) of the
#          processors is measured again, up to TRIES times (4), and the quietest is kept. Differences under 3 % count as
#          equal.
set -eu
: "${PEER:?set PEER to a directory with build-cpu/bin/llama-bench and models/}"
export PEER
exec python3 "$(dirname "$0")/peer.py" "$@"
