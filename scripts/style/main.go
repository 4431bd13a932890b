// Command style lists what in the Go code and documents of this repository
// does not follow the rules of style that a program can check.
//
//	go run ./scripts/style [PATH...]
//
// Without paths it looks at everything that git tracks. It ends with 1 if it
// finds anything.
package main

import (
	"fmt"
	"os"
)

func main() {
	findings, err := check(".", os.Args[1:]...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "style:", err)
		os.Exit(2)
	}
	for _, f := range findings {
		fmt.Println(f)
	}
	if len(findings) > 0 {
		os.Exit(1)
	}
}
