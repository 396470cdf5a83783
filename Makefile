# Targets print themselves: make, or make help. .ci/run calls the same ones.

GO       ?= go
MODULES  := ./... ./cmd/pgryw/... ./e2e/...
TESTARG  ?=
FUZZTIME ?= 10s
BENCH    ?= .
BENCHARG ?= -benchmem

# The tools are pinned in a module of their own, which go.work leaves out.
# $(call tool,NAME) builds one if need be and is its path.
TOOLS := internal/tools
tool   = $$(GOWORK=off $(GO) tool -modfile=$(TOOLS)/go.mod -n $(1))

.DEFAULT_GOAL := help
.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: check
check: lint test ## what must pass before a change is proposed

.PHONY: test
test: ## run all tests; says so if there is no PostgreSQL server for some of them
	@$(TOOLS)/postgres.sh
	$(GO) test $(TESTARG) $(MODULES)
	@$(TOOLS)/postgres.sh >/dev/null

.PHONY: race
race: ## run all tests with the race detector, the library's built as its users build it
	@$(TOOLS)/postgres.sh
	GOWORK=off $(GO) test -race $(TESTARG) ./...
	$(GO) test -race $(TESTARG) $(filter-out ./...,$(MODULES))

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (10s)
	@$(TOOLS)/postgres.sh
	@grep -rE --include='*_test.go' -o '^func Fuzz\w+' . | sort | tr : ' ' | while read -r file _ func; do \
		echo "$$(dirname $$file) $$func" ; \
		$(GO) test -run '^$$' -fuzz "^$$func\$$" -fuzztime $(FUZZTIME) $$(dirname $$file) </dev/null || exit ; \
	done

.PHONY: bench
bench: ## run the benchmarks named by BENCH (all of them)
	@$(TOOLS)/postgres.sh
	$(GO) test -run '^$$' -bench '$(BENCH)' $(BENCHARG) $(MODULES)

.PHONY: demo
demo: ## watch reads follow their writes on a primary and two standbys
	$(GO) run ./cmd/pgryw demo

# golangci-lint brings gofumpt and staticcheck, of the versions in $(TOOLS)/go.mod.
.PHONY: lint
lint: ## check the format, and what vet and the linters of .golangci.yml find
	$(GO) vet $(MODULES)
	@echo golangci-lint run $(MODULES)
	@$(call tool,golangci-lint) run $(MODULES)
	GOWORK=off $(GO) vet -C $(TOOLS) ./...
	GOWORK=off $(GO) test -C $(TOOLS) ./...

.PHONY: format
format: ## rewrite the source in the format that lint wants
	@$(call tool,golangci-lint) fmt

.PHONY: vuln
vuln: ## look for known vulnerabilities; asks the network for the list of them
	@$(call tool,govulncheck) $(MODULES)
