package simulate

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"mara/config/files"
	"mara/config/lists"
	"mara/runner/internal/core/lock"
	"mara/runner/internal/machine/atomicfile"
)

// Record says that a resource exists in the simulated clouds. It holds no property of it.
type Record struct {
	Token    string   `json:"type"`
	ID       string   `json:"id"`
	URN      string   `json:"urn"`
	Provides []string `json:"provides,omitempty"`
	Requires []string `json:"requires,omitempty"`
	Remember []string `json:"remember,omitempty"`
}

// ReadRecords reads what exists in the simulated clouds of a directory, which may
// not exist itself.
func ReadRecords(dir string) ([]Record, error) {
	s := &store{dir: dir, known: map[string]Record{}}
	if err := s.scan(); err != nil {
		return nil, err
	}
	return lists.Map(names(s.known), func(path string) Record { return s.known[path] }), nil
}

// store keeps one file for each resource that exists, and nothing else, so
// that removing a file deletes a resource behind Pulumi's back.
type store struct {
	dir string

	mu    sync.Mutex        // protects known, and makes read-then-write one step
	known map[string]Record // by path; a cache of files that were there
}

func openStore(dir string) (*store, error) {
	if dir == "" {
		return nil, errors.New("the simulated clouds have no directory to remember what exists")
	}
	s := &store{dir: dir, known: map[string]Record{}}
	return s, s.scan()
}

// place returns the readable path of a resource: aws/ec2.vpc.Vpc/vpc-0….json.
func (s *store) place(scope, token, id string) string {
	pkg, kind, _ := strings.Cut(token, ":")
	kind = strings.NewReplacer("/", ".", ":", ".").Replace(kind)
	name := strings.ReplaceAll(url.PathEscape(id), ":", "%3A")
	if len(name) > 200 {
		name = fmt.Sprintf("%s-%x", name[:150], sha256.Sum256([]byte(id)))
	}
	return filepath.Join(s.dir, pkg, url.PathEscape(scope), kind, name+".json")
}

// find returns a resource that is there, with all that it needs.
func (s *store) find(path string) (r Record, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.findLocked(path)
}

func (s *store) findLocked(path string) (r Record, ok bool) {
	r, err := s.load(path)
	return r, err == nil && !slices.ContainsFunc(r.Requires, s.isFalse)
}

// put records a resource, unless another URN owns the place, and returns the
// owner. Repeating it changes nothing.
func (s *store) put(path string, r Record) (owner string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old, ok := s.findLocked(path); ok && (old.URN != r.URN || reflect.DeepEqual(old, r)) {
		return old.URN, nil
	}
	if err := s.bury(r.Provides); err != nil {
		return "", err
	}
	if err := writeRecord(path, r); err != nil {
		return "", fmt.Errorf("remembering a simulated resource: %w", err)
	}
	s.known[path] = r
	return r.URN, nil
}

// bury removes resources whose facts were provided by a resource that was deleted
// outside of the simulation: they must not reappear when the facts are provided again.
func (s *store) bury(facts []string) error {
	for _, fact := range facts {
		if s.isFalse(fact) {
			if err := s.dropUsers(fact); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropUsers removes the resources that require a fact.
func (s *store) dropUsers(fact string) error {
	for path, r := range maps.Clone(s.known) {
		if slices.Contains(r.Requires, fact) {
			if err := s.drop(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// delete removes a resource, and all that cannot exist without what it
// provides, unless one of its facts may not be taken away while in use.
func (s *store) delete(path string, provides []Fact) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.load(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(r.Provides) == 0 {
		return s.drop(path)
	}
	if err := s.scan(); err != nil {
		return err
	}
	for _, fact := range provides {
		if user := s.userOf(fact.Name); fact.InUse != "" && user != "" {
			return fmt.Errorf("%s (%s)", fact.InUse, user)
		}
	}
	return s.drop(path)
}

func (s *store) drop(path string) error {
	r, ok := s.known[path]
	if !ok {
		return nil
	}
	delete(s.known, path)
	for _, fact := range r.Provides {
		if err := s.dropUsers(fact); err != nil {
			return err
		}
	}
	if err := atomicfile.Remove(path); err != nil {
		return fmt.Errorf("forgetting a simulated resource: %w", err)
	}
	return nil
}

// userOf names a resource that requires a fact; empty when there is none.
func (s *store) userOf(fact string) string {
	user := ""
	for _, r := range s.known {
		if slices.Contains(r.Requires, fact) && (user == "" || r.ID < user) {
			user = r.ID
		}
	}
	return user
}

// holds reports whether a fact is true now.
func (s *store) holds(fact string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.isFalse(fact)
}

// facts lists the facts that are true and begin with a prefix.
func (s *store) facts(prefix string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.scan() != nil {
		return nil
	}
	var found []string
	for _, r := range s.known {
		for _, fact := range r.Provides {
			if strings.HasPrefix(fact, prefix) {
				found = append(found, fact)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// isFalse looks at the disk again before it believes that a fact is false:
// another process may have made it true.
func (s *store) isFalse(fact string) bool {
	return !s.provided(fact) && (s.scan() != nil || !s.provided(fact))
}

func (s *store) provided(fact string) bool {
	for path, r := range s.known {
		if !slices.Contains(r.Provides, fact) {
			continue
		}
		if _, err := os.Stat(path); err == nil {
			return true
		}
	}
	return false
}

// scan reads all resources from disk, and removes unfinished files of processes that
// were killed.
func (s *store) scan() error {
	clear(s.known)
	err := filepath.WalkDir(s.dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || entry.IsDir():
		case filepath.Ext(path) == ".json":
			_, err = s.load(path)
		case isAbandoned(entry.Name()):
			err = os.Remove(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // deleted behind our back, even while we look
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("reading what exists in the simulated clouds: %w", err)
	}
	return nil
}

func (s *store) load(path string) (Record, error) {
	data, err := files.Read(path, files.Data)
	if err != nil {
		delete(s.known, path)
		return Record{}, err
	}
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		return Record{}, fmt.Errorf("%s: %w; remove the file to forget the resource", path, err)
	}
	s.known[path] = r
	return r, nil
}

// unfinished is how a file is called until it is whole, after its writer.
const unfinished = "new-%d-"

// isAbandoned reports whether the process that wrote a temporary file is gone.
func isAbandoned(name string) bool {
	var writer int
	_, err := fmt.Sscanf(name, unfinished, &writer)
	return err == nil && !lock.IsAlive(writer)
}

// writeRecord writes a file completely or not at all.
func writeRecord(path string, r Record) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), fmt.Sprintf(unfinished, os.Getpid())+"*")
	if err != nil {
		return err
	}
	_, err = file.Write(append(data, '\n'))
	if err := errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return os.Rename(file.Name(), path)
}
