#!/usr/bin/env bash
# Runs cargo-deny with the arguments given, and builds it before, once: some 80 s on two cores without optimisation, which
# it does not need. It is kept where the fetched servers are (`deploy/servers/README.md`).
set -euo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$HERE/../servers/cache.sh"
VERSION=0.20.2
CARGO=${CARGO:-cargo}

# Builds it into the cache. Its lock file is its own, so what it needs is what its authors tested.
build() {
    local building
    LOG=$(mktemp "${TMPDIR:-/tmp}/wattline-tools.XXXXXX")
    building=$(new_cache_folder cargo-deny) || fail "cannot write $(cache_folder): set WATTLINE_CACHE to a folder of yours"
    say "building cargo-deny $VERSION" >&2
    if ! env CARGO_TARGET_DIR="$building/target" CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off \
        CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_PROFILE_RELEASE_STRIP=true \
        "$CARGO" install cargo-deny --locked --quiet --version "=$VERSION" --root "$building" >>"$LOG" 2>&1; then
        rm -rf "$building"
        fail "cargo-deny $VERSION could not be built (see $LOG)"
    fi
    rm -rf "$building/target"
    keep_in_cache "$building" "cargo-deny-$VERSION"
    rm -f "$LOG"
}

program=$(cached "cargo-deny-$VERSION/bin/cargo-deny")
if [ -z "$program" ]; then
    build
    program=$(cached "cargo-deny-$VERSION/bin/cargo-deny")
fi
exec "$program" "$@"
