package failure

import "fmt"

// RunnerFolder says that the folder .runner cannot be used.
func RunnerFolder(err error) error {
	return &Environment{
		Text: fmt.Sprintf("the folder .runner cannot be used: %v", err),
		Next: "the runner keeps state and runs there; " + WriteRemedy(err, "it") + ", or choose another root with --root",
	}
}
