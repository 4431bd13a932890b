#!/bin/sh
# Disturbs 200 runs (CHAOS_CASES) in every way there is, and holds what comes of
# them against undisturbed ones; then a tenth as many rollouts, a fifth as many
# runs that a guard has to stop, and three tenths as many with states in PostgreSQL
# and in S3 each. It begins at another place every time, which
# CHAOS_SEED repeats. Then come the cases of TestReliability, with states in files, in
# PostgreSQL and in S3. Before all that, engines are killed at as many random moments of operations
# on many resources, whose journals are then taken over, and disks are filled up; whole runs
# of many resources are killed as often, in the case of TestReliability for them.
set -eu
cd "$(dirname "$0")/../runner/internal/testing/e2e"
export CHAOS_CASES="${CHAOS_CASES:-200}" CHAOS_SEED="${CHAOS_SEED:-$(date +%s)}"
echo "chaos: $CHAOS_CASES cases from CHAOS_SEED=$CHAOS_SEED on"
(cd ../../../mara-engine && go test -count=1 -timeout 2h -parallel 4 -run '^(TestKilled|TestFullDisk|TestReadOnly)$')
exec go test -count=1 -timeout 6h -parallel 4 -run '^(TestChaos(OfRollouts|OfGuards|OfBackends)?|TestReliability)$'
