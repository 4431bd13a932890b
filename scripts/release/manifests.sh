#!/bin/sh
# Writes the Homebrew formula and the Scoop manifest of the release in dist/, for the platforms that are there.
set -eu
cd "$(dirname "$0")/../../dist"

# sum FILE is its SHA-256.
sum() { awk -v file="$1" '$2 == file { print $1 }' checksums.txt; }

# source PLATFORM prints the place of an archive in Ruby.
source_of() {
  file=mara_${VERSION}_$1.tar.gz
  [ -f "$file" ] || return 0
  printf '      url "%s/download/v%s/%s"\n      sha256 "%s"\n' "$RELEASES" "$VERSION" "$file" "$(sum "$file")"
}

cat >runner.rb <<END
class Runner < Formula
  desc "Run many small Pulumi projects as one"
  homepage "${RELEASES%/releases}"
  version "$VERSION"
  license "Apache-2.0"

  on_macos do
    on_arm do
$(source_of darwin_arm64)
    end
    on_intel do
$(source_of darwin_amd64)
    end
  end
  on_linux do
    on_arm do
$(source_of linux_arm64)
    end
    on_intel do
$(source_of linux_amd64)
    end
  end

  def install
    libexec.install Dir["bin/*"]
    bin.install_symlink libexec/"runner", libexec/"pulumi-language-mara", libexec/"pulumi-resource-kind"
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/runner"
    zsh_completion.install "share/zsh/site-functions/_runner"
    fish_completion.install "share/fish/vendor_completions.d/runner.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/runner version")
  end
end
END

file=mara_${VERSION}_windows_amd64.zip
[ -f "$file" ] || exit 0
cat >runner.json <<END
{
  "version": "$VERSION",
  "description": "Run many small Pulumi projects as one",
  "homepage": "${RELEASES%/releases}",
  "license": "Apache-2.0",
  "depends": "pulumi",
  "architecture": {
    "64bit": {
      "url": "$RELEASES/download/v$VERSION/$file",
      "hash": "$(sum "$file")",
      "extract_dir": "${file%.zip}"
    }
  },
  "bin": "bin\\\\runner.exe"
}
END
