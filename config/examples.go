package config

import "embed"

// The directory that `runner init` makes, so that the installed runner needs no checkout.
//
//go:embed pulumi/environment.example pulumi/Pulumi.stackname.yaml.example pulumi/.gitignore
var examples embed.FS

// Example is a file that `runner init` writes.
type Example struct {
	Path string // below the root
	Data []byte
}

// Examples returns the files of a new configuration directory.
func Examples() ([]Example, error) {
	names := []string{".gitignore", "environment.example", "Pulumi.stackname.yaml.example"}
	files := make([]Example, 0, len(names))
	for _, name := range names {
		data, err := examples.ReadFile("pulumi/" + name)
		if err != nil {
			return nil, err
		}
		files = append(files, Example{Path: Directory + "/" + name, Data: data})
	}
	return files, nil
}
