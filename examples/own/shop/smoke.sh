#!/bin/sh
# Looks whether the shop has an address. The runner writes what is known to stdin.
set -eu
grep -q '"url":"https://' && echo "$MARA_PROJECT has an address"
