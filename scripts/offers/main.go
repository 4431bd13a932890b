// Command offers refreshes what the clouds offer, in projects/offers: regions and types of nodes, from the SDKs that go.mod
// names and from Linode's public API, each with its day and source. It reads no account and needs no token:
//
//	go run ./scripts/offers
//
// Versions of Kubernetes and their ends are on pages for people, and are written by hand.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const linode = "https://api.linode.com/v4"

// list is a list of names in a file of projects/offers.
type list struct {
	file, section string

	module, source, called string         // a file of a module, and what the list is called there
	name, not              *regexp.Regexp // of a name in that file, and of those that nobody may order; not may be nil

	path string // of Linode's API
	only string // the capability that an entry has; "" for all
}

func lists() []list {
	const ec2, pulumiAWS, pulumiDO = "github.com/aws/aws-sdk-go-v2/service/ec2", "github.com/pulumi/pulumi-aws/sdk/v7",
		"github.com/pulumi/pulumi-digitalocean/sdk/v4"
	return []list{
		{file: "aws.yaml", section: "regions", module: pulumiAWS, source: "go/aws/pulumiEnums.go", called: "aws.Region",
			name: regexp.MustCompile(`= Region\("([^"]+)"\)`), not: regexp.MustCompile(`-iso`)},
		{file: "aws.yaml", section: "nodeTypes", module: ec2, source: "types/enums.go", called: "types.InstanceType",
			name: regexp.MustCompile(` InstanceType += "([^"]+)"`)},
		{file: "digitalocean.yaml", section: "regions", module: pulumiDO, source: "go/digitalocean/pulumiEnums.go",
			called: "digitalocean.Region", name: regexp.MustCompile(`= Region\("([^"]+)"\)`)},
		{file: "digitalocean.yaml", section: "nodeTypes", module: pulumiDO, source: "go/digitalocean/pulumiEnums.go",
			called: "digitalocean.DropletSlug", name: regexp.MustCompile(`= DropletSlug\("([^"]+)"\)`),
			not: regexp.MustCompile(`^[0-9]+[gm]b$|_`)},
		{file: "linode.yaml", section: "regions", path: "/regions", only: "Kubernetes"},
		{file: "linode.yaml", section: "nodeTypes", path: "/linode/types"},
	}
}

// read is what a source says.
type read struct {
	names       []string
	day, source string
}

func main() {
	failed := false
	for _, l := range lists() {
		if err := refresh("projects/offers", l, linode, time.Now()); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %s stays as it is: %v\n", l.file, l.section, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// refresh writes what a source says into a file.
func refresh(dir string, l list, api string, now time.Time) error {
	var found read
	var err error
	if l.path != "" {
		found, err = ask(l, api, now)
	} else {
		found, err = fromModule(l)
	}
	if err == nil && len(found.names) < 5 {
		err = fmt.Errorf("%s lists %d names, which cannot be all", found.source, len(found.names))
	}
	if err != nil {
		return err
	}
	file := filepath.Join(dir, l.file)
	content, err := os.ReadFile(file) //nolint:gosec // one of ours
	if err != nil {
		return err
	}
	changed, err := replaced(string(content), l.section, found)
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(changed), 0o644) //nolint:gosec // as before
}

// fromModule reads the names in the source of a module.
func fromModule(l list) (read, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}\n{{.Version}}\n{{.Time}}", l.module).Output() //nolint:gosec // ours
	if err != nil {
		return read{}, fmt.Errorf("%s: %w", l.module, err)
	}
	of := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(of) != 3 || len(of[2]) < len(time.DateOnly) {
		return read{}, fmt.Errorf("%s is not downloaded", l.module)
	}
	content, err := os.ReadFile(filepath.Join(of[0], filepath.FromSlash(l.source))) //nolint:gosec // of the module
	if err != nil {
		return read{}, err
	}
	found := read{day: of[2][:len(time.DateOnly)], source: fmt.Sprintf("%s %s, %s", l.module, of[1], l.called)}
	for _, match := range l.name.FindAllStringSubmatch(string(content), -1) {
		if l.not == nil || !l.not.MatchString(match[1]) {
			found.names = append(found.names, match[1])
		}
	}
	return found, nil
}

// ask reads the names that Linode's API lists, which needs no login.
func ask(l list, api string, now time.Time) (read, error) {
	resp, err := http.Get(api + l.path + "?page_size=500") //nolint:gosec,noctx // a script
	if err != nil {
		return read{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return read{}, fmt.Errorf("%s answered %s", l.path, resp.Status)
	}
	var page struct {
		Pages int
		Data  []struct {
			ID           string
			Capabilities []string
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&page); err != nil {
		return read{}, err
	}
	if page.Pages > 1 {
		return read{}, fmt.Errorf("%s has %d pages, and one was read", l.path, page.Pages)
	}
	found := read{day: now.UTC().Format(time.DateOnly), source: linode + l.path}
	if l.only != "" {
		found.source += ", those with the capability " + l.only
	}
	for _, entry := range page.Data {
		if l.only == "" || slices.Contains(entry.Capabilities, l.only) {
			found.names = append(found.names, entry.ID)
		}
	}
	return found, nil
}

// replaced returns a file with another list in a section.
func replaced(content, section string, found read) (string, error) {
	old := regexp.MustCompile(`(?s)(^|\n)` + section + `:\n  day: [^\n]*\n  source: [^\n]*\n  names: \[.*?\]\n`)
	if len(old.FindAllString(content, -1)) != 1 {
		return "", fmt.Errorf("there is no section %s as it was", section)
	}
	slices.Sort(found.names)
	text := fmt.Sprintf("${1}%s:\n  day: %s\n  source: %s\n  names: %s\n", section, found.day, found.source,
		wrapped(slices.Compact(found.names)))
	return old.ReplaceAllString(content, text), nil
}

// wrapped writes names in lines, as the files have them.
func wrapped(names []string) string {
	if one := "[" + strings.Join(names, ", ") + "]"; len(one) <= 110 {
		return one
	}
	const width = 119
	var lines []string
	line := "     "
	for i, name := range names {
		if i < len(names)-1 {
			name += ","
		}
		if len(line)+1+len(name) > width {
			lines, line = append(lines, line), "     "
		}
		line += " " + name
	}
	return "[\n" + strings.Join(append(lines, line), "\n") + "\n  ]"
}
