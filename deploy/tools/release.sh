#!/usr/bin/env bash
# Builds the `wattline` of another release, named by its commit or tag, and prints where it is. It is built from its own
# tree and lock file, below `target/releases`, once.
set -euo pipefail

NAME=${1:?which release: a commit or a tag}
CARGO=${CARGO:-cargo}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
TARGET=${CARGO_TARGET_DIR:-$PWD/target}

commit=$(git rev-parse --verify --quiet "$NAME^{commit}") || {
    echo "release $NAME is not in this clone: git fetch --tags --unshallow" >&2
    exit 1
}
program=$TARGET/releases/$commit/wattline
if [ ! -x "$program" ]; then
    source=$TARGET/releases/$commit/source
    rm -rf "$source"
    mkdir -p "$source"
    git archive "$commit" | tar -x -C "$source"
    # In the same folder, so that libraries that both releases use are built once.
    env CARGO_TARGET_DIR="$TARGET" "$CARGO" build --release --locked --quiet --bin wattline \
        --manifest-path "$source/Cargo.toml" >&2
    rm -rf "$source"
    mv "$TARGET/release/wattline" "$program"
fi
echo "$program"
