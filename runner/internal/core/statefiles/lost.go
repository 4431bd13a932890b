package statefiles

import (
	"encoding/json"
	"slices"
	"strings"

	"mara/config/files"
)

// Lost is a project that was deployed and has no state any more.
type Lost struct {
	File string // its place
	Copy string // of the state after its last update, or of the one before; "" if there is none
}

// FindLost reports whether a project's state is gone, though its history says that it was deployed: its file is missing
// or has no resources, and the last thing that was done to it was no destroy, and left resources. Removing a stack removes its history as
// well, and a preview of a project without a state makes one that is empty.
func (f Directory) FindLost(project string) (lost Lost, isLost bool, err error) {
	content, err := f.Read(project)
	if err != nil {
		return lost, false, err
	}
	var state struct {
		Resources []json.RawMessage `json:"resources"`
	}
	if len(content) > 0 && json.Unmarshal(content, &state) == nil && len(state.Resources) > 0 {
		return lost, false, nil
	}
	const entryEnd = ".history.json"
	entries, err := files.Glob(f.Of(project).files().History(project, f.stackOf(project)), "*"+entryEnd+"*")
	if err != nil || len(entries) == 0 {
		return lost, false, err
	}
	last := slices.Max(entries) // their names end with the time
	var entry struct {
		Kind    string         `json:"kind"`
		Changes map[string]int `json:"resourceChanges"`
	}
	if content, err := readState(last); err != nil {
		return lost, false, unreadable(err)
	} else if json.Unmarshal(content, &entry) != nil || entry.Kind == "destroy" || len(entry.Changes) == 0 {
		return lost, false, nil
	}
	lost.File = f.variants(project)[0]
	for _, copied := range []string{strings.TrimSuffix(last, entryEnd) + ".checkpoint.json", lost.File + ".bak"} {
		if strings.HasSuffix(last, entryEnd) && isWhole(copied) {
			lost.Copy = copied
			break
		}
	}
	return lost, true, nil
}
