#!/bin/bash
# Installs the service.
source ./common.sh

TARGET_DIR=/opt/service

# Prints and stops.
die() {
    echo "$1" >&2
    exit 1
}

function install_service {
    mkdir -p "$TARGET_DIR" || die "no folder"
    copy_files "$TARGET_DIR"
}

install_service "$@"
