# Everything a developer of operator-forge runs. `make help` lists it.

CARGO ?= cargo
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/operator-forge
# Generated projects and the manager crate share one target directory: their dependencies are compiled once.
GENERATED_TARGET_DIR := $(CACHE)/target
# What one run compiles is no later run's gain: without it the caches stay within a few GB.
export CARGO_INCREMENTAL := 0
# etcd, kube-apiserver, kube-controller-manager and kubectl: found in KUBEBUILDER_ASSETS, or built once into the cache.
ASSETS = $$(sh tests/control-plane/build.sh)

# To Cargo, the manager crate of another checkout that shares the target directory is this one, and fresh: its source is
# outside of the package, so that Cargo looks for changes where it was built from.
RENEW = echo "$(CURDIR)" | cmp -s - "$(GENERATED_TARGET_DIR)/checkout" || { \
	CARGO_TARGET_DIR="$(GENERATED_TARGET_DIR)" $(CARGO) clean --quiet --manifest-path crates/manager/Cargo.toml --package manager && \
	mkdir -p "$(GENERATED_TARGET_DIR)" && echo "$(CURDIR)" > "$(GENERATED_TARGET_DIR)/checkout"; }

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Scaffold an operator, run it against a local control plane, and show its object become Ready
	@$(CARGO) run --quiet --example demo

.PHONY: test
test: ## Run every test, on a real API server where one is needed
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" && \
	$(CARGO) test && { $(RENEW); } && \
	CARGO_TARGET_DIR="$(GENERATED_TARGET_DIR)" $(CARGO) test --manifest-path crates/manager/Cargo.toml --all-features

.PHONY: histories
histories: CASES ?= 100000
histories: ## Look for a random history of a project that breaks a law (CASES=100000)
	PROPTEST_CASES=$(CASES) $(CARGO) test --test properties histories -- --nocapture

.PHONY: lint
lint: ## Check format, lints and documentation
	$(CARGO) fmt --all --check
	$(CARGO) clippy --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps --quiet
	@$(RENEW)
	CARGO_TARGET_DIR="$(GENERATED_TARGET_DIR)" $(CARGO) fmt --manifest-path crates/manager/Cargo.toml --check
	CARGO_TARGET_DIR="$(GENERATED_TARGET_DIR)" $(CARGO) clippy --manifest-path crates/manager/Cargo.toml --all-targets --all-features -- -D warnings
	CARGO_TARGET_DIR="$(GENERATED_TARGET_DIR)" $(CARGO) fmt --manifest-path benches/Cargo.toml --all --check
	CARGO_TARGET_DIR="$(GENERATED_TARGET_DIR)" $(CARGO) clippy --locked --manifest-path benches/Cargo.toml --all-targets -- -D warnings

.PHONY: fuzz
fuzz: CASES ?= 1000000
fuzz: ## Give random and mutated files to every reader and merge (CASES=1000000; PROPTEST_RNG_SEED=1 for the same again)
	FUZZ_INPUTS=$(CASES) $(CARGO) test --profile fuzz --test fuzz -- --nocapture --test-threads 2

.PHONY: upgrades
upgrades: ## Update every project of every older template set, then compile and test it
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" UPGRADES=all && $(CARGO) test --test upgrades compile -- --nocapture

.PHONY: bench
bench: ## Measure each command against `cp -r` of what it makes
	$(CARGO) bench --bench commands

# The workspace of the benchmarks has a target directory of its own: its release builds are no test's.
MEASURED := $(CACHE)/target-bench
GO_BUILD := CGO_ENABLED=0 go build -trimpath -ldflags "-s -w"
.PHONY: bench-operator
bench-operator: ## Measure an operator against one on controller-runtime (ROWS="1000x1 1000x10")
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" CARGO_TARGET_DIR="$(MEASURED)" && \
	cd benches && $(CARGO) build --release --locked --package server-operator && \
	(cd operator/go && $(GO_BUILD) -o "$(MEASURED)/release/operator-controller-runtime" ./cmd) && \
	$(CARGO) run --release --locked --package bench-operator -- $(ROWS)

.PHONY: bench-webhooks
bench-webhooks: ## Measure webhooks against those of controller-runtime (ARGS="--rounds 3")
	export CARGO_TARGET_DIR="$(MEASURED)" && \
	cd benches && $(CARGO) build --release --locked --package webhook-server && \
	(cd webhooks/go && $(GO_BUILD) -o "$(MEASURED)/release/webhooks-controller-runtime" ./cmd) && \
	$(CARGO) run --release --locked --package bench-webhooks -- $(ARGS)

.PHONY: snapshots
snapshots: ## Accept what the tool makes and prints now as the snapshots
	BLESS=1 $(CARGO) test --test snapshots

.PHONY: install
install: ## Install the operator-forge binary
	$(CARGO) install --path . --locked
