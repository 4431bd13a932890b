#!/bin/sh
# Installs a release of the runner, or removes it; usage below says how.
set -eu

usage() {
  cat <<'END'
Installs a release of the runner, or a newer one over an older one.

  sh install.sh [--version V] [--prefix DIR] [--releases ADDRESS] [--force] [--sudo]
  sh install.sh --uninstall [--prefix DIR] [--sudo]

The programs go to DIR/lib/mara/V, and links to three of them (runner,
pulumi-language-mara, pulumi-resource-kind) to DIR/bin; links to manual pages and
completions go to DIR/share. DIR is ~/.local, for root /usr/local. The previous
release stays for runs that still use it.

  --version V         the release, such as 1.2.3 (default: the newest)
  --prefix DIR        where to install, an absolute path
  --releases ADDRESS  the web directory of the releases (also: MARA_RELEASES)
  --force             replace files of the same names that are not this installer's
  --sudo              call sudo to write below DIR; it is never called otherwise
  --uninstall         remove lib/mara below DIR, and the links to it
  --help              print this, and do nothing

The download is checked against its published SHA-256. Where cosign is installed,
the signature of the sums is verified, too; MARA_SIGNER names the repository that
signed them, if it is not the one that ADDRESS is in.
END
}

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

# get ADDRESS FILE
get() {
  if command -v curl >/dev/null; then
    curl -fsSL --retry 3 -o "$2" "$1"
  elif command -v wget >/dev/null; then
    wget -q -O "$2" "$1"
  else
    fail "neither curl nor wget is here; install one of them"
  fi || fail "$1 cannot be fetched; nothing was changed"
}

# sum FILE prints its SHA-256.
sum() {
  if command -v sha256sum >/dev/null; then
    sha256sum "$1"
  else
    shasum -a 256 "$1"
  fi | cut -d' ' -f1
}

# arguments ARGUMENT... reads them into variables.
arguments() {
  releases=${MARA_RELEASES:-"@RELEASES@"}
  version='' sudo='' prefix='' force='' uninstall=''
  while [ $# -gt 0 ]; do
    case $1 in
    --version | --prefix | --releases) [ $# -gt 1 ] || fail "$1 needs a value" ;;
    esac
    case $1 in
    --version) version=${2#v} && shift ;;
    --prefix) prefix=$2 && shift ;;
    --releases) releases=$2 && shift ;;
    --force) force=yes ;;
    --sudo) sudo=sudo ;;
    --uninstall) uninstall=yes ;;
    -h | --help) usage && exit ;;
    *) fail "unknown argument $1; see --help" ;;
    esac
    shift
  done
  if [ -z "$prefix" ] && [ "$(id -u)" = 0 ]; then
    prefix=/usr/local
  elif [ -z "$prefix" ]; then
    [ -n "${HOME:-}" ] || fail "HOME is not set: choose a place with --prefix"
    prefix=$HOME/.local
  fi
  case $prefix in
  /*) ;;
  *) fail "--prefix: $prefix is not an absolute path" ;;
  esac
  while [ "$prefix" != "${prefix%/}" ]; do prefix=${prefix%/}; done
  home=$prefix/lib/mara
}

# ours FILE reports whether it is a link into this installation.
ours() {
  case $(readlink "$1" 2>/dev/null) in
  "$home"/*) ;;
  *) return 1 ;;
  esac
}

shares='man/man1 bash-completion/completions zsh/site-functions fish/vendor_completions.d'

# links prints the links of this prefix into the installation.
links() {
  for directory in bin $(printf 'share/%s ' $shares); do
    find "$prefix/$directory/" -maxdepth 1 -type l 2>/dev/null
  done | while IFS= read -r file; do
    if ours "$file"; then printf '%s\n' "$file"; fi
  done
}

uninstall() {
  [ -d "$home" ] || fail "nothing is installed in $home; --prefix names another place"
  links | while IFS= read -r file; do
    $sudo rm -f "$file" || fail "$file cannot be removed: say --sudo"
  done
  $sudo rm -rf "$home" || fail "$home cannot be removed: say --sudo"
  echo "removed $home and the links to it"
}

# writable DIR fails unless files can be made there, or the directory itself.
writable() {
  found=$1
  while [ ! -e "$found" ]; do found=$(dirname "$found"); done
  [ -d "$found" ] && [ -w "$found" ] || fail "$1 cannot be written: choose another --prefix, or say --sudo; nothing was changed"
}

# foreign FILE... fails for the files that are there and not links of this installer.
foreign() {
  others=''
  for file; do
    if { [ -e "$file" ] || [ -L "$file" ]; } && ! ours "$file"; then
      if [ -z "$force" ] || { [ -d "$file" ] && [ ! -L "$file" ]; }; then others="$others
  $file"; fi
    fi
  done
  [ -z "$others" ] || fail "these are there, and not from this installer:$others
choose another --prefix, or replace files with --force; nothing was changed"
}

# link TARGET FILE replaces a link in one step, so that there is always one.
link() {
  $sudo ln -sf "$1" "$2.new-$$"
  if [ -d "$2" ] && [ -L "$2" ]; then $sudo rm -f "$2"; fi # mv would move the link into the directory
  $sudo mv -f "$2.new-$$" "$2"
}

# finish cleans up after any end.
finish() {
  rm -rf "$work"
  [ ! -e "$home/.new-$$" ] || $sudo rm -rf "$home/.new-$$"
}

# platform prints the system and the processor as archives name them.
platform() {
  system=$(uname -s | tr '[:upper:]' '[:lower:]')
  case $(uname -m) in
  x86_64 | amd64) processor=amd64 ;;
  aarch64 | arm64) processor=arm64 ;;
  *) fail "there is no release for the processor $(uname -m)" ;;
  esac
  case $system in
  linux | darwin) echo "${system}_$processor" ;;
  *) fail "there is no release for $system here; on Windows use install.ps1, the zip or Scoop" ;;
  esac
}

# fetch downloads the release into $work, and checks it.
fetch() {
  if [ -z "$version" ]; then
    get "$releases/latest/download/VERSION" "$work/VERSION"
    version=$(head -c 200 "$work/VERSION")
  fi
  case $version in
  *[!0-9A-Za-z.-]*) fail "what $releases/latest/download/VERSION has is no version: is the address right, and does a proxy answer for it?" ;;
  [0-9]*.[0-9]*.[0-9]*) ;;
  *) fail "\"$version\" is no version such as 1.2.3" ;;
  esac
  name=mara_${version}_$(platform)
  get "$releases/download/v$version/checksums.txt" "$work/checksums.txt"
  get "$releases/download/v$version/$name.tar.gz" "$work/$name.tar.gz"
  verify
  wanted=$(awk -v file="$name.tar.gz" '$2 == file { print $1 }' "$work/checksums.txt")
  [ -n "$wanted" ] || fail "checksums.txt has no $name.tar.gz"
  found=$(sum "$work/$name.tar.gz")
  [ "$found" = "$wanted" ] || fail "$name.tar.gz is not what was published: its SHA-256 is $found, not $wanted; nothing was changed"
  tar -xzf "$work/$name.tar.gz" -C "$work" || fail "$name.tar.gz cannot be unpacked; nothing was changed"
  "$work/$name/bin/runner" version >"$work/said" 2>&1 || fail "the runner does not start here: $(cat "$work/said")"
}

# verify checks who signed the sums, where cosign is installed.
verify() {
  signer=${MARA_SIGNER:-}
  case $releases in
  https://github.com/*) signer=${signer:-${releases%/releases}} ;;
  esac
  [ -n "$signer" ] || return 0
  if ! command -v cosign >/dev/null; then
    echo "cosign is not installed: the sums are checked, but not who signed them" >&2
    return 0
  fi
  get "$releases/download/v$version/checksums.txt.sigstore.json" "$work/bundle.json"
  cosign verify-blob --bundle "$work/bundle.json" --certificate-identity-regexp "^$signer/[.]github/workflows/release[.]yml@" \
    --certificate-oidc-issuer https://token.actions.githubusercontent.com "$work/checksums.txt" >"$work/said" 2>&1 ||
    fail "$signer has not signed checksums.txt; nothing was changed: $(cat "$work/said")"
}

# place sets $place to the directory of the release, and copies it there unless the same is there already. Another release of the
# same version, or a damaged one, gets a name of its own, so that nothing that runs is changed.
place() {
  place=$home/$version
  again=1
  while [ -e "$place" ]; do
    if diff -r "$work/$name" "$place" >/dev/null 2>&1; then return 0; fi
    again=$((again + 1))
    place=$home/$version+$again
  done
  $sudo cp -R "$work/$name" "$home/.new-$$" || fail "$home cannot be filled; nothing was changed"
  $sudo mv "$home/.new-$$" "$place" || fail "$place cannot be made; nothing was changed"
}

# switch makes the links, the one of the runner last, and removes links to what the release does not have.
switch() {
  for directory in $shares; do
    $sudo mkdir -p "$prefix/share/$directory"
    for file in "$place/share/$directory"/*; do
      [ ! -e "$file" ] || link "$file" "$prefix/share/$directory/${file##*/}"
    done
  done
  for program in pulumi-resource-kind pulumi-language-mara runner; do
    [ ! -e "$place/bin/$program" ] || link "$place/bin/$program" "$prefix/bin/$program"
  done
  links | while IFS= read -r file; do
    case $(readlink "$file") in
    "$place"/*) [ -e "$file" ] || $sudo rm -f "$file" ;;
    *) $sudo rm -f "$file" ;;
    esac
  done
}

# clean removes older releases, and what interrupted installations left; a younger copy may be of one that is at work now.
clean() {
  for old in "$home"/*; do
    case $old in
    "$place" | "$home/$before") ;;
    *) $sudo rm -rf "$old" ;;
    esac
  done
  { find "$home" -maxdepth 1 -name '.new-*' -mmin +60
    for directory in bin $(printf 'share/%s ' $shares); do find "$prefix/$directory/" -maxdepth 1 -type l -name '*.new-*' -mmin +60; done
  } 2>/dev/null | while IFS= read -r left; do
    case $left in
    "$home"/*) $sudo rm -rf "$left" ;;
    *) if ours "$left"; then $sudo rm -f "$left"; fi ;;
    esac
  done
}

main() {
  arguments "$@"
  if [ -n "$uninstall" ]; then
    uninstall
    exit
  fi
  case $releases in
  @*) fail "this copy does not know where releases are: name the place with --releases" ;;
  esac
  if [ -z "$sudo" ]; then
    for directory in lib/mara bin $(printf 'share/%s ' $shares); do writable "$prefix/$directory"; done
  fi
  foreign "$prefix/bin/runner" "$prefix/bin/pulumi-language-mara" "$prefix/bin/pulumi-resource-kind"
  work=$(mktemp -d)
  trap finish EXIT
  trap 'exit 130' INT TERM
  fetch
  (cd "$work/$name/share" && find $shares -type f 2>/dev/null || true) >"$work/shared"
  set --
  while IFS= read -r file; do set -- "$@" "$prefix/share/$file"; done <"$work/shared"
  foreign "$@"

  $sudo mkdir -p "$home" "$prefix/bin" || fail "$prefix cannot be written: choose another --prefix, or say --sudo"
  before=''
  if ours "$prefix/bin/runner"; then
    before=$(readlink "$prefix/bin/runner")
    before=${before#"$home"/} before=${before%%/*}
  fi
  place
  switch
  clean

  cat "$work/said"
  echo "installed in $place, with links in $prefix/bin"
  [ -z "$before" ] || [ "${before%+*}" = "$version" ] || echo "it was ${before%+*} before"
  case :$PATH: in
  *:"$prefix/bin":*) ;;
  *) echo "add it to your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
  esac
}

# Nothing runs before the last line has arrived: a download that breaks off does nothing.
main "$@"
