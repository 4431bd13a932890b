# mara: what can be done here. `make demo` and `make test` need Go, git and, the first time, the network.
SHORT = -short # with SHORT= the tests that take long run as well
.PHONY: build tools demo demo-fleet test test-all chaos bench race lint fmt golden e2e e2e-real e2e-provider e2e-cloud e2e-operator node-image image dist dist-test docs docs-serve docs-test web-test pictures verify

build:  ; scripts/build.sh
tools:  ; scripts/tools.sh
demo:   ; scripts/build.sh kind && scripts/demo.sh
demo-fleet: build ; scripts/demo-fleet.sh
test: build tools ; go test $(SHORT) -timeout 60m ./... && scripts/requests.sh && cd scripts/release && go test ./...
test-all: ; $(MAKE) test SHORT=
chaos: build tools ; scripts/chaos.sh
bench: build tools ; scripts/bench.sh $(if $(ONLY),-only $(ONLY))
race:   ; scripts/race.sh
lint:   ; scripts/lint.sh
fmt:    ; gofmt -w config projects providers runner scripts && scripts/tidy.sh
golden: ; go test ./projects/schemas ./projects/programs ./providers ./runner/internal/core/plan ./runner/internal/cli ./runner/internal/core/event ./runner/internal/core/ui ./runner/internal/core/report ./runner/internal/core/refusal ./runner/internal/feature/kind/kindprovider -update
e2e: build tools ; go test -timeout 60m -count=1 $(if $(RUN),-v -run '$(RUN)') ./runner/internal/testing/e2e
e2e-real: build tools ; scripts/e2e-real.sh $(if $(RUN),-test.v -test.run '$(RUN)')
e2e-provider: build ; scripts/e2e-provider.sh
e2e-cloud: build tools ; scripts/e2e-cloud.sh
e2e-operator: build tools ; scripts/e2e-operator.sh
node-image: ; scripts/node-image.sh
image: build tools ; scripts/image.sh
dist:   ; scripts/dist.sh "$${VERSION:-$$(scripts/release/notes.sh)}" $(PLATFORMS)
dist-test: build ; scripts/dist-test.sh
docs:   ; scripts/docs.sh
docs-serve: ; scripts/docs.sh serve
docs-test: ; scripts/docs-test.sh
web-test: build ; scripts/web-test.sh
pictures: build ; scripts/pictures.sh
verify: ; scripts/verify.sh
