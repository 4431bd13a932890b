package record_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mara/runner/internal/core/record"
	"mara/runner/internal/testing/cmdtest"
)

// TestDamagedRecord: a record that is not valid is not taken for none.
func TestDamagedRecord(t *testing.T) {
	t.Parallel()
	s := cmdtest.LastUp(t, nil)
	if known, err := record.IsKnown(t.Context(), s); err != nil || known {
		t.Errorf("without a record: known %t, %v", known, err)
	}
	file := s.Directory.Rolled("dev")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"format": 2, "proj`), 0o600); err != nil {
		t.Fatal(err)
	}
	if known, err := record.IsKnown(t.Context(), s); err == nil || known || !strings.Contains(err.Error(), "the record is damaged") {
		t.Errorf("a damaged record: known %t, %v", known, err)
	}
}
