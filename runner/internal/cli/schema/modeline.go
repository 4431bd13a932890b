package schema

import (
	"fmt"
	"regexp"
	"strings"
)

// ProjectFile is the name of the schema of mara.yaml, next to that file and in a release.
const ProjectFile = "mara.schema.json"

// modeline is the comment by which editors find the schema of a YAML file.
const modeline = "# yaml-language-server: $schema="

// Modeline returns the line that names the schema of mara.yaml in a release, or "" without a release.
// releases is the web directory of the releases.
func Modeline(releases, version string) string {
	if releases == "" || !regexp.MustCompile(`^\d+\.\d+\.\d+[\w.-]*$`).MatchString(version) {
		return ""
	}
	return fmt.Sprintf("%s%s/download/v%s/%s\n", modeline, strings.TrimSuffix(releases, "/"), version, ProjectFile)
}

// WithModeline returns a YAML file whose first comment for editors names a schema, and changes nothing else.
func WithModeline(content, address string) string {
	lines := strings.SplitAfter(content, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "#") {
			break
		}
		if strings.HasPrefix(line, modeline) {
			lines[i] = modeline + address + line[len(strings.TrimRight(line, "\r\n")):]
			return strings.Join(lines, "")
		}
	}
	end := "\n"
	if strings.HasSuffix(lines[0], "\r\n") {
		end = "\r\n"
	}
	return modeline + address + end + content
}
