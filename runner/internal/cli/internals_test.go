package cli

import "github.com/urfave/cli/v2"

// Arrange checks the words of a command line, as execute does.
func Arrange(all []*cli.Command, words []string) error {
	_, err := arrange(all, words)
	return err
}

// ForeignWords returns the commands of other tools, with ours.
func ForeignWords() map[string]string { return foreignWords() }
