package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"

	"mara/runner/internal/core/lock"
)

// formatVersion is the version of the format of journals.
const formatVersion = 1

// The files of a journal in its directory, beside its records.
const (
	baseName     = "base.json"     // the state as it was when the operation began
	recoveryName = "recovery.json" // which state a recovery is about to write
	overName     = "over.json"     // empty; the operation has ended, but could not write its state
)

// header begins the first record of a journal.
type header struct {
	Version int        `json:"version"`
	Epoch   string     `json:"epoch"` // names the journal
	Stack   string     `json:"stack"`
	Owner   lock.Owner `json:"owner"` // whose operation it is
	Base    string     `json:"base"`  // digest of the state in base.json
	// States are the digests of those that the operation has found, and has written or tried to write, until the journal
	// begins. After a disk was full any of them may be put back in the place of one that is torn.
	States []string `json:"states"`
}

// record is what is written to a journal at once.
type record struct {
	Header  *header                `json:"header,omitempty"`
	Entries []apitype.JournalEntry `json:"entries,omitempty"`
	// Checkpoint is the digest of a state that is about to be written.
	Checkpoint string `json:"checkpoint,omitempty"`
	// Last says that this state is the result of the operation.
	Last bool `json:"last,omitempty"`
}

// encode returns a record as a line, which begins with a checksum: a record that was cut off shows.
func (r record) encode() ([]byte, error) {
	text, err := compact(r)
	if err != nil {
		return nil, fmt.Errorf("encoding the journal: %w", err)
	}
	return fmt.Appendf(nil, "%08x %s\n", crc32.ChecksumIEEE(text), text), nil
}

// decodeRecord decodes a line. ok is false for one that was cut off.
func decodeRecord(line []byte) (r record, ok bool) {
	sum, text, found := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
	if !found || string(sum) != fmt.Sprintf("%08x", crc32.ChecksumIEEE(text)) {
		return record{}, false
	}
	return r, json.Unmarshal(text, &r) == nil
}

// compact encodes as Pulumi does for states that it keeps itself.
func compact(v any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), err
}

// digest returns the digest of a state.
func digest(checkpoint []byte) string {
	sum := sha256.Sum256(checkpoint)
	return hex.EncodeToString(sum[:])
}

// stored are the files of a journal: its records in their order, and the others by name.
type stored struct {
	epoch   string
	records [][]byte
	others  map[string][]byte
}

// journal is a journal as it was read.
type journal struct {
	header
	records    int // that are whole
	entries    []apitype.JournalEntry
	announced  []string // digests of the states that it says were written
	last       string   // digest of the result of the operation, or of a recovery
	over       bool     // the operation has ended, although its process may live on
	base       []byte   // the state when the operation began, as a versioned checkpoint
	baseDigest string   // of the state in base
}

// parse decodes a journal. begun is false for one without a first record: its operation ended before it relied on it,
// or after it no longer did. A record that was cut off ends a journal, for it was never acknowledged, and no step
// relied on it.
func parse(files stored) (j journal, begun bool, err error) {
	for _, line := range files.records {
		r, ok := decodeRecord(line)
		if !ok {
			break
		}
		if j.records == 0 {
			if r.Header == nil {
				return j, false, fmt.Errorf("the journal %s does not begin with its first record", files.epoch)
			}
			j.header = *r.Header
		}
		j.records++
		j.entries = append(j.entries, r.Entries...)
		if r.Checkpoint != "" {
			j.announced = append(j.announced, r.Checkpoint)
		}
		if r.Last {
			j.last = r.Checkpoint
		}
	}
	if j.records == 0 {
		return j, false, nil
	}
	if j.Version != formatVersion {
		return j, false, fmt.Errorf("the journal %s is of version %d, and this runner reads version %d: use a newer one",
			files.epoch, j.Version, formatVersion)
	}
	_, j.over = files.others[overName]
	j.base = files.others[baseName]
	if content, err := decodeContent(j.base); err == nil {
		j.baseDigest = content.digest
	}
	if j.baseDigest != j.Base {
		return j, false, fmt.Errorf("the journal %s is damaged: %s is not the state that it began with", files.epoch, baseName)
	}
	if recovery, ok := decodeRecord(files.others[recoveryName]); ok {
		j.announced = append(j.announced, recovery.Checkpoint)
		j.last = recovery.Checkpoint
	}
	return j, true, nil
}

// knows reports whether the operation of the journal, or what it began with, has left a state.
func (j journal) knows(digest string) bool {
	return digest == j.Base || slices.Contains(j.States, digest) || slices.Contains(j.announced, digest)
}
