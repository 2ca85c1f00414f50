#!/usr/bin/env bash
# Applies the files of migrations/ that the database has not seen, in order, each in a
# transaction. What was applied must not change: its checksum is compared.
set -euo pipefail

url=${FERNHILL_DATABASE_URL:?set FERNHILL_DATABASE_URL}
dir=$(cd "$(dirname "$0")/../migrations" && pwd)
dry_run=no
[ "${1:-}" = "--dry-run" ] && dry_run=yes

query() { psql "$url" -XAtq -v ON_ERROR_STOP=1 "$@"; }

query -c "CREATE TABLE IF NOT EXISTS schema_migrations (name text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"

applied=0
for file in "$dir"/[0-9]*.sql; do
    name=$(basename "$file" .sql)
    sum=$(sha256sum "$file" | cut -d ' ' -f 1)
    known=$(query -v name="$name" <<<"SELECT sha256 FROM schema_migrations WHERE name = :'name'")
    if [ -n "$known" ]; then
        if [ "$known" != "$sum" ]; then
            echo "$name was changed after it was applied" >&2
            exit 1
        fi
        continue
    fi
    echo "applying $name"
    [ "$dry_run" = yes ] && continue
    query -1 -v name="$name" -v sum="$sum" -f "$file" -f - <<<"INSERT INTO schema_migrations (name, sha256) VALUES (:'name', :'sum')"
    applied=$((applied + 1))
done
echo "$applied applied"
