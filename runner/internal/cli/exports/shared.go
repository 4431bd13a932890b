package exports

import (
	"fmt"
	"strings"

	"mara/runner/internal/machine/failure"
)

// stackPlaceholder stands for the environment in a namespace.
const stackPlaceholder = "{stack}"

// namespaceOf returns the namespace of an environment.
func namespaceOf(pattern, stack string) string {
	return strings.ReplaceAll(pattern, stackPlaceholder, strings.ToLower(strings.NewReplacer("_", "-", ".",
		"-").Replace(stack)))
}

// checkShared refuses environments that would share objects: the operator names a project after its Program, so that
// environments in one namespace have the same one, and a wave would replace the program of those after it.
func checkShared(all []operatorDocument) error {
	owner := map[string]string{}
	for _, e := range all {
		var objects []string
		for _, name := range e.programs {
			objects = append(objects, "Program "+name)
		}
		for _, name := range e.Stacks {
			objects = append(objects, "Stack "+name)
		}
		for _, object := range objects {
			key := e.Namespace + " " + object
			if other, taken := owner[key]; taken {
				return &failure.Environment{
					Text: fmt.Sprintf("%s and %s would share the %s in the namespace %s", other, e.Stack, object, e.Namespace),
					Next: "give each environment a namespace of its own with -n 'pulumi-" + stackPlaceholder +
						"', or take the programs from --repo or --flux",
				}
			}
			owner[key] = e.Stack
		}
	}
	return nil
}
