# Unpacks TimescaleDB with its PostgreSQL from Debian 13's packages into the cache; sourced by install.sh.
#
# Nothing of it is installed: the packages are fetched by an apt with folders of its own, checked against Debian's
# keys, unpacked, and run with the C library that came with them. So it works on any Debian or Ubuntu, for any user.

SUITE=trixie
DEBIAN_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
PG_MAJOR=17
# LLVM is 40 MB that only a just-in-time compiler needs.
NOT_NEEDED='^(libllvm|libz3|libclang|libperl|.*-perl$)'

have_timescaledb() {
    [ -n "$(cached "timescaledb-*/usr/lib/postgresql/$PG_MAJOR/bin/postgres")" ]
}

# Whether the keys are there that the suite is signed with; an older keyring is not enough.
have_debian_keys() {
    [ -n "$(compgen -G "/usr/share/keyrings/debian-archive-$SUITE-stable.*")" ] && [ -e "$DEBIAN_KEYRING" ]
}

install_timescaledb() {
    ! have_timescaledb || return 0
    say "fetching TimescaleDB"
    local building mirror version
    building=$(new_cache_folder timescaledb) || fail "cannot write $(cache_folder): set WATTLINE_CACHE to a folder of yours"
    for mirror in $(debian_mirrors) ''; do
        [ -n "$mirror" ] || fail "no Debian mirror offers $SUITE (see $LOG): set WATTLINE_DEBIAN_MIRROR to one"
        ! use_mirror "$building/apt" "$mirror" || break
    done
    fetch_packages "$building/apt" || fail "could not fetch postgresql-$PG_MAJOR-timescaledb (see $LOG): run this again"
    version=$(dpkg-deb -f "$building"/apt/packages/postgresql-$PG_MAJOR-timescaledb_*.deb Version)
    unpack_packages "$building/apt/packages" "$building"
    rm -rf "$building/apt"
    wrap_programs "$building"
    check_unpacked "$building" || fail "the unpacked TimescaleDB does not run here (see $LOG): only install.sh --direct works on this machine"
    keep_in_cache "$building" "timescaledb-${version%%[+-]*}"
}

# Prints the addresses that this machine's own apt has for Debian, or what WATTLINE_DEBIAN_MIRROR says.
debian_mirrors() {
    if [ -n "${WATTLINE_DEBIAN_MIRROR:-}" ]; then
        echo "$WATTLINE_DEBIAN_MIRROR"
        return
    fi
    local codename
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    # apt itself reads its sources, in whatever format they are. Security updates have an address without releases.
    apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Identifier: Packages' 2>>"$LOG" |
        awk -v codename="$codename" '($1 == codename || $1 == "stable") && $2 == "main" && !seen[$3]++ { print $3 }'
}

# Runs an apt program that has all its folders below $1 and knows of no installed package.
private_apt() {
    local program=$1 folder=$2
    shift 2
    "$program" -q -y -o Dir::State="$folder/state" -o Dir::State::status="$folder/status" -o Dir::Cache="$folder/cache" \
        -o Dir::Etc::sourcelist="$folder/sources.list" -o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferences=/dev/null \
        -o Dir::Etc::preferencesparts=/dev/null -o Dir::Log="$folder" -o APT::Sandbox::User= -o APT::Install-Recommends=false \
        -o APT::Get::List-Cleanup=false -o Acquire::Languages=none -o Acquire::Retries=3 "$@" 2>>"$LOG"
}

# Makes the private apt in $1 and lets it read what the mirror $2 offers; fails when that is no Debian.
use_mirror() {
    local folder=$1 mirror=$2
    rm -rf "$folder"
    mkdir -p "$folder/state/lists/partial" "$folder/cache/archives/partial" "$folder/packages"
    : >"$folder/status"
    echo "deb [signed-by=$DEBIAN_KEYRING] $mirror $SUITE main" >"$folder/sources.list"
    # APT::Update::Error-Mode: without it a mirror that cannot be reached is only a warning.
    private_apt apt-get "$folder" -o APT::Update::Error-Mode=any update >>"$LOG"
}

# Fetches the server and the libraries it needs; what else Debian would install with them is for a system's own server.
fetch_packages() {
    local folder=$1 names
    names=$(private_apt apt-get "$folder" -s install "postgresql-$PG_MAJOR-timescaledb" |
        awk '$1 == "Inst" { print $2 }' | grep -E "^(lib|postgresql-$PG_MAJOR)" | grep -vE "$NOT_NEEDED") || return 1
    # shellcheck disable=SC2086 # a list of names
    (cd "$folder/packages" && private_apt apt-get "$folder" download $names libc-bin >>"$LOG")
}

unpack_packages() {
    local package
    for package in "$1"/*.deb; do
        dpkg-deb -x "$package" "$2"
    done
    rm -rf "$2"/usr/share/{doc,man,locale,lintian} "$2"/usr/lib/postgresql/$PG_MAJOR/lib/{llvmjit*,bitcode}
}

# Puts a script in the place of each program, which runs it with the C library and the libraries unpacked beside it.
# PostgreSQL finds its files from the path it was called by, so the scripts and the programs stay where they were.
wrap_programs() {
    local root=$1 loader libraries program
    loader=$(cd "$root" && find usr/lib -name 'ld-linux*.so.*' -type f)
    libraries=$(dirname "$loader")
    for program in postgres initdb; do
        program=$root/usr/lib/postgresql/$PG_MAJOR/bin/$program
        mv "$program" "$program.real"
        cat >"$program" <<WRAPPER
#!/bin/sh
root=\${0%/usr/lib/postgresql/*}
LOCPATH=\$root/usr/lib/locale exec "\$root/$loader" --library-path "\$root/$libraries" --argv0 "\$0" "\$0.real" "\$@"
WRAPPER
        chmod 755 "$program"
    done
}

# Runs the server, and has the loader look for every library of the extension.
check_unpacked() {
    local root=$1 programs=$1/usr/lib/postgresql/$PG_MAJOR loader library
    "$programs/bin/postgres" --version >>"$LOG" 2>&1 || return 1
    loader=$(find "$root/usr/lib" -name 'ld-linux*.so.*' -type f)
    for library in "$programs/bin/postgres.real" "$programs/bin/initdb.real" "$programs"/lib/timescaledb*.so; do
        "$loader" --library-path "$(dirname "$loader")" --list "$library" >>"$LOG" 2>&1 || return 1
    done
}
