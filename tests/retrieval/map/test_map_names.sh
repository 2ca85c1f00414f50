#!/bin/sh
# Maps of twelve repositories name what their own documents introduce (tests/corpus/map-expect): half of it in 1,000
# tokens, four fifths in 4,000. MYTHOS_TEST_TREES is a folder with clones of them; in full runs only.
[ "${MYTHOS_TEST_FULL:-}" = 1 ] || { echo "skipped: in full runs only"; exit 77; }
[ -d "${MYTHOS_TEST_TREES:-}" ] || { echo "skipped: MYTHOS_TEST_TREES names no folder with the repositories"; exit 77; }
command -v git >/dev/null || { echo "skipped: git is missing"; exit 77; }
exec python3 bench/retrieval_map_names.py --repos "$MYTHOS_TEST_TREES" --mythos "${MYTHOS_BIN:-./build/mythos}" \
    --least 0.5,0.8
