#!/bin/sh
# shares.sh [PACKAGE]: says what a program's code and constants come from, in kilobytes: by module, the largest first. Tables
# that the linker makes of everything, for panics and reflection, are listed separately; names that Go shares are the
# standard library's.
set -eu
cd "$(dirname "$0")/.."
program=$(mktemp)
trap 'rm -f "$program"' EXIT
go build -buildvcs=false -o "$program" "${1:-./runner}"
{
  go version -m "$program" | awk '$1 == "dep" || $1 == "mod" { print "module", $2 }'
  go tool nm -size "$program" | awk '$3 ~ /^[TtRr]$/ { print "symbol", $2, $4 }'
} | awk '
  $1 == "module" { modules[$2] = 1; next }
  {
    name = $3
    sub(/^type:\.(eq|hash)\./, "", name)
    sub(/^(go:itab|type:|go:cuinl|gclocals|inittask)[.:]?\*?/, "", name)
    gsub(/%2e/, ".", name)
    share = "standard library"
    if ($3 ~ /^(runtime\.(pclntab|findfunctab|epclntab|types|rodata|etypes)|go:|type:\*)/) share = "(tables)"
    path = name
    while (path ~ /[\/.]/) { # the longest beginning that is a module
      sub(/[\/.][^\/.]*$/, "", path)
      if (path in modules) { share = path; break }
    }
    bytes[share] += $2; all += $2
  }
  END {
    for (share in bytes) if (bytes[share] >= all / 400) printf "%8d  %4.1f %%  %s\n", bytes[share] / 1000, 100 * bytes[share] / all, share
    printf "%8d 100.0 %%  all\n", all / 1000
  }' | sort -rn
