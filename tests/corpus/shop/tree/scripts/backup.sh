#!/usr/bin/env bash
# Nightly dump of the databases, encrypted, with the last fourteen kept.
set -euo pipefail

target=${BACKUP_DIR:-/var/backups/fernhill}
recipient=${BACKUP_RECIPIENT:?set BACKUP_RECIPIENT to a key of the operators}
keep=14
stamp=$(date -u +%Y%m%d)

mkdir -p "$target"
for database in accounts billing; do
    out="$target/$database-$stamp.dump.gpg"
    if [ -s "$out" ]; then
        echo "$database: done already"
        continue
    fi
    pg_dump --format=custom "$database" | gpg --batch --encrypt --recipient "$recipient" --output "$out.tmp"
    mv "$out.tmp" "$out"
    echo "$database: $(du -h "$out" | cut -f 1)"
done

# Newest first; everything beyond $keep of each database goes.
for database in accounts billing; do
    find "$target" -name "$database-*.dump.gpg" -printf '%f\n' | sort -r | tail -n +$((keep + 1)) | while read -r old; do
        rm -- "$target/$old"
        echo "removed $old"
    done
done
