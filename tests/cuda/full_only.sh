# full_only.sh PROGRAM [ARGUMENT ...] - runs it with MYTHOS_TEST_FULL=1, else counts as skipped: minutes under the sanitizers.
if [ "${MYTHOS_TEST_FULL:-}" != 1 ]; then
    echo "on the emulated device in full runs only"
    exit 77
fi
exec "$@"
