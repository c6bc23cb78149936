# The two commands are `make demo` and `make test`; both do all set-up by themselves.

CARGO ?= cargo

.PHONY: demo demo-direct test servers servers-direct lint advisories hostile faults upgrade bench bench-pipeline bench-reads bench-control bench-history fuzz-check instructions instructions-accept miri

# The whole pipeline with private servers, a simulated fleet and a login to try. Ctrl-C stops it.
demo: servers
	$(CARGO) build --release --bin wattline
	exec target/release/wattline demo

# The same without Kafka and Java.
demo-direct: servers-direct
	$(CARGO) build --release --bin wattline
	exec target/release/wattline demo --direct

# Every test, on real servers that are fetched and started here. Most of them wait for servers most of the time, so
# there are more at once than two cores would have.
test: export RUST_TEST_THREADS ?= 3
test: servers lint fuzz-check
	$(CARGO) test --workspace --quiet

# Everything is broken for a while, and what is stored is compared with what was published; two minutes, or what
# FAULTS says: make faults FAULTS='--seed 7 --seconds 3600'. The summary goes to target/faults.json.
faults: servers
	$(CARGO) build --release --bin wattline --bin faults
	target/release/faults --summary target/faults.json $(FAULTS)

# A rolling upgrade in the middle of all faults, from the release that FROM names (a commit or a tag): every process begins as the
# old one, and is the new one once it was started again after the migration.
upgrade: servers
	old=$$(CARGO=$(CARGO) deploy/tools/release.sh $(FROM)) && \
		$(CARGO) build --release --bin wattline --bin faults && \
		target/release/faults --upgrade-from "$$old" --summary target/upgrade.json $(FAULTS)

# The servers that tests and the demo start; quick when they are there.
servers:
	deploy/servers/install.sh

servers-direct:
	deploy/servers/install.sh --direct

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	CARGO=$(CARGO) deploy/tools/cargo-deny.sh --locked check licenses bans sources
	CARGO=$(CARGO) deploy/tools/cargo-deny.sh --manifest-path fuzz/Cargo.toml --config deny.toml check licenses bans sources

# Whether a library that is built in has become known as unsafe: asks the open internet for what is known today.
advisories:
	CARGO=$(CARGO) deploy/tools/cargo-deny.sh --locked check advisories

# Every fuzz target compiles, and every kept input passes; fuzz/README.md tells how to run them (needs a nightly toolchain).
# In the house's own folder, so that libraries are built once for both.
FUZZ_TARGET = $(or $(CARGO_TARGET_DIR),target)
fuzz-check:
	$(CARGO) build --quiet --manifest-path fuzz/Cargo.toml --target-dir $(FUZZ_TARGET) --bins
	$(CARGO) test --quiet --manifest-path fuzz/Cargo.toml --target-dir $(FUZZ_TARGET) --lib

# How many instructions the hot functions take, beside what was accepted (`make test` compares them too); the second accepts
# what they take now.
instructions: servers
	$(CARGO) run --quiet --package instructions -- check

instructions-accept: servers
	$(CARGO) run --quiet --package instructions -- accept

# The validator under Miri: the scanner as it stands, and the vector path with stand-ins for what Miri does not know. Needs
# rustup's nightly toolchain with the component miri; some minutes.
MIRI = $(CARGO) +nightly miri test --package wire --lib
VECTORS = avx512f avx512bw avx512vl avx512vbmi avx512vbmi2 popcnt
miri:
	$(MIRI) -- validate:: --skip a_run_ends_at_the_first_byte
	RUSTFLAGS="$(VECTORS:%=-C target-feature=+%)" $(MIRI) --target-dir target/miri-vectors -- validate::

# Hostile inputs over MQTT and HTTP, half each: `make hostile INPUTS=100000`. `make test` sends a few thousand.
INPUTS ?= 100000
hostile: servers
	WATTLINE_HOSTILE_INPUTS=$(INPUTS) $(CARGO) test --package tests --test all -- hostile::inputs --nocapture

# The figures of the README, as benches/README.md tells: single functions, the bridge alone, the aggregator alone, both end to end,
# reads over HTTP; some forty minutes. All go to target/bench/results.json, and a table is printed.
#   make bench RUNS=1 RECORDS=200000                a quick look
#   make bench CONTENDER='command'                  another program in the bridge's place, then ours, and how they compare
#   make bench CONTENDER_WRITER='command'           the same in the aggregator's place
#   make bench BENCH='--write-readme README.md'     further options of target/release/bench
export CONTENDER CONTENDER_WRITER
bench: servers
	$(CARGO) build --release --bin wattline --bin bench --bin plain_bridge --bin reads
	@[ -n "$$CONTENDER$$CONTENDER_WRITER" ] || $(CARGO) bench --package benches --benches
	target/release/bench $(if $(RUNS),--runs $(RUNS)) $(if $(RECORDS),--records $(RECORDS)) \
		$${CONTENDER:+--contender "$$CONTENDER"} $${CONTENDER_WRITER:+--contender-writer "$$CONTENDER_WRITER"} $(BENCH)

# Bridge, aggregator and api end to end; other works are `make bench BENCH=bridge`, `aggregator`, `reads`, `table`.
bench-pipeline: servers
	$(CARGO) build --release --bin wattline --bin bench --bin plain_bridge --bin reads
	target/release/bench pipeline $(BENCH)

# Reads over HTTP on 1,000 buildings with a month of history, and what letting a request in costs; some ten
# minutes, most of them to load the history. Figures go to target/bench/reads.json.
bench-reads: servers
	$(CARGO) build --release --bin wattline --bin reads --bin admission
	target/release/reads
	target/release/admission

# What a record costs the database with a million stored and with a hundred million; a quarter of an hour and 15 GB of disk, most
# of it to load them. Figures go to target/bench/history.json.
bench-history: servers
	$(CARGO) build --release --bin history
	target/release/history

# How soon a controller receives what is desired of it, and how late 30,000 timeouts of 10,000 buildings end; some six
# minutes, most of them waiting for the ends. Figures go to target/bench/control.json.
bench-control: servers
	$(CARGO) build --release --bin wattline --bin control
	target/release/control
