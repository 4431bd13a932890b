#!/bin/sh
# Stands up kind's whole environment on simulated clouds: the real engine, local
# state, no account. Run it again and it changes nothing.
set -eu
cd "$(dirname "$0")/.."
exec bin/runner up --root . -p kind -s demo --simulate --yes
