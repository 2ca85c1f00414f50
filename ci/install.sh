#!/bin/sh
# install.sh - puts mythos on a Debian machine: the package MYTHOS_PACKAGE, or a build of the sources in MYTHOS_SOURCE.
# Does nothing where the command is there.
set -eu
if command -v "${MYTHOS:-mythos}" >/dev/null; then
    exit 0
fi
root=
[ "$(id -u)" -eq 0 ] || root=sudo
if [ -n "${MYTHOS_PACKAGE:-}" ]; then
    case $MYTHOS_PACKAGE in
    /*) package=$MYTHOS_PACKAGE ;;
    *) package=./$MYTHOS_PACKAGE ;;             # a name without a folder would be a package of the mirror
    esac
    $root apt-get update -q
    $root apt-get install -y --no-install-recommends "$package"
else
    source=${MYTHOS_SOURCE:-$(dirname "$0")/..}
    $root make -C "$source" install PREFIX=/usr/local
fi
