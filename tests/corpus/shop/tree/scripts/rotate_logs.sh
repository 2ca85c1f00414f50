#!/bin/sh
# Compresses yesterday's logs of one service and drops those older than a month.
# Called by cron as: rotate_logs.sh SERVICE
service=$1
dir=/var/log/fernhill

cd "$dir" || exit 1
for log in "$service"-*.log; do
    [ -f "$log" ] || continue
    case $log in
        *"$(date +%Y%m%d)"*) continue ;;
    esac
    gzip -9 "$log"
done

sh -c "find $dir -name $service-*.log.gz -mtime +31 -delete"
