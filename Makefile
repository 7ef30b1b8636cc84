# The commands for developing operator-forge. `make help` lists them.

CARGO ?= cargo
XDG_CACHE_HOME ?=
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/operator-forge
# Incremental artifacts rarely help between runs, and without them the caches stay within a few GB.
export CARGO_INCREMENTAL := 0
# Many tests wait (for a lease to expire, for example), so two run on each core.
export RUST_TEST_THREADS ?= $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN))))
# The directory of etcd, kube-apiserver, kube-controller-manager and kubectl: KUBEBUILDER_ASSETS, or downloaded or built once.
ASSETS = $$(sh tests/control-plane/build.sh)

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Scaffold an operator, run it against a local control plane, and wait until it has reconciled an object
	@$(CARGO) run --package demo

.PHONY: recording
recording: ## Run the commands of docs/recording/session.console again, and draw them for the README
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" && \
	$(CARGO) build && $(CARGO) run --package demo --bin record

.PHONY: book
book: ## Build the book of docs/ in target/book
	sh docs/book/build.sh target/book

# Everybody tries the same random inputs, so a change is not judged by luck. The long runs of `make test-all` use new ones.
.PHONY: test
test: export PROPTEST_RNG_SEED ?= 1
test: ## Run the tests that every change has to pass; some need a real API server
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" && CARGO="$(CARGO)" sh tests/suites.sh

# Not among them: fips needs CMake, siege needs root, and the benchmarks measure.
PARTS := lint test package features projects msrv shells book schemas lint-generated registry histories fuzz random-types cel charts pages takeover chaos shards \
	upgrades etcd-steps etcd-faults chart-steps molecule
.PHONY: test-all
test-all: ## Run every test, long run and linter, one after the other (hours), and list their outcomes (PARTS="fuzz msrv")
	@unset PROPTEST_RNG_SEED && sh tests/all.sh $(PARTS)

.PHONY: parts
parts: ## List the parts of test-all, which the nightly workflow runs side by side
	@echo $(PARTS)

.PHONY: features
features: ## Check operator-runtime with every set of its features
	sh tests/features.sh every

.PHONY: msrv
msrv: ## Check operator-runtime with the oldest Rust that it promises
	sh tests/msrv.sh

.PHONY: histories
histories: CASES ?= 100000
histories: ## Check the laws on random histories of a project (CASES=100000)
	PROPTEST_CASES=$(CASES) $(CARGO) test --test cli properties::histories -- --nocapture

.PHONY: lint
lint: ## Check format, lints, documentation and packages of every crate
	sh tests/package.sh
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --all-features -- -D warnings
	sh tests/features.sh
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --all-features --quiet
	$(CARGO) fmt --manifest-path examples/etcd-operator/Cargo.toml --check
	CARGO_TARGET_DIR="$(CACHE)/etcd-target" $(CARGO) clippy --locked --manifest-path examples/etcd-operator/Cargo.toml --all-targets -- -D warnings
	$(CARGO) fmt --manifest-path benches/Cargo.toml --all --check
	CARGO_TARGET_DIR="$${CARGO_TARGET_DIR:-$(CURDIR)/target}" $(CARGO) clippy --locked --manifest-path benches/Cargo.toml --all-targets -- -D warnings

.PHONY: lint-generated
lint-generated: ## Run actionlint, zizmor, hadolint, yamllint, shellcheck, kube-score and helm lint over the recorded projects
	assets=$(ASSETS) && helm=$$(sh tests/helm/build.sh) && \
	KUBEBUILDER_ASSETS="$$assets" HELM="$$helm" sh tests/lint/generated.sh

.PHONY: chart-steps
chart-steps: ## Take downloaded charts through the life of a release, and end their operators between writes
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" && \
	$(CARGO) test --package operator-helm --test releases -- --include-ignored --nocapture charts::

.PHONY: charts-fetched
charts-fetched: ## Compare how helm-render and Helm render charts that are downloaded
	$(CARGO) test -p helm-render --test helm -- --ignored --nocapture fetched_charts

.PHONY: molecule
molecule: ## Run the Molecule tests of an operator that is taken over from operator-sdk (needs Go and Python)
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" CARGO_TARGET_DIR="$(CACHE)/target" && sh tests/ansible/molecule.sh

.PHONY: package
package: ## Build the crates as they would be published
	sh tests/package.sh build

.PHONY: fuzz
fuzz: CASES ?= 1000000
fuzz: ## Fuzz every reader and merge (CASES=1000000; PROPTEST_RNG_SEED=1 repeats a run)
	FUZZ_INPUTS=$(CASES) $(CARGO) test --profile fuzz --test cli fuzz:: -- --nocapture --test-threads 2
	FUZZ_INPUTS=$(CASES) $(CARGO) test --profile fuzz --package operator-runtime --all-features --test runtime fuzz:: -- --nocapture

.PHONY: upgrades
upgrades: ## Update, compile and test every recorded project of older template sets
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" UPGRADES=all && \
	$(CARGO) test --test projects upgrades::updated_projects -- --nocapture

.PHONY: projects
projects: ## Compile, lint and test every recorded project, and compare its manifests (BLESS=1 accepts them)
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" PROJECTS=all && \
	$(CARGO) test --test projects generated::projects -- --nocapture

.PHONY: charts
charts: ## Install, upgrade and roll back the chart of every recorded project
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" CHARTS=all && \
	$(CARGO) test --test cli chart::cluster::every_chart -- --nocapture

.PHONY: pages
pages: ## Build the operators of the tutorials from the pages' own text (ONE=cronjob: of one page)
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" PAGES=$(or $(ONE),all) && \
	$(CARGO) test --test projects pages:: -- --nocapture

.PHONY: takeover
takeover: ## Put ports in the place of running Go operators, of kubebuilder and of operator-sdk (needs Go)
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" && \
	operator=$$(sh tests/helm/build.sh operator-sdk) && export HELM_OPERATOR="$$operator" && \
	$(CARGO) test --test projects takeover:: -- --ignored --nocapture && \
	$(CARGO) test --package operator-helm --test releases takeover:: -- --ignored

.PHONY: import
import: CRDS ?= $(error name a directory of CRDs: make import CRDS=DIR)
import: ## Compile the types of the CRDs in a directory, and compare their CRDs, also on API servers (CRDS=DIR, ONLY=SUBDIRECTORY)
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" CRDS=$(abspath $(CRDS)) && \
	$(CARGO) test --package crd-types --test law import:: -- --ignored --nocapture

.PHONY: random-types
random-types: CASES ?= 10000
random-types: ## Compile the types of random CRDs, and compare their CRDs (CASES=10000)
	CASES=$(CASES) $(CARGO) test --package crd-types --test law random::random_definitions_are_kept -- --exact --nocapture

.PHONY: cel
cel: CASES ?= 100000
cel: ## Compare how CEL rules are judged, and their costs, with Kubernetes' own code (CASES=100000, SEED=1, CRDS=DIR)
	oracle=$$(sh tests/cel/build.sh) && export CEL_ORACLE="$$oracle" CASES=$(CASES) && \
	$(CARGO) test --package operator-runtime --all-features --lib oracle -- --ignored --nocapture

.PHONY: registry
registry: ## Compile, test and run a project with the runtime from a local registry
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" REGISTRY=all && \
	$(CARGO) test --test projects registry:: -- --nocapture

.PHONY: fips
fips: ## Test the cryptography of operator-runtime in FIPS mode (needs Go and CMake)
	sh tests/fips.sh

.PHONY: schemas
schemas: ## Compare the schemas of Kubernetes' types with those of controller-gen (BLESS=1 accepts controller-gen's)
	sh tests/controller-gen/schemas.sh $(if $(BLESS),write,check)

.PHONY: shells
shells: ## Test completion in bash, zsh and fish, and the man pages
	$(CARGO) build && PATH="$${CARGO_TARGET_DIR:-$(CURDIR)/target}/debug:$$PATH" sh tests/shells.sh bash zsh fish man

.PHONY: shards
shards: MINUTES ?= 10
shards: REPLICAS ?= 4
shards: LEASE ?= 3
shards: ## Explore the protocol of shards further, shake replicas that share objects, and scale them (MINUTES=10 REPLICAS=4 LEASE=3)
	$(CARGO) test --package operator-runtime --all-features --lib shards:: -- --ignored --nocapture
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" CHAOS_MINUTES=$(MINUTES) CHAOS_REPLICAS=$(REPLICAS) CHAOS_LEASE=$(LEASE) && \
	$(CARGO) test --package operator-runtime --all-features --test runtime shards:: -- --test-threads 1 --nocapture
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" && \
	$(CARGO) test --workspace --test projects shared:: -- --ignored --nocapture

.PHONY: chaos
chaos: MINUTES ?= 10
chaos: ## Kill, pause and disconnect two replicas, and restart their API server, at random (MINUTES=10)
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" CHAOS_MINUTES=$(MINUTES) && \
	$(CARGO) test --package operator-runtime --all-features --test runtime leadership::chaos -- --exact --nocapture

.PHONY: demo-etcd
demo-etcd: ## Run a cluster of real etcd from nothing to a restore, with the operator of examples/etcd-operator and without containers
	@assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" && sh tests/etcd/run.sh story --whole

.PHONY: etcd-faults
etcd-faults: ## Disturb clusters of etcd while clients write and read, and print a table (ONLY=upgrade: rows with that word)
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" && sh tests/etcd/run.sh faults --only '$(ONLY)'

.PHONY: etcd-steps
etcd-steps: ## End the operator of etcd right before each of its writes (ONLY=create, grow, upgrade or restore)
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" && sh tests/etcd/run.sh steps $(if $(ONLY),--only $(ONLY))

.PHONY: bench
bench: ## Compare each command with `cp -r` of its output
	$(CARGO) bench --bench commands

# The benchmarks have their own target directory, because no test uses their release builds.
MEASURED := $(CACHE)/target-bench
GO_BUILD := CGO_ENABLED=0 go build -trimpath -ldflags "-s -w"
.PHONY: bench-operator
bench-operator: ## Compare an operator with one on controller-runtime (ROWS="1000x1 1000x10")
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" CARGO_TARGET_DIR="$(MEASURED)" && \
	cd benches && $(CARGO) build --release --locked --package server-operator && \
	(cd operator/go && $(GO_BUILD) -o "$(MEASURED)/release/operator-controller-runtime" ./cmd) && \
	$(CARGO) run --release --locked --package bench-operator -- $(ROWS)

.PHONY: bench-webhooks
bench-webhooks: ## Compare webhooks with those of controller-runtime (ARGS="--rounds 3")
	export CARGO_TARGET_DIR="$(MEASURED)" && \
	cd benches && $(CARGO) build --release --locked --package webhook-server && \
	(cd webhooks/go && $(GO_BUILD) -o "$(MEASURED)/release/webhooks-controller-runtime" ./cmd) && \
	$(CARGO) run --release --locked --package bench-webhooks -- $(ARGS)

.PHONY: bench-shards
bench-shards: ## Measure an operator with 1, 2 and 4 replicas that share the objects (ARGS="--writes --select")
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" CARGO_TARGET_DIR="$(MEASURED)" && \
	cd benches && $(CARGO) build --release --locked --package bench-shards && \
	$(CARGO) run --release --locked --package bench-shards -- $(ARGS)

.PHONY: bench-releases
bench-releases: ## Measure an operator from a chart, and Helm installing the same (ARGS="100 500")
	assets=$(ASSETS) && helm=$$(sh tests/helm/build.sh) && export KUBEBUILDER_ASSETS="$$assets" CARGO_TARGET_DIR="$(MEASURED)" && \
	cd benches && $(CARGO) build --release --locked --package release-operator && \
	$(CARGO) run --release --locked --package bench-releases -- --helm "$$helm" $(ARGS)

# Outside CI: its times depend on the machine, and the cgroup needs root.
.PHONY: siege
siege: SECONDS ?= 60
siege: ## Attack an operator in a cgroup of 128Mi while kubectl applies through its webhooks (SECONDS=60, ONLY=probes)
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" CARGO_TARGET_DIR="$(MEASURED)" && \
	cd benches && $(CARGO) build --release --locked --package siege-operator && \
	$(CARGO) run --release --locked --package siege -- --seconds $(SECONDS) --only '$(ONLY)'

.PHONY: bench-types
bench-types: CRDS ?= $(error name a directory of CRDs: make bench-types CRDS=DIR)
bench-types: ## Compare the generation of types with kopium, which has to be in PATH (CRDS=DIR)
	export CARGO_TARGET_DIR="$(MEASURED)" && \
	$(CARGO) run --release --locked --manifest-path benches/Cargo.toml --package bench-types -- $(abspath $(CRDS))

.PHONY: bench-charts
bench-charts: CHARTS ?= $$(sh tests/helm/charts.sh fetched)
bench-charts: ## Compare rendering charts with Helm's library (CHARTS="DIR DIR")
	oracle=$$(sh tests/helm/build.sh oracle) && charts="$(CHARTS)" && CARGO_TARGET_DIR=$(MEASURED) \
	$(CARGO) run --release --locked --manifest-path benches/Cargo.toml --package bench-charts -- "$$oracle" $$charts

.PHONY: bench-lists
bench-lists: OBJECTS ?= 50000
bench-lists: ## Compare the time and the memory of a streamed list with pages (OBJECTS=50000)
	assets=$(ASSETS) && export KUBEBUILDER_ASSETS="$$assets" LISTED=$(OBJECTS) && \
	$(CARGO) test --release --package operator-runtime --all-features --test runtime \
		faults::lists::a_streamed_list_takes_no_more_memory_than_pages -- --exact --nocapture

.PHONY: bench-features
bench-features: ## Measure the compile time of each feature of operator-runtime
	sh benches/features.sh

.PHONY: snapshots
snapshots: ## Accept the current output and files of the tool as snapshots
	BLESS=1 $(CARGO) test --test cli -- snapshots:: modules::rooms
	BLESS=1 $(CARGO) test --test cli -- reference::

.PHONY: release-dry-run
release-dry-run: package ## Make a release for this machine in dist/, without publishing it, and list what is in it
	sh .github/release.sh
	cd dist && sha256sum -- *.tgz > SHA256SUMS && sha256sum --check SHA256SUMS && tar -tvzf *.tgz

ROOT := $(or $(CARGO_INSTALL_ROOT),$(CARGO_HOME),$(HOME)/.cargo)
.PHONY: install
install: ## Install the operator-forge binary and its man pages
	$(CARGO) install --path . --locked
	$(ROOT)/bin/operator-forge man-pages $(ROOT)/share/man/man1
