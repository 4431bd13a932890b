package command

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"mara/config/files"
	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/outdir"
)

// digests are those of the images in a mirror, by their place in it: tags can be moved to other images later.
type digests map[string]string

// readDigests reads a file of `mirror sync --digests`; there are none in one that does not exist.
func readDigests(path string) (digests, error) {
	content, err := files.Read(path, files.Data)
	if errors.Is(err, fs.ErrNotExist) {
		return digests{}, nil
	} else if err != nil {
		return nil, &failure.Environment{Text: err.Error()}
	}
	d, number := digests{}, 0
	for line := range strings.Lines(string(content)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		digest, place, ok := strings.Cut(line, "  ")
		if !ok || !strings.HasPrefix(digest, "sha256:") || place == "" {
			return nil, &failure.Environment{
				Text: fmt.Sprintf("%s:%d: not a digest and the place of an image, such as sha256:...  library/registry:3", path, number),
				Next: "write it anew with `runner mirror sync --digests " + path + "`",
			}
		}
		d[place] = digest
	}
	return d, nil
}

// write writes the file.
func (d digests) write(path string) error {
	var text strings.Builder
	for _, place := range slices.Sorted(maps.Keys(d)) {
		fmt.Fprintf(&text, "%s  %s\n", d[place], place)
	}
	return outdir.WriteFile(path, "runner mirror sync --digests", []byte(text.String()))
}

// compare says where an image in the mirror is not the one that was copied there; "" where it is.
func (d digests) compare(image, digest, file string) string {
	place, _, _ := strings.Cut(image, "@")
	switch copied, known := d[place]; {
	case !known:
		return fmt.Sprintf("image %s is not in %s", place, file)
	case copied != digest:
		return fmt.Sprintf("image %s is %s in the mirror, and %s in %s: its tag was moved", place, digest, copied, file)
	}
	return ""
}
