package config

import (
	"maps"
	"net/url"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
)

// filePrefix begins the address of a directory as a place for state.
const filePrefix = "file://"

// withoutSidecars ends the address of a directory in which Pulumi writes no .attrs files.
// By default it writes one next to each file, with a checksum and a content type that
// it does not need. See https://pkg.go.dev/gocloud.dev/blob/fileblob.
const withoutSidecars = "?metadata=skip"

// Absolute returns the path of a file as it is shown: below the root, or absolute.
func (s Settings) Absolute(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(s.Root, filepath.FromSlash(file))
}

// dirAddress returns a path as the address of a directory, with characters escaped that mean
// something in an address.
func dirAddress(path string) string {
	return filePrefix + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
}

// StateDir returns the directory of the state; ok is false if the state is not in a directory of
// this machine.
func (s Settings) StateDir() (directory string, ok bool) {
	path, _, _ := strings.Cut(s.Backend.Text, "?")
	path, ok = strings.CutPrefix(path, filePrefix)
	if !ok || path == "" {
		return "", false
	}
	directory, err := url.PathUnescape(path)
	return filepath.FromSlash(directory), err == nil
}

// absoluteBackend makes the path of a directory absolute. A relative path begins at the root:
// Pulumi would resolve it in its working directory, which is a temporary copy. `~` is the
// user's home, as it is for Pulumi; `pulumi login --local` writes file://~.
func absoluteBackend(backend Value, root string) (Value, error) {
	path, isFile := strings.CutPrefix(backend.Text, filePrefix)
	if !isFile {
		return backend, nil
	}
	path, query, asked := strings.Cut(path, "?")
	path, err := url.PathUnescape(path)
	if err != nil {
		return Value{}, backend.wrongAddress("write a % as %25")
	}
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		current, err := user.Current()
		if err != nil {
			return Value{}, backend.wrongAddress("write the whole path: " + err.Error())
		}
		path = filepath.Join(current.HomeDir, rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	backend.Text = dirAddress(path)
	if asked {
		backend.Text += "?" + query
	}
	return backend, nil
}

// AbsoluteBackend makes the path of a directory absolute, as seen from another one.
func AbsoluteBackend(backend Value, from string) (Value, error) {
	return absoluteBackend(backend, from)
}

// SameBackend reports whether two addresses name the same backend.
func SameBackend(a, b string) bool { return sameBackend(a, b) }

// wrongAddress returns the error for a malformed address of a directory. An address from the
// user's login has no line in a file.
func (v Value) wrongAddress(next string) error {
	if v.Origin.Source != FromLogin {
		return v.Wrong("is not the address of a directory", next)
	}
	problem := Problem{File: v.Origin.File, Text: "the address " + v.Text + " is not that of a directory"}
	return &Error{Problems: []Problem{problem}, Next: next}
}

// sameBackend reports whether two addresses name the same backend, whatever the options of a
// directory's address.
func sameBackend(a, b string) bool {
	return withoutDirOptions(a) == withoutDirOptions(b)
}

// withoutDirOptions removes the options from the address of a directory.
func withoutDirOptions(address string) string {
	if !strings.HasPrefix(address, filePrefix) {
		return strings.TrimSuffix(address, "/")
	}
	path, _, _ := strings.Cut(address, "?")
	return strings.TrimSuffix(path, "/")
}

// BackendPlace returns the address of the backend for records: without options, and relative
// to the root for a directory below it, so that a root can be moved.
func (s Settings) BackendPlace() string { return backendPlace(s.Backend.Text, s.Root) }

func backendPlace(address, root string) string {
	address = withoutDirOptions(address)
	below, isBelow := strings.CutPrefix(address, dirAddress(root)+"/")
	if !isBelow {
		return address
	}
	return filePrefix + below
}

// At returns the settings with the state at another address.
func (s Settings) At(address string) (Settings, error) {
	backend := Value{Text: address, Origin: Origin{Source: FromRecord, Name: "the backend"}}
	if err := CheckBackend(backend); err != nil {
		return s, err
	}
	backend, err := absoluteBackend(backend, s.Root)
	if err != nil {
		return s, err
	}
	return s.in(backend), nil
}

// in returns the settings with the states of all projects in one backend.
func (s Settings) in(backend Value) Settings {
	s.Backend, s.Elsewhere, s.environ = backend, nil, s.Environ()
	s.environ[BackendVariable] = backend.Text
	return s
}

// BackendOf returns the backend with the states of a project.
func (s Settings) BackendOf(project string) Value {
	if other, ok := s.Elsewhere[project]; ok {
		return other
	}
	return s.Backend
}

// Of returns the settings as if all states were where those of a project are.
func (s Settings) Of(project string) Settings { return s.in(s.BackendOf(project)) }

// InEach returns the settings once for each backend that has states of projects, as if all were there: that of most
// projects first, and the others in the order of their addresses.
func (s Settings) InEach() []Settings {
	all := []Settings{s.in(s.Backend)}
	others := slices.SortedFunc(maps.Values(s.Elsewhere), func(a, b Value) int { return strings.Compare(a.Text, b.Text) })
	for _, other := range others {
		if !slices.ContainsFunc(all, func(one Settings) bool { return sameBackend(one.Backend.Text, other.Text) }) {
			all = append(all, s.in(other))
		}
	}
	return all
}

// Places says where the states are: one text for each way to spread the projects over backends.
func (s Settings) Places() string {
	text := s.Backend.Text
	for _, project := range slices.Sorted(maps.Keys(s.Elsewhere)) {
		text += " " + project + "=" + s.Elsewhere[project].Text
	}
	return text
}

// Managed reports whether the backend is a service that encrypts secrets by
// itself, such as Pulumi Cloud.
func (s Settings) Managed() bool { return IsManaged(s.Backend.Text) }

// IsManaged reports the same for the address of a backend.
func IsManaged(backend string) bool {
	return strings.HasPrefix(backend, "https://") || strings.HasPrefix(backend, "http://")
}

// MayMix reports whether projects of one root may be in two backends: Pulumi Cloud has keys of its own, so all are there, or
// none.
func MayMix(a, b string) bool { return sameBackend(a, b) || !IsManaged(a) && !IsManaged(b) }

// Apart says in words, where states are at Pulumi Cloud, that machines do not see one another: it has no place for the
// runner's locks and records. It is "" for other backends. Screens that depend on it say so.
func Apart(backend string) string {
	if !IsManaged(backend) {
		return ""
	}
	return "the states are at Pulumi Cloud: what other machines run now and have rolled out is not known here " +
		"(docs/pulumi-cloud.md#two-machines)"
}
