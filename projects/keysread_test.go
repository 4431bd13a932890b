package projects

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mara/config"
)

// TestEveryKeyIsRead: a key that is declared stands in the source of its program,
// or in what all programs share. Setting an
// unread key would silently do nothing.
func TestEveryKeyIsRead(t *testing.T) {
	t.Parallel()
	shared := sourceOf(t, "internal")
	internals, err := filepath.Glob("infrastructure/*/internal")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range internals {
		shared += sourceOf(t, dir)
	}
	byName := map[string]string{ // keys that are named by constants
		InfraType: "projects.InfraType", Mirror: "projects.Mirror", PodSecurity: "projects.PodSecurity", StorageClass: "projects.StorageClass",
	}
	ofCharts := []string{ChartVersion, ChartRepository, HelmTimeout, Values, ValuesFile}
	for _, project := range All() {
		source := sourceOf(t, project.Path) + shared
		for _, key := range project.Keys {
			written := []string{strconv.Quote(key.Name)}
			if constant := byName[key.Name]; constant != "" {
				written = append(written, constant)
			}
			if slices.ContainsFunc(registryDirKeys(), func(k config.Key) bool { return k.Name == key.Name }) {
				written = append(written, "registry.Directory")
			}
			for _, own := range ofCharts { // what makes a release reads them all
				for _, separator := range []string{":", "_"} {
					if group, isOf := strings.CutSuffix(key.Name, separator+own); isOf {
						written = append(written, "Group: "+strconv.Quote(group))
					}
				}
			}
			isRead := slices.ContainsFunc(written, func(text string) bool { return strings.Contains(source, text) })
			if !isRead && !key.OfPlugin {
				t.Errorf("%s declares %s, and does not read it", project.Name, key.Name)
			}
		}
	}
}

// sourceOf returns the source code in a directory, without tests.
func sourceOf(t *testing.T, dir string) string {
	t.Helper()
	var text strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		text.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// TestAddressesAreWellFormed: a default that looks like an address is one.
func TestAddressesAreWellFormed(t *testing.T) {
	t.Parallel()
	for _, project := range All() {
		for _, key := range project.Keys {
			text, ok := key.Default.(string)
			if !ok || !strings.Contains(text, "//") {
				continue
			}
			address, err := url.Parse(text)
			if err != nil || !slices.Contains([]string{"https", "oci"}, address.Scheme) || !strings.Contains(address.Host, ".") || strings.Contains(address.Path, "//") {
				t.Errorf("%s is %q by default: %v", key.Name, text, err)
			}
		}
	}
}
