package sourceplace

import (
	"os"
	"path/filepath"
	"testing"

	"mara/projects/model"
)

func write(t *testing.T, root, name, content string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root, "net/Pulumi.yaml", "name: net\nruntime: yaml\n")
	write(t, root, "net/Main.yaml", "resources:\n  vpc:\n    type: aws:ec2:Vpc\n  other:\n    name: subnet\n    type: aws:ec2:Subnet\n")
	write(t, root, "one/Pulumi.yaml", "name: one\nruntime: yaml\nresources:\n  bucket:\n    type: aws:s3:Bucket\n")
	write(t, root, "go/Pulumi.yaml", "name: go\nruntime: go\n")
	write(t, root, "config/pulumi/Pulumi.dev.yaml", "config: {}\n")
	own := func(name string) *model.Own { return &model.Own{Dir: filepath.Join(root, name), Line: 7} }
	for _, test := range []struct {
		name, resource string
		own            *model.Own
		want           Place
	}{
		{"a resource", "vpc", own("net"), Place{"net/Main.yaml", 2}},
		{"a resource with a name of its own", "subnet", own("net"), Place{"net/Main.yaml", 4}},
		{"a key that is not its name", "other", own("net"), Place{"net/Pulumi.yaml", 1}},
		{"a program in Pulumi.yaml", "bucket", own("one"), Place{"one/Pulumi.yaml", 4}},
		{"another language", "vpc", own("go"), Place{"go/Pulumi.yaml", 1}},
		{"from git", "vpc", &model.Own{Dir: filepath.Join(root, "net"), Git: "https://x", Line: 3}, Place{"mara.yaml", 3}},
		{"a directory that is not there", "vpc", own("gone"), Place{"mara.yaml", 7}},
		{"built in", "vpc", nil, Place{"config/pulumi/Pulumi.dev.yaml", 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := Find(root, test.own, test.resource, "config/pulumi/Pulumi.none.yaml", "config/pulumi/Pulumi.dev.yaml"); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
	if got := Find(root, nil, "vpc", "nothing"); got != (Place{}) {
		t.Errorf("%+v", got)
	}
}

func TestPrefix(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root, ".git/HEAD", "")
	write(t, root, "infra/dev/mara.yaml", "")
	if got := Prefix(filepath.Join(root, "infra", "dev")); got != "infra/dev/" {
		t.Errorf("%q", got)
	}
	if got := Prefix(root); got != "" {
		t.Errorf("%q", got)
	}
}
