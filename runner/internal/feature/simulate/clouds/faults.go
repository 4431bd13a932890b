package clouds

import (
	"embed"
	"fmt"

	"gopkg.in/yaml.v3"

	"mara/runner/internal/feature/simulate"
)

//go:embed faults/*.yaml
var faultFiles embed.FS

// faultsOf reads what a package's cloud says in each fault that has a name: for resource types, with
// * for any text, or without types for a type that the user names.
func faultsOf(pkg string) map[string][]simulate.Words {
	text, err := faultFiles.ReadFile("faults/" + pkg + ".yaml")
	var words map[string][]simulate.Words
	if err == nil {
		err = yaml.Unmarshal(text, &words)
	}
	if err != nil {
		panic(fmt.Sprintf("the faults of %s: %v", pkg, err)) // a test reads them all
	}
	return words
}
