package cmd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mara/config"
	"mara/config/lists"
	"mara/runner/internal/machine/failure"
)

// FindApplication finds an application in the mara.yaml of a root.
func FindApplication(root, name string) (config.Application, error) {
	mara, err := config.ReadMara(root)
	if err != nil {
		return config.Application{}, err
	}
	names := lists.Map(mara.Applications, func(a config.Application) string { return a.Name.Text })
	if i := slices.Index(names, name); i >= 0 {
		return mara.Applications[i], nil
	}
	return config.Application{}, &failure.Usage{
		Text: fmt.Sprintf("%s has no application %q%s", config.MaraFile, name, config.DidYouMean(name, names)),
		Next: "the applications are: " + cmp.Or(strings.Join(names, ", "), "none"),
	}
}
