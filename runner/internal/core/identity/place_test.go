package identity

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"mara/config"
	"mara/providers"
	"mara/runner/internal/core/catalogue"
	"mara/runner/internal/core/request"
	"mara/runner/internal/core/session"
	"mara/runner/internal/core/vault"
)

// adopted returns the files of a repository with a stack file next to each project.
func adopted(mara string) map[string]string {
	return map[string]string{
		"mara.yaml":           mara + "projects:\n- {path: net, stackFile: own}\n",
		"net/Pulumi.yaml":     "name: net\nruntime: yaml\n",
		"net/Pulumi.dev.yaml": "encryptionsalt: v1:abc=:v1:def:ghi=\nconfig: {}\n",
	}
}

// atRoot opens a session of an environment in a root with these files.
func atRoot(t *testing.T, files map[string]string, stack, backend string) *session.Resolved {
	t.Helper()
	root := t.TempDir()
	for file, content := range files {
		write(t, filepath.Join(root, file), content)
	}
	known, err := catalogue.Load(providers.Catalogue(), root, "")
	if err != nil {
		t.Fatal(err)
	}
	sources := config.Sources{Process: []string{"PULUMI_HOME=" + t.TempDir(), "PULUMI_STACK=" + stack}}
	if backend != "" {
		sources.Process = append(sources.Process, "PULUMI_BACKEND_URL="+backend)
	}
	s, err := session.ResolveStack(session.Deps{Console: vault.Console{Stderr: io.Discard}}, session.Options{
		Request: request.Request{Root: root, Sources: sources, Catalogue: &known},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const netHere = ".runner/state/.pulumi/stacks/net/dev.json"

// TestCheckPlace: nothing is deployed to a backend that nobody named while files say that the environment exists
// elsewhere, nor to another one than they name.
func TestCheckPlace(t *testing.T) {
	t.Parallel()
	with := func(files map[string]string, more ...string) map[string]string {
		for i := 0; i < len(more); i += 2 {
			files[more[i]] = more[i+1]
		}
		return files
	}
	for name, test := range map[string]struct {
		files   map[string]string
		backend string
		want    string // in the error
	}{
		"a fresh clone":                {files: adopted(""), want: "no backend is named, and file://.runner/state (default) has nothing of dev, although net/Pulumi.dev.yaml was made for one"},
		"deployed here":                {files: with(adopted(""), netHere, deployed)},
		"only a preview was here":      {files: with(adopted(""), netHere, empty), want: "no backend is named"},
		"its key was made here":        {files: with(adopted(""), ".runner/environments/dev.keys.yaml", "keys: ['v1:abc=:v1:def:ghi=']\n")},
		"listed, and no key":           {files: with(adopted("environments: [dev]\n"), "net/Pulumi.dev.yaml", "config: {}\n"), want: "although mara.yaml:1 lists it"},
		"listed, deployed here before": {files: with(adopted("environments: [dev]\n"), "net/Pulumi.dev.yaml", "config: {}\n", ".runner/environments/dev.keys.yaml", "keys: []\n")},
		"with a shared stack file":     {files: with(adopted(""), "config/pulumi/Pulumi.dev.yaml", "config: {}\n")},
		"not listed, and no key":       {files: with(adopted(""), "net/Pulumi.dev.yaml", "config: {}\n")},
		"mara.yaml names it":           {files: adopted("backend: file://states\n")},
		"Pulumi.yaml names it":         {files: with(adopted(""), "net/Pulumi.yaml", "name: net\nruntime: yaml\nbackend: {url: 'file://states'}\n")},
		"a variable names it":          {files: adopted(""), backend: "file://states"},
		"a variable names another":     {files: adopted("backend: file://states\n"), backend: "file://others", want: "dev is in file://states (backend in mara.yaml:1), and PULUMI_BACKEND_URL in the process environment is file://others"},
		"the same, deployed there":     {files: with(adopted("backend: file://states\n"), "others/.pulumi/stacks/net/dev.json", deployed), backend: "file://others"},
		"a description names another":  {files: with(adopted(""), "config/environments/dev.yaml", "values: {runner: {backend: 'file://prod'}}\n"), backend: "file://others", want: "(runner.backend in config/environments/dev.yaml:1)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := atRoot(t, test.files, "dev", test.backend)
			err := CheckPlace(t.Context(), s)
			text := ""
			if err != nil {
				text = strings.ReplaceAll(err.Error(), s.Settings.Root+"/", "")
			}
			if (test.want == "") != (err == nil) || !strings.Contains(text, test.want) {
				t.Errorf("got %v, want %q", text, test.want)
			}
		})
	}
}

// TestBackendOfProjects: the backend at the top, or of the first project, is that of all but those that name another one.
func TestBackendOfProjects(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ mara, net, db, want, err string }{
		"none":                 {},
		"one":                  {net: "s3://a", db: "s3://a/", want: "s3://a"},
		"one without":          {net: "s3://a", err: "backend.url in net/Pulumi.yaml:3 is s3://a, and db/Pulumi.yaml names no backend"},
		"one without, and all": {mara: "s3://a", net: "s3://a", want: "s3://a"},
		"two":                  {net: "s3://a", db: "s3://b", want: "s3://a db=s3://b"},
		"another for all":      {mara: "s3://c", net: "s3://a", want: "s3://c net=s3://a"},
		"at Pulumi Cloud":      {net: "https://api.pulumi.com", db: "s3://b", err: "backend.url in db/Pulumi.yaml:3 is s3://b, and backend.url in net/Pulumi.yaml:3 is https://api.pulumi.com: Pulumi Cloud has keys"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			mara := "projects: [{path: net}, {path: db}]\n"
			if test.mara != "" {
				mara = "backend: " + test.mara + "\n" + mara
			}
			write(t, filepath.Join(root, "mara.yaml"), mara)
			for project, backend := range map[string]string{"net": test.net, "db": test.db} {
				content := "name: " + project + "\nruntime: yaml\n"
				if backend != "" {
					content += "backend: {url: '" + backend + "'}\n"
				}
				write(t, filepath.Join(root, project, "Pulumi.yaml"), content)
			}
			known, err := catalogue.Load(providers.Catalogue(), root, "")
			if err != nil {
				t.Fatal(err)
			}
			found, err := known.Backends(root)
			got := config.Settings{Backend: found.Value, Elsewhere: found.Elsewhere}.Places()
			if test.err == "" && (err != nil || got != test.want) || test.err != "" && (err == nil || !strings.HasPrefix(err.Error(), test.err)) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// TestCheckNew: a name that nothing knows is most likely a typing error.
func TestCheckNew(t *testing.T) {
	t.Parallel()
	shared := map[string]string{"config/pulumi/Pulumi.dev.yaml": "config: {}\n", "config/pulumi/Pulumi.eu-1.yaml": "config: {}\n"}
	for name, test := range map[string]struct {
		files         map[string]string
		stack         string
		err, warning  string
		alsoDeployed  bool
		alsoOverrides bool
	}{
		"known":                      {files: adopted(""), stack: "dev"},
		"misspelled":                 {files: adopted(""), stack: "devv", err: `there is no environment "devv"; there are dev; did you mean dev?`},
		"another, with own files":    {files: adopted(""), stack: "pr-17", err: `there is no environment "pr-17"; there are dev`},
		"another, listed":            {files: adopted("environments: [dev, prod]\n"), stack: "test", err: `there are dev, prod`},
		"deployed":                   {files: adopted(""), stack: "devv", alsoDeployed: true},
		"with values":                {files: adopted(""), stack: "devv", alsoOverrides: true},
		"shared file, misspelled":    {files: shared, stack: "dve", err: "did you mean dev?"},
		"shared file, another":       {files: shared, stack: "pr-17", warning: `there is no environment "pr-17"`},
		"shared file, another digit": {files: shared, stack: "eu-2", warning: `there is no environment "eu-2"`},
		"nothing is known":           {files: map[string]string{"mara.yaml": "projects: []\n"}, stack: "dev"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			for file, content := range test.files {
				files[file] = content
			}
			if test.alsoDeployed {
				files[".runner/state/.pulumi/stacks/net/"+test.stack+".json"] = empty
			}
			s := atRoot(t, files, test.stack, "")
			if test.alsoOverrides {
				s.Options.Overrides = []config.Change{{Key: "net:a", Value: "b"}}
			}
			warning, err := CheckNew(t.Context(), s)
			switch {
			case (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err):
				t.Errorf("got %v", err)
			case (warning == "") != (test.warning == "") || !strings.Contains(warning, test.warning):
				t.Errorf("got the warning %q", warning)
			}
		})
	}
}
