#!/bin/sh
# Installs a release of the runner, or a newer one over an older one.
#
#   sh install.sh [--version V] [--prefix DIR] [--releases ADDRESS] [--sudo]
#
# The programs go to DIR/lib/mara/V, and links to them to DIR/bin; manual pages
# and completions to DIR/share. DIR is ~/.local, for root /usr/local. The release
# before stays for runs that still use it. sudo is used only with --sudo. Where
# cosign is installed, the signature of the release is verified, too; MARA_SIGNER
# names the repository that has signed what another server offers.
set -eu

releases=${MARA_RELEASES:-"@RELEASES@"}
version='' sudo='' prefix=$HOME/.local
[ "$(id -u)" != 0 ] || prefix=/usr/local

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

while [ $# -gt 0 ]; do
  case $1 in
  --version | --prefix | --releases) [ $# -gt 1 ] || fail "$1 needs a value" ;;
  esac
  case $1 in
  --version) version=${2#v} && shift ;;
  --prefix) prefix=$2 && shift ;;
  --releases) releases=$2 && shift ;;
  --sudo) sudo=sudo ;;
  -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p;}' "$0" && exit 0 ;;
  *) fail "unknown argument $1; see --help" ;;
  esac
  shift
done
case $releases in
@*) fail "this copy does not know where releases are: name the place with --releases" ;;
esac
case $prefix in
/*) ;;
*) fail "--prefix: $prefix is not a whole path" ;;
esac

# get ADDRESS FILE
get() {
  if command -v curl >/dev/null; then
    curl -fsSL --retry 3 -o "$2" "$1"
  elif command -v wget >/dev/null; then
    wget -q -O "$2" "$1"
  else
    fail "neither curl nor wget is here; install one of them"
  fi || fail "$1 cannot be fetched"
}

# sum FILE prints its SHA-256.
sum() {
  if command -v sha256sum >/dev/null; then
    sha256sum "$1"
  else
    shasum -a 256 "$1"
  fi | cut -d' ' -f1
}

system=$(uname -s | tr '[:upper:]' '[:lower:]')
case $(uname -m) in
x86_64 | amd64) processor=amd64 ;;
aarch64 | arm64) processor=arm64 ;;
*) fail "there is no release for the processor $(uname -m)" ;;
esac
case $system in
linux | darwin) ;;
*) fail "there is no release for $system here; for Windows use the zip or Scoop" ;;
esac

work=$(mktemp -d)
# finish cleans up after any end, and puts the version back that was moved away if the new one did not get its place.
finish() {
  rm -rf "$work"
  [ -n "${home:-}" ] || return 0
  [ ! -e "$home/.old-$$" ] || [ -e "$home/$version" ] || $sudo mv "$home/.old-$$" "$home/$version"
  for left in "$home/.new-$$" "$home/.old-$$"; do
    [ ! -e "$left" ] || $sudo rm -rf "$left"
  done
}
trap finish EXIT
trap 'exit 130' INT TERM
if [ -z "$version" ]; then
  get "$releases/latest/download/VERSION" "$work/VERSION"
  version=$(cat "$work/VERSION")
fi
name=mara_${version}_${system}_$processor
get "$releases/download/v$version/checksums.txt" "$work/checksums.txt"
get "$releases/download/v$version/$name.tar.gz" "$work/$name.tar.gz"
signer=${MARA_SIGNER:-}
case $releases in
https://github.com/*) signer=${signer:-${releases%/releases}} ;;
esac
if [ -n "$signer" ] && command -v cosign >/dev/null; then
  get "$releases/download/v$version/checksums.txt.sigstore.json" "$work/bundle.json"
  cosign verify-blob --bundle "$work/bundle.json" --certificate-identity-regexp "^$signer/[.]github/workflows/release[.]yml@" \
    --certificate-oidc-issuer https://token.actions.githubusercontent.com "$work/checksums.txt" >"$work/said" 2>&1 ||
    fail "$signer has not signed checksums.txt; nothing was installed: $(cat "$work/said")"
fi
wanted=$(awk -v file="$name.tar.gz" '$2 == file { print $1 }' "$work/checksums.txt")
[ -n "$wanted" ] || fail "checksums.txt has no $name.tar.gz"
found=$(sum "$work/$name.tar.gz")
[ "$found" = "$wanted" ] || fail "$name.tar.gz is not what was published: its SHA-256 is $found, not $wanted; nothing was installed"
tar -xzf "$work/$name.tar.gz" -C "$work"
"$work/$name/bin/runner" version >"$work/said" 2>&1 || fail "the runner does not start here: $(cat "$work/said")"

# clean removes what installations that were killed have left in $home; a part that another one makes now is younger.
clean() {
  find "$home" -maxdepth 1 \( -name '.new-*' -o -name '.old-*' \) -mmin +60 2>/dev/null | while read -r left; do
    $sudo rm -rf "$left"
  done
}

# link FROM TO replaces a link in one step, so that there is always one.
link() {
  $sudo ln -sf "$1" "$2.new-$$"
  $sudo mv -f "$2.new-$$" "$2"
}

home=$prefix/lib/mara
$sudo mkdir -p "$home" "$prefix/bin" || fail "$prefix cannot be written: choose another --prefix, or say --sudo"
before=$(readlink "$prefix/bin/runner" 2>/dev/null || true)
before=${before%/bin/runner} before=${before##*/}
clean
$sudo rm -rf "$home/.new-$$" "$home/.old-$$"
$sudo cp -R "$work/$name" "$home/.new-$$"
# The same version again is moved away and not removed, so that there is one but for a moment.
[ ! -e "$home/$version" ] || $sudo mv "$home/$version" "$home/.old-$$"
$sudo mv "$home/.new-$$" "$home/$version" || fail "$home/$version cannot be made"
$sudo rm -rf "$home/.old-$$"
for file in "$home/$version"/bin/*; do
  link "$file" "$prefix/bin/${file##*/}"
done
for directory in man/man1 bash-completion/completions zsh/site-functions fish/vendor_completions.d; do
  $sudo mkdir -p "$prefix/share/$directory"
  for file in "$home/$version/share/$directory"/*; do
    link "$file" "$prefix/share/$directory/${file##*/}"
  done
done
for old in "$home"/*; do
  case ${old##*/} in
  "$version" | "$before") ;;
  *) $sudo rm -rf "$old" ;;
  esac
done
# What a release no longer has would stay as a link to nothing.
find "$prefix/bin" "$prefix/share/man/man1" -type l 2>/dev/null | while read -r file; do
  case $(readlink "$file") in
  "$home"/*) [ -e "$file" ] || $sudo rm -f "$file" ;;
  esac
done

cat "$work/said"
echo "installed in $home/$version, with links in $prefix/bin"
[ -z "$before" ] || [ "$before" = "$version" ] || echo "it was $before before"
case :$PATH: in
*:"$prefix/bin":*) ;;
*) echo "add it to your PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
