package wire

import "slices"

// reads lists the commands that change nothing.
var reads = [][]string{
	{"stack", "ls"}, {"stack", "export"}, {"stack", "output"}, {"stack", "history"},
	{"whoami"}, {"org", "get-default"}, {"version"}, {"objects", "list"}, {"service", "read"}, {"service", "unseal"}, {"service", "imports"},
}

// ReadsOnly reports whether a command, named by its arguments, changes nothing. Such a command holds no lock, so it
// can be killed at any time.
func ReadsOnly(args []string) bool {
	return slices.ContainsFunc(reads, func(words []string) bool {
		return len(args) >= len(words) && slices.Equal(args[:len(words)], words)
	})
}
