#!/usr/bin/env bash
# Gets the servers that `wattline demo` and the tests start for themselves, and what building wattline needs.
#
#   install.sh            Mosquitto, PostgreSQL, Kafka, TimescaleDB, Prometheus; what the tests need beside servers
#   install.sh --direct   Mosquitto and PostgreSQL only (direct mode: no Kafka, no Java, no TimescaleDB)
#
# Nothing is started and nothing is configured to start. Running it again costs a moment.
set -euo pipefail
# What is fetched is run by other users too.
umask 022

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$HERE/cache.sh"
. "$HERE/packages.sh"
. "$HERE/kafka.sh"
. "$HERE/timescaledb.sh"
. "$HERE/prometheus.sh"

BUILD_PACKAGES=(gcc g++ make libc6-dev libssl-dev zlib1g-dev pkg-config)
# curl: the demo names a request to try. tzdata: TimescaleDB's PostgreSQL reads time zones from the machine. util-linux: setpriv ends servers with their owner.
SERVER_PACKAGES=(curl mosquitto postgresql tzdata util-linux)
# libfaketime: the fault suite steps clocks. valgrind: it counts the instructions of hot functions.
TEST_PACKAGES=(libfaketime valgrind)

direct=''
case "${1:-}" in
'') ;;
--direct) direct=yes ;;
*) fail "usage: install.sh [--direct]" ;;
esac

command -v apt-get >/dev/null || fail "this machine has no apt-get: install mosquitto, postgresql, java 17 and maven by hand"
LOG=$(mktemp "${TMPDIR:-/tmp}/wattline-servers.XXXXXX")

missing=()
for package in "${BUILD_PACKAGES[@]}" "${SERVER_PACKAGES[@]}"; do
    is_installed "$package" || missing+=("$package")
done
if [ -z "$direct" ]; then
    for package in "${TEST_PACKAGES[@]}"; do
        is_installed "$package" || missing+=("$package")
    done
    [ "$(java_version)" -ge 17 ] || missing+=(java)
    command -v mvn >/dev/null || missing+=(maven)
    have_timescaledb || have_debian_keys || missing+=(debian-archive-keyring)
fi
if [ ${#missing[@]} -gt 0 ]; then
    update_packages "${missing[@]}"
    # Which Java there is depends on the release; java stands for it until apt has been asked.
    install_packages "${missing[@]/#java/$(java_package)}"
fi

if [ -z "$direct" ]; then
    [ "$(java_version)" -ge 17 ] || fail "java is older than 17: choose a newer one with update-alternatives --config java"
    install_kafka
    install_timescaledb
    install_prometheus
fi
rm -f "$LOG"
say "all there"
