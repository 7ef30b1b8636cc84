# Everything a developer of operator-forge runs. `make help` lists it.

CARGO ?= cargo
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/operator-forge
# What one run compiles is no later run's gain: without it the caches stay within a few GB.
export CARGO_INCREMENTAL := 0
# Many tests wait, for a lease to end, say: twice as many as there are cores run at once.
export RUST_TEST_THREADS ?= $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN))))
# etcd, kube-apiserver, kube-controller-manager and kubectl: found in KUBEBUILDER_ASSETS, or fetched or built once.
ASSETS = $$(sh tests/control-plane/build.sh)

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Scaffold an operator, run it against a local control plane, and show its object become Ready
	@$(CARGO) run --package demo

.PHONY: test
test: ## Run what every change has to pass, on a real API server where one is needed
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" && $(CARGO) test --workspace --all-features

# The long runs take new seeds: a seed that was set for `make test` is not theirs.
.PHONY: test-all
test-all: ## Run every test, the long runs and every linter (an hour and more): what happens each night
	$(MAKE) lint
	$(MAKE) test
	unset PROPTEST_RNG_SEED && $(MAKE) histories && $(MAKE) fuzz
	$(MAKE) upgrades
	$(MAKE) registry
	$(MAKE) schemas
	$(MAKE) shells
	$(MAKE) chaos
	sh tests/features.sh every
	sh tests/msrv.sh

.PHONY: histories
histories: CASES ?= 100000
histories: ## Look for a random history of a project that breaks a law (CASES=100000)
	PROPTEST_CASES=$(CASES) $(CARGO) test --test cli properties::histories -- --nocapture

.PHONY: lint
lint: package ## Check format, lints, documentation and packages of every crate
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --all-features -- -D warnings
	sh tests/features.sh
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --all-features --quiet
	$(CARGO) fmt --manifest-path benches/Cargo.toml --all --check
	CARGO_TARGET_DIR="$${CARGO_TARGET_DIR:-$(CURDIR)/target}" $(CARGO) clippy --locked --manifest-path benches/Cargo.toml --all-targets -- -D warnings

.PHONY: package
package: ## Check that the crates can be published
	sh tests/package.sh

.PHONY: fuzz
fuzz: CASES ?= 1000000
fuzz: ## Give random and mutated files to every reader and merge (CASES=1000000; PROPTEST_RNG_SEED=1 for the same again)
	FUZZ_INPUTS=$(CASES) $(CARGO) test --profile fuzz --test cli fuzz:: -- --nocapture --test-threads 2

.PHONY: upgrades
upgrades: ## Update every project of every older template set, then compile and test it
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" UPGRADES=all && \
	$(CARGO) test --test projects upgrades::updated_projects -- --nocapture

.PHONY: registry
registry: ## Compile, test and run a project whose runtime comes from a registry on disk
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" REGISTRY=all && \
	$(CARGO) test --test projects registry:: -- --nocapture

.PHONY: schemas
schemas: ## Run controller-gen over Kubernetes' types, and compare it with the schemas of Rust types (BLESS=1: take what it says)
	sh tests/controller-gen/schemas.sh $(if $(BLESS),write,check)

.PHONY: shells
shells: ## Complete commands in bash, zsh and fish, and read the man pages with `man`
	$(CARGO) build && PATH="$${CARGO_TARGET_DIR:-$(CURDIR)/target}/debug:$$PATH" sh tests/shells.sh bash zsh fish man

.PHONY: chaos
chaos: MINUTES ?= 10
chaos: ## Kill, pause and cut off two replicas, and restart their API server, at random (MINUTES=10)
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" CHAOS_MINUTES=$(MINUTES) && \
	$(CARGO) test --package operator-runtime --all-features --test runtime leadership::chaos -- --exact --nocapture

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

.PHONY: bench-features
bench-features: ## Measure what the features of operator-runtime cost to compile
	sh benches/features.sh

.PHONY: snapshots
snapshots: ## Accept what the tool makes and prints now as the snapshots
	BLESS=1 $(CARGO) test --test cli snapshots::

ROOT := $(or $(CARGO_INSTALL_ROOT),$(CARGO_HOME),$(HOME)/.cargo)
.PHONY: install
install: ## Install the operator-forge binary and its man pages, where `man` finds them beside it
	$(CARGO) install --path . --locked
	$(ROOT)/bin/operator-forge man-pages $(ROOT)/share/man/man1
