# Where fetched servers are kept; sourced by the scripts beside it. The crate `embedded` searches the same folders.
#
# Root's own cache would be useless: PostgreSQL runs as another user then, and cannot enter /root.

# Prints the folders to look into, one a line, the one to write into first.
cache_folders() {
    if [ -n "${WATTLINE_CACHE:-}" ]; then
        echo "$WATTLINE_CACHE"
        return
    fi
    if [ -n "${XDG_CACHE_HOME:-}" ]; then
        echo "$XDG_CACHE_HOME/wattline"
    elif [ "$(id -u)" -ne 0 ]; then
        echo "$HOME/.cache/wattline"
    fi
    echo /var/cache/wattline
}

# Prints the folder to write into.
cache_folder() {
    local folder
    read -r folder < <(cache_folders)
    echo "$folder"
}

# Prints the first path below any cache folder that matches the pattern $1, or nothing.
cached() {
    local folder path
    while read -r folder; do
        for path in "$folder"/$1; do
            if [ -e "$path" ]; then
                echo "$path"
                return
            fi
        done
    done < <(cache_folders)
}

# Makes a folder beside its later place, so that `mv` brings it there in one step; prints its path. What a run left
# that was broken off goes first.
new_cache_folder() {
    local cache
    cache=$(cache_folder)
    mkdir -p "$cache" 2>>"$LOG" || return 1
    find "$cache" -maxdepth 1 -type d -name '.building-*' -mmin +60 -exec rm -rf {} +
    mktemp -d "$cache/.building-$1.XXXXXX" 2>>"$LOG"
}

# Moves the finished folder $1 to the name $2 in the cache, readable by every user.
keep_in_cache() {
    chmod -R u+rwX,go+rX "$1"
    local target
    target=$(dirname "$1")/$2
    # Another run may have been faster; what it made is the same.
    [ -e "$target" ] || mv -T "$1" "$target"
    rm -rf "$1"
}

say() { echo "servers: $*"; }
fail() {
    echo "servers: $*" >&2
    exit 1
}
