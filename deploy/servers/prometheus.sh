# Unpacks Prometheus and promtool from the machine's own Debian or Ubuntu package into the cache; sourced by install.sh.
#
# Only the tests of the alert rules run it. The package is not installed: its programs need the C library alone, and
# nothing of it is to start with the machine. Where it is on the PATH already, that one is used.

have_prometheus() {
    { command -v prometheus && command -v promtool; } >/dev/null && return
    [ -n "$(cached "prometheus-*/usr/bin/promtool")" ]
}

install_prometheus() {
    ! have_prometheus || return 0
    say "fetching Prometheus"
    local building version
    building=$(new_cache_folder prometheus) || fail "cannot write $(cache_folder): set WATTLINE_CACHE to a folder of yours"
    fetch_prometheus "$building/apt" || fail "could not fetch prometheus (see $LOG): run apt-get update as root, then this again"
    version=$(dpkg-deb -f "$building"/apt/packages/prometheus_*.deb Version)
    version=${version#*:}
    dpkg-deb -x "$building"/apt/packages/prometheus_*.deb "$building/unpacked"
    mkdir -p "$building/usr/bin"
    mv "$building"/unpacked/usr/bin/{prometheus,promtool} "$building/usr/bin"
    rm -rf "$building/apt" "$building/unpacked"
    "$building/usr/bin/promtool" --version >>"$LOG" 2>&1 || fail "the unpacked Prometheus does not run here (see $LOG): install the package prometheus"
    keep_in_cache "$building" "prometheus-${version%%[+-]*}"
}

# Fetches the package with the machine's own apt, which checks it; with the private apt of TimescaleDB where the
# machine's own has no list of packages.
fetch_prometheus() {
    local folder=$1 mirror
    mkdir -p "$folder/packages"
    ! (cd "$folder/packages" && apt-get -q download prometheus >>"$LOG" 2>&1) || return 0
    for mirror in $(debian_mirrors); do
        use_mirror "$folder" "$mirror" || continue
        ! (cd "$folder/packages" && private_apt apt-get "$folder" download prometheus >>"$LOG") || return 0
    done
    return 1
}
