# full_only.sh PROGRAM [ARGUMENT ...] - runs it with MYTHOS_TEST_FULL=1, else counts as skipped: what takes minutes on a
# device in software.
if [ "${MYTHOS_TEST_FULL:-}" != 1 ]; then
    echo "in full runs only"
    exit 77
fi
exec "$@"
