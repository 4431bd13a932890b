// Package offers lists what the clouds offer, as data with day and source: regions, types of nodes, versions of
// Kubernetes. A cloud adds names any day, so that a name that is not here is only doubtful.
package offers

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gopkg.in/yaml.v3"

	"mara/config"
)

//go:embed *.yaml
var files embed.FS

// Offer is what one cloud offers.
type Offer struct {
	Regions         List       `yaml:"regions"`
	RegistryRegions List       `yaml:"registryRegions"` // of container registries
	NodeTypes       List       `yaml:"nodeTypes"`
	Kubernetes      Kubernetes `yaml:"kubernetes"`
	StorageClasses  []string   `yaml:"storageClasses"` // that a new cluster has
}

// List holds the names that a cloud offered on a day.
type List struct {
	Day    day      `yaml:"day"`
	Source string   `yaml:"source"`
	Names  []string `yaml:"names"`
}

// Kubernetes holds versions of Kubernetes, major.minor, and the days on which their support ends.
type Kubernetes struct {
	List     `yaml:",inline"`
	Standard map[string]day `yaml:"standard"` // end of the support without a fee
	Ends     map[string]day `yaml:"ends"`     // end of all support
}

// day is a date without a time: 2026-11-25.
type day time.Time

// UnmarshalYAML reads a date.
func (d *day) UnmarshalYAML(node *yaml.Node) error {
	read, err := time.Parse(time.DateOnly, node.Value)
	*d = day(read)
	return err
}

// String returns the date as in the files.
func (d day) String() string { return time.Time(d).Format(time.DateOnly) }

// isPast reports whether a day that is set has passed.
func (d day) isPast(now time.Time) bool { return d != day{} && time.Time(d).Before(now) }

var read = sync.OnceValue(func() map[string]Offer {
	offers := map[string]Offer{}
	entries, err := files.ReadDir(".")
	for _, entry := range entries {
		var content []byte
		var offer Offer
		if content, err = files.ReadFile(entry.Name()); err == nil {
			err = yaml.Unmarshal(content, &offer)
		}
		if err != nil {
			break
		}
		offers[strings.TrimSuffix(entry.Name(), ".yaml")] = offer
	}
	if err != nil {
		panic(fmt.Sprintf("the lists of what clouds offer: %v", err))
	}
	return offers
})

// Of returns what the cloud of a provider offers.
func Of(provider string) Offer { return read()[provider] }

// Doubt returns what is doubtful about a name, or "".
func (l List) Doubt(name string) string {
	if name == "" || slices.Contains(l.Names, name) {
		return ""
	}
	hint := ""
	near := config.Suggest(name, l.Names)
	if near != "" && withoutDigits(near) != withoutDigits(name) { // else it is a new one, and no slip
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Sprintf("is %q, which is not in the runner's list of %s%s", name, l.Day, hint)
}

func withoutDigits(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, name)
}

// Judge returns what is wrong with a version of Kubernetes, of which major.minor count, or else what is doubtful; "" for neither. Only
// what was wrong on the day of the list is wrong: a configuration that is right today stays so.
func (k Kubernetes) Judge(version string, now time.Time) (wrong, doubt string) {
	number, err := minor(version)
	if err != nil {
		return "", ""
	}
	oldest, err := minor(k.Names[0])
	short := strings.Join(strings.SplitN(version, ".", 3)[:2], ".") // of 1.36.2-do.0
	standard, ended := k.Standard[short], k.Ends[short]
	switch {
	case ended.isPast(time.Time(k.Day)):
		return fmt.Sprintf("is %s, whose support ended on %s; the newest known are %s", version, ended, k.newest()), ""
	case err == nil && number < oldest-2:
		return fmt.Sprintf("is %s, which is not offered any more; the newest known are %s", version, k.newest()), ""
	case ended.isPast(now):
		return "", fmt.Sprintf("is %s, whose support ended on %s; the newest known are %s", version, ended, k.newest())
	case standard.isPast(now):
		return "", fmt.Sprintf("is %s, whose standard support ended on %s", version, standard)
	case !slices.Contains(k.Names, short):
		return "", fmt.Sprintf("is %s, which was not offered on %s; the newest known are %s", version, k.Day, k.newest())
	}
	return "", ""
}

// newest returns the last three versions for a sentence.
func (k Kubernetes) newest() string { return strings.Join(k.Names[max(0, len(k.Names)-3):], ", ") }

func minor(version string) (int, error) {
	_, number, _ := strings.Cut(version, ".")
	number, _, _ = strings.Cut(number, ".")
	return strconv.Atoi(cmp.Or(number, "-"))
}
