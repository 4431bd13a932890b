# mara: what can be done here. `make demo` and `make test` need Go, git and, the first time, the network.
.PHONY: build tools demo test chaos bench race lint fmt golden e2e verify

build:  ; scripts/build.sh
tools:  ; scripts/tools.sh
demo: build ; scripts/demo.sh
test: build tools ; go test -timeout 60m ./...
chaos: build tools ; scripts/chaos.sh
bench: build tools ; scripts/bench.sh
race:   ; scripts/race.sh
lint:   ; scripts/lint.sh
fmt:    ; gofmt -w config projects providers runner && go mod tidy && cd scripts/tools && go mod tidy
golden: ; go test ./providers ./runner/internal/plan ./runner/internal/cli ./runner/internal/event ./runner/internal/ui ./runner/internal/report ./runner/internal/kindprovider -update
e2e: build tools ; go test -timeout 60m -count=1 $(if $(RUN),-v -run '$(RUN)') ./runner/internal/e2e
verify: ; scripts/verify.sh
