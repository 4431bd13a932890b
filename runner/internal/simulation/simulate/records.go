package simulate

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Record is a resource that exists in the simulated clouds.
type Record struct {
	Token string `json:"type"`
	ID    string `json:"id"`
	URN   string `json:"urn"`
}

// ReadRecords reads what exists in the simulated clouds of a directory, which may
// not exist itself.
func ReadRecords(dir string) ([]Record, error) {
	var records []Record
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		var r Record
		content, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(content, &r)
		}
		if err == nil && r.URN != "" {
			records = append(records, r)
		}
		return err
	})
	return records, err
}
