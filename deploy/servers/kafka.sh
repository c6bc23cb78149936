# Fetches Apache Kafka with Maven into the cache; sourced by install.sh.

install_kafka() {
    local pom version building
    pom=$HERE/kafka/pom.xml
    version=$(sed -n 's/.*<kafka.version>\(.*\)<\/kafka.version>.*/\1/p' "$pom")
    [ -z "$(cached "kafka-$version/libs")" ] || return 0
    say "fetching Kafka $version"
    building=$(new_cache_folder kafka) || fail "cannot write $(cache_folder): set WATTLINE_CACHE to a folder of yours"
    # Maven writes below the folder of its pom, which may be read-only.
    cp "$pom" "$building/pom.xml"
    if ! mvn -q -B -f "$building/pom.xml" dependency:copy-dependencies -DincludeScope=runtime \
        -DoutputDirectory="$building/libs" >>"$LOG" 2>&1; then
        rm -rf "$building"
        fail "maven could not fetch Kafka $version (see $LOG): give maven a way to its repository, then run this again"
    fi
    rm -rf "$building/target"
    keep_in_cache "$building" "kafka-$version"
    archive_classes "$(cached "kafka-$version")"
}

# Starts the Kafka in $1 once and keeps the classes it loaded in the form Java uses them in: a start takes one second
# in place of four. Without the archive everything works, slower.
archive_classes() {
    local home=$1 work java
    work=$(mktemp -d)
    java=(java -Xmx512m -XX:+UseSerialGC -XX:-UsePerfData -Djava.io.tmpdir="$work" -cp "$home/libs/*")
    local port=$((15000 + RANDOM % 8000))
    cat >"$work/server.properties" <<PROPERTIES
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$((port + 8000))
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$((port + 8000))
log.dirs=$work/data
PROPERTIES
    "${java[@]}" kafka.tools.StorageTool format -t d2F0dGxpbmUtcHJpdmF0ZQ -c "$work/server.properties" >>"$LOG" 2>&1 || true
    "${java[@]}" -XX:ArchiveClassesAtExit="$work/classes.jsa" kafka.Kafka "$work/server.properties" >"$work/log" 2>&1 &
    local kafka=$!
    for _ in {1..300}; do
        ! grep -q 'Kafka Server started' "$work/log" || break
        kill -0 "$kafka" 2>/dev/null || break
        sleep 0.1
    done
    kill "$kafka" 2>/dev/null || true
    wait "$kafka" || true
    if [ -s "$work/classes.jsa" ]; then
        # In two steps: the temporary folder may be on another file system, and half an archive is worse than none.
        cp "$work/classes.jsa" "$home/.classes.jsa" && chmod 644 "$home/.classes.jsa" && mv "$home/.classes.jsa" "$home/classes.jsa"
    else
        say "no archive of Kafka's classes could be made; it will start in four seconds in place of one"
    fi
    rm -rf "$work"
}
