# Installs Debian and Ubuntu packages without starting anything; sourced by install.sh.

APT_OPTIONS=(-q -y --no-install-recommends -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300)
POLICY=/usr/sbin/policy-rc.d
CLUSTERS=/etc/postgresql-common/createcluster.conf

# Runs a command as root, by sudo without a password when we are someone else.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

can_be_root() {
    [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null
}

apt_get() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get "${APT_OPTIONS[@]}" "$@" >>"$LOG" 2>&1
}

is_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Puts back what install_packages changed for its own time.
undo_package_guards() {
    [ -z "${made_policy:-}" ] || as_root rm -f "$POLICY"
    [ -z "${kept_clusters:-}" ] || as_root mv "$CLUSTERS.wattline" "$CLUSTERS"
    made_policy='' kept_clusters=''
}

# Makes apt know what there is; to be called before packages $* can be installed.
update_packages() {
    can_be_root || fail "packages are missing; as root run: apt-get install $*"
    apt_get update || fail "apt-get update failed (see $LOG): mend the machine's package sources, then run this again"
}

# Installs the packages named; no service of theirs is started, and PostgreSQL makes no cluster on port 5432.
install_packages() {
    say "installing $*"
    trap undo_package_guards EXIT
    if [ ! -e "$POLICY" ]; then
        printf '#!/bin/sh\nexit 101\n' | as_root tee "$POLICY" >/dev/null
        as_root chmod 755 "$POLICY"
        made_policy=yes
    fi
    if [[ " $* " == *" postgresql "* ]]; then
        forbid_default_cluster "$@"
    fi
    apt_get install "$@" || fail "apt-get could not install $* (see $LOG)"
    if [[ " $* " == *" mosquitto "* ]] && command -v systemctl >/dev/null; then
        # Else the next boot would start a broker on port 1883 that nobody asked for.
        as_root systemctl --quiet disable mosquitto.service >>"$LOG" 2>&1 || true
    fi
    undo_package_guards
}

# The setting lives in a file of postgresql-common, which must therefore be there before the server.
forbid_default_cluster() {
    apt_get install postgresql-common || fail "apt-get could not install postgresql-common (see $LOG)"
    [ -e "$CLUSTERS" ] || return 0
    as_root cp -p "$CLUSTERS" "$CLUSTERS.wattline"
    kept_clusters=yes
    echo 'create_main_cluster = false' | as_root tee -a "$CLUSTERS" >/dev/null
}

# Prints the major version of the Java on the PATH, or 0.
java_version() {
    local said
    said=$(java -version 2>&1) || true
    if [[ $said =~ version\ \"([0-9]+) ]]; then echo "${BASH_REMATCH[1]}"; else echo 0; fi
}

# Prints the first Java runtime package of version 17 or later that the machine's sources offer; for after an update.
java_package() {
    local package policy
    for package in openjdk-21-jre-headless openjdk-17-jre-headless openjdk-25-jre-headless; do
        policy=$(LC_ALL=C apt-cache policy "$package" 2>/dev/null)
        if [[ $policy =~ Candidate:\ [0-9] ]]; then
            echo "$package"
            return
        fi
    done
    echo default-jre-headless
}
