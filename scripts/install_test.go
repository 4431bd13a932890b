package scripts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// published are releases on a web server, laid out as GitHub does.
type published map[string][]byte

func (p published) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	content, ok := p[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(content)
}

// release publishes a release, whose programs are scripts.
func (p published) release(t *testing.T, version, runner string, programs ...string) {
	t.Helper()
	name := fmt.Sprintf("mara_%s_%s_%s", version, runtime.GOOS, runtime.GOARCH)
	files := map[string]string{
		"bin/runner": runner, "bin/pulumi-language-go": "#!/bin/sh\n", "bin/mara-engine": "#!/bin/sh\n", "share/man/man1/runner.1": "manual of " + version,
		"share/bash-completion/completions/runner": "#", "share/zsh/site-functions/_runner": "#", "share/fish/vendor_completions.d/runner.fish": "#",
	}
	for _, program := range programs {
		files["bin/"+program] = "#!/bin/sh\n"
	}
	var content bytes.Buffer
	compressed := gzip.NewWriter(&content)
	archive := tar.NewWriter(compressed)
	for file, text := range files {
		err := archive.WriteHeader(&tar.Header{Name: name + "/" + file, Mode: 0o755, Size: int64(len(text))})
		if _, writeErr := archive.Write([]byte(text)); err != nil || writeErr != nil {
			t.Fatal(err, writeErr)
		}
	}
	if err := errors.Join(archive.Close(), compressed.Close()); err != nil {
		t.Fatal(err)
	}
	directory := "/o/r/releases/download/v" + version + "/"
	p[directory+name+".tar.gz"] = content.Bytes()
	p[directory+"checksums.txt"] = fmt.Appendf(nil, "%064d  other.tar.gz\n%x  %s.tar.gz\n", 0, sha256.Sum256(content.Bytes()), name)
	p["/o/r/releases/latest/download/VERSION"] = []byte(version + "\n")
}

func says(version string) string { return "#!/bin/sh\necho runner " + version + "\n" }

// install runs install.sh as a user would, in an empty home.
func install(t *testing.T, home, address string, args ...string) (string, error) {
	t.Helper()
	script, err := filepath.Abs("install.sh")
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("sh", append([]string{script, "--releases", address + "/o/r/releases"}, args...)...)
	command.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}
	output, err := command.CombinedOutput()
	return string(output), err
}

func TestInstall(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no sh")
	}
	_, noCurl := exec.LookPath("curl")
	if _, noWget := exec.LookPath("wget"); noCurl != nil && noWget != nil {
		t.Skip("neither curl nor wget is here, of which install.sh needs one")
	}
	releases := published{}
	server := httptest.NewServer(releases)
	defer server.Close()
	home := t.TempDir()
	prefix := filepath.Join(home, "its own prefix")
	run := func() string {
		t.Helper()
		output, err := exec.Command(filepath.Join(prefix, "bin", "runner"), "version").CombinedOutput()
		if err != nil {
			t.Error(err)
		}
		return strings.TrimSpace(string(output))
	}

	releases.release(t, "1.2.0", says("1.2.0"), "pulumi-resource-kind", "pulumi-language-mara")
	output, err := install(t, home, server.URL, "--prefix", prefix)
	if err != nil || !strings.Contains(output, "runner 1.2.0\ninstalled in ") || !strings.Contains(output, "add it to your PATH") {
		t.Fatalf("%v\n%s", err, output)
	}
	if got := run(); got != "runner 1.2.0" {
		t.Errorf("it is %s", got)
	}
	for _, file := range []string{"bin/pulumi-resource-kind", "share/man/man1/runner.1", "share/bash-completion/completions/runner", "share/zsh/site-functions/_runner", "share/fish/vendor_completions.d/runner.fish"} {
		if _, err := os.Stat(filepath.Join(prefix, file)); err != nil {
			t.Error(err)
		}
	}

	// Programs whose names are Pulumi's own are not linked.
	if got := names(t, filepath.Join(prefix, "bin")); !slices.Equal(got, []string{"pulumi-language-mara", "pulumi-resource-kind", "runner"}) {
		t.Errorf("bin has %q", got)
	}

	// Over it, what is spoilt, what does not start, and what is not there: all
	// of them leave what was.
	releases.release(t, "1.3.0", says("1.3.0"))
	archive := fmt.Sprintf("/o/r/releases/download/v1.3.0/mara_1.3.0_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	good := releases[archive]
	releases[archive] = append(slices.Clone(good), 0)
	releases.release(t, "1.4.0", "#!/bin/sh\necho no such libc; exit 1\n")
	for args, want := range map[string]string{
		"--version 1.3.0":   "is not what was published",
		"--version 1.4.0":   "the runner does not start here: no such libc",
		"--version 9.9.9":   "checksums.txt cannot be fetched",
		"--prefix relative": "is not an absolute path",
		"--version ../1":    "is no version",
		"--frobnicate":      "unknown argument --frobnicate",
	} {
		output, err := install(t, home, server.URL, append([]string{"--prefix", prefix}, strings.Fields(args)...)...)
		if err == nil || !strings.Contains(output, want) || run() != "runner 1.2.0" {
			t.Errorf("%s: %v\n%s", args, err, output)
		}
	}

	// Upgrades: the release before stays, older ones go, and so do links to what
	// is no longer there.
	releases[archive] = good
	for _, version := range []string{"1.3.0", "1.5.0"} {
		releases.release(t, version, says(version), "pulumi-language-mara")
		if output, err = install(t, home, server.URL, "--prefix", prefix); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
	}
	if got := run(); got != "runner 1.5.0" || !strings.Contains(output, "it was 1.3.0 before") {
		t.Errorf("it is %s\n%s", got, output)
	}
	kept, err := filepath.Glob(filepath.Join(prefix, "lib/mara/*"))
	if err != nil || len(kept) != 2 || filepath.Base(kept[0]) != "1.3.0" || filepath.Base(kept[1]) != "1.5.0" {
		t.Errorf("kept: %q, %v", kept, err)
	}
	if _, err := os.Lstat(filepath.Join(prefix, "bin/pulumi-resource-kind")); err == nil {
		t.Error("a link to nothing is left")
	}
	// The same again removes what an installation that was killed has left, but not what another one is making.
	library := filepath.Join(prefix, "lib/mara")
	for name, age := range map[string]time.Duration{".new-1": 2 * time.Hour, ".new-2": 0} {
		at := time.Now().Add(-age)
		if err := errors.Join(os.Mkdir(filepath.Join(library, name), 0o755), os.Chtimes(filepath.Join(library, name), at, at)); err != nil {
			t.Fatal(err)
		}
	}
	if again, err := install(t, home, server.URL, "--prefix", prefix+"/"); err != nil || run() != "runner 1.5.0" {
		t.Errorf("the same again: %v\n%s", err, again)
	}
	if left := names(t, library); !slices.Equal(left, []string{".new-2", "1.5.0"}) {
		t.Errorf("there are %q", left)
	}

	// A copy that is damaged gets a new one in another directory, and its own stays for runs that use it.
	if err := os.Remove(filepath.Join(library, "1.5.0/bin/mara-engine")); err != nil {
		t.Fatal(err)
	}
	if again, err := install(t, home, server.URL, "--prefix", prefix); err != nil || run() != "runner 1.5.0" || strings.Contains(again, "before") {
		t.Errorf("over a damaged one: %v\n%s", err, again)
	}
	if left := names(t, library); !slices.Equal(left, []string{".new-2", "1.5.0", "1.5.0+2"}) {
		t.Errorf("there are %q", left)
	}
	if target, err := os.Readlink(filepath.Join(prefix, "bin/runner")); err != nil || target != filepath.Join(library, "1.5.0+2/bin/runner") {
		t.Errorf("the link leads to %s, %v", target, err)
	}

	// Gone again, but for what is not ours.
	kept = []string{filepath.Join(prefix, "bin/other"), filepath.Join(prefix, "share/man/man1/other.1")}
	for _, file := range kept {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if output, err := install(t, home, server.URL, "--prefix", prefix, "--uninstall"); err != nil || output != "removed "+library+" and the links to it\n" {
		t.Errorf("uninstall: %v\n%s", err, output)
	}
	var left []string
	err = filepath.WalkDir(prefix, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			left = append(left, path)
		}
		return err
	})
	if err != nil || !slices.Equal(left, kept) {
		t.Errorf("left: %q, %v", left, err)
	}
	if output, err := install(t, home, server.URL, "--prefix", prefix, "--uninstall"); err == nil || !strings.Contains(output, "nothing is installed in "+library) {
		t.Errorf("uninstall twice: %v\n%s", err, output)
	}
}

// TestInstallReplacesOnlyItsOwn checks that files of others are named and stay, unless --force says otherwise, and a
// directory stays in any case.
func TestInstallReplacesOnlyItsOwn(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil || runtime.GOOS == "windows" {
		t.Skip("curl or sh is not here")
	}
	releases := published{}
	server := httptest.NewServer(releases)
	defer server.Close()
	releases.release(t, "1.2.0", says("1.2.0"))
	home := t.TempDir()
	prefix := filepath.Join(home, "prefix")
	for _, directory := range []string{"bin", "share/man/man1"} {
		if err := os.MkdirAll(filepath.Join(prefix, directory), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	runner, manual := filepath.Join(prefix, "bin/runner"), filepath.Join(prefix, "share/man/man1/runner.1")
	other := filepath.Join(home, "other")
	if err := errors.Join(os.WriteFile(other, []byte("another runner"), 0o755), os.Symlink(other, runner)); err != nil {
		t.Fatal(err)
	}
	refused := func(what string, want ...string) {
		t.Helper()
		output, err := install(t, home, server.URL, append([]string{"--prefix", prefix}, strings.Fields(what)...)...)
		for _, text := range want {
			if err == nil || !strings.Contains(output, text) {
				t.Errorf("%v, without %q:\n%s", err, text, output)
			}
		}
		if _, err := os.Stat(filepath.Join(prefix, "lib")); err == nil {
			t.Error("something was installed")
		}
	}
	refused("", "these are there, and not from this installer:\n  "+runner+"\n", "nothing was changed")
	if err := errors.Join(os.Remove(runner), os.WriteFile(manual, []byte("another manual"), 0o600)); err != nil {
		t.Fatal(err)
	}
	refused("", "\n  "+manual+"\n")
	if err := os.Mkdir(runner, 0o755); err != nil {
		t.Fatal(err)
	}
	refused("--force", "\n  "+runner+"\n")
	if err := errors.Join(os.Remove(runner), os.Symlink(home, runner)); err != nil { // a link to a directory
		t.Fatal(err)
	}
	if output, err := install(t, home, server.URL, "--prefix", prefix, "--force"); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, file := range []string{runner, manual} {
		if target, err := os.Readlink(file); err != nil || !strings.HasPrefix(target, filepath.Join(prefix, "lib/mara")) {
			t.Errorf("%s leads to %s, %v", file, target, err)
		}
	}
	if content, err := os.ReadFile(other); err != nil || string(content) != "another runner" {
		t.Errorf("the other runner: %s, %v", content, err)
	}
}

// TestInstallFromAPipe checks that the script, read from a pipe, only prints its help when asked to, does nothing when
// it breaks off, and refuses answers that are no version.
func TestInstallFromAPipe(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil || runtime.GOOS == "windows" {
		t.Skip("curl or sh is not here")
	}
	releases := published{}
	server := httptest.NewServer(releases)
	defer server.Close()
	releases.release(t, "1.2.0", says("1.2.0"))
	script, err := os.ReadFile("install.sh")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	pipe := func(script []byte, environment []string, args ...string) (string, error) {
		command := exec.Command("sh", append([]string{"-s", "--"}, args...)...)
		command.Stdin = bytes.NewReader(script)
		command.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "MARA_RELEASES=" + server.URL + "/o/r/releases"}, environment...)
		output, err := command.CombinedOutput()
		return string(output), err
	}
	prefix := filepath.Join(home, "prefix")
	if output, err := pipe(script, nil, "--prefix", prefix, "--help"); err != nil || !strings.HasPrefix(output, "Installs a release") {
		t.Errorf("--help: %v\n%s", err, output)
	}
	for _, end := range []int{len(script) / 4, len(script) / 2, len(script) - 12} {
		_, _ = pipe(script[:end], nil, "--prefix", prefix)
	}
	releases["/o/r/releases/latest/download/VERSION"] = []byte("<html>\nlog in\n")
	if output, err := pipe(script, nil, "--prefix", prefix); err == nil || !strings.Contains(output, "/latest/download/VERSION has is no version") {
		t.Errorf("a login page: %v\n%s", err, output)
	}
	if os.Getuid() != 0 {
		if output, err := pipe(script, nil); err == nil || !strings.Contains(output, "HOME is not set: choose a place with --prefix") {
			t.Errorf("without a home: %v\n%s", err, output)
		}
	}
	if entries, err := os.ReadDir(home); err != nil || len(entries) > 0 {
		t.Errorf("something was made: %v, %v", entries, err)
	}
}

func names(t *testing.T, directory string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return all
}

// TestInstallFailsLate: the same version stays where the new copy cannot have its place.
func TestInstallFailsLate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no sh")
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not here")
	}
	releases := published{}
	server := httptest.NewServer(releases)
	defer server.Close()
	home := t.TempDir()
	releases.release(t, "1.2.0", says("1.2.0"))
	prefix := filepath.Join(home, ".local") // for root it would be /usr/local
	if output, err := install(t, home, server.URL, "--prefix", prefix); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	releases.release(t, "1.2.0", says("1.2.0, mended"))
	// A mv that refuses the new copy.
	tools := t.TempDir()
	mv, err := exec.LookPath("mv")
	if err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\ncase $1 in */.new-*) echo no >&2; exit 1 ;; esac\nexec " + mv + " \"$@\"\n"
	if err := os.WriteFile(filepath.Join(tools, "mv"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	file, err := filepath.Abs("install.sh")
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("sh", file, "--releases", server.URL+"/o/r/releases", "--prefix", prefix)
	command.Env = []string{"HOME=" + home, "PATH=" + tools + string(filepath.ListSeparator) + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}
	output, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "cannot be made") {
		t.Errorf("%v\n%s", err, output)
	}
	if left := names(t, filepath.Join(prefix, "lib/mara")); !slices.Equal(left, []string{"1.2.0"}) {
		t.Errorf("there are %q", left)
	}
}

// TestInstallVerifies: where cosign is installed, nothing is installed that the repository has not signed.
func TestInstallVerifies(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not here")
	}
	releases := published{}
	server := httptest.NewServer(releases)
	defer server.Close()
	releases.release(t, "1.2.0", says("1.2.0"))
	tools, home := t.TempDir(), t.TempDir()
	cosign := "#!/bin/sh\nfor file; do :; done\necho \"$@\" >&2\ngrep -q signed \"$3\" && test -s \"$file\"\n"
	if err := os.WriteFile(filepath.Join(tools, "cosign"), []byte(cosign), 0o755); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("install.sh")
	if err != nil {
		t.Fatal(err)
	}
	run := func() (string, error) {
		command := exec.Command("sh", script, "--releases", server.URL+"/o/r/releases", "--prefix", filepath.Join(home, ".local"))
		command.Env = []string{"HOME=" + home, "PATH=" + tools + ":" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "MARA_SIGNER=https://github.com/o/r"}
		output, err := command.CombinedOutput()
		return string(output), err
	}
	const bundle = "/o/r/releases/download/v1.2.0/checksums.txt.sigstore.json"
	if output, err := run(); err == nil || !strings.Contains(output, "checksums.txt.sigstore.json cannot be fetched") {
		t.Errorf("without a signature: %v\n%s", err, output)
	}
	releases[bundle] = []byte("forged")
	if output, err := run(); err == nil || !strings.Contains(output, "https://github.com/o/r has not signed checksums.txt; nothing was changed: verify-blob --bundle") ||
		!strings.Contains(output, "--certificate-identity-regexp ^https://github.com/o/r/[.]github/workflows/release[.]yml@ ") {
		t.Errorf("a forged signature: %v\n%s", err, output)
	}
	releases[bundle] = []byte("signed")
	if output, err := run(); err != nil || !strings.Contains(output, "runner 1.2.0\ninstalled in ") {
		t.Errorf("signed: %v\n%s", err, output)
	}
}

// TestInstallKnowsNoReleases: the copy in the repository has no address.
func TestInstallKnowsNoReleases(t *testing.T) {
	t.Parallel()
	command := exec.Command("sh", "install.sh")
	command.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	output, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "name the place with --releases") {
		t.Errorf("%v\n%s", err, output)
	}
}

// TestInstallOnWindows reads install.ps1, because no PowerShell is at hand to run it: it takes the files that a release has,
// compares the sum before it unpacks anything, never ends the shell that reads it, and describes its parameters.
func TestInstallOnWindows(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("install.ps1")
	if err != nil {
		t.Fatal(err)
	}
	script := string(content)
	dist, err := os.ReadFile("dist.sh")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(dist, []byte("for script in install.sh install.ps1; do sed \"s|@RELEASES@|")) || strings.Count(script, "@RELEASES@") != 1 {
		t.Error("a release has no install.ps1 that knows where it is from")
	}
	at := -1
	for _, text := range []string{
		"if ($Version -notmatch '^[0-9]+", `"mara_${Version}_windows_amd64"`, "'checksums.txt', \"$name.zip\"", "cosign verify-blob", "Get-FileHash -Algorithm SHA256",
		"if ($found -ne $wanted)", "Expand-Archive", "runner.exe\" version", "New-Item -ItemType Junction",
	} {
		next := strings.Index(script, text)
		if next <= at {
			t.Errorf("%s is missing, or comes too early", text)
		}
		at = next
	}
	for _, line := range strings.Split(script, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "exit") {
			t.Error("read by iex, exit ends the user's shell")
		}
	}
	for _, parameter := range regexp.MustCompile(`(?m)^    \[(?:string|switch)\]\$(\w+)`).FindAllStringSubmatch(script, -1) {
		if !strings.Contains(script, ".PARAMETER "+parameter[1]+"\n") {
			t.Errorf("-%s is not described", parameter[1])
		}
	}
}
