package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// chainLength is how many projects a chain has.
const chainLength = 5

// chain is a kind of programs. Each project of a chain reads an output of the one before.
type chain struct {
	name    string
	goal    string                           // of the whole chain by one project
	needs   string                           // a program on the PATH without which it is not measured
	program func(owner string) (text string) // of a project; owner is "" for the first
	files   map[string]string                // of the root, and of each project where the path begins with PROJECT
	prepare []string                         // a command in the root; nil for none
}

func chains() ([]chain, error) {
	module, err := os.ReadFile("go.mod")
	if err != nil {
		return nil, err
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		return nil, err
	}
	return []chain{
		{
			name: "YAML", goal: "none: nothing starts",
			files: map[string]string{},
			program: func(owner string) string {
				if owner == "" {
					return "outputs: {value: a}\n"
				}
				return "resources:\n  owner: {type: 'pulumi:pulumi:StackReference', properties: {name: organization/" + owner + "/dev}}\n" +
					"outputs: {value: '${owner.outputs.value}'}\n"
			},
		},
		{
			name: "Go", goal: "at most 1.6", needs: "go",
			files: map[string]string{
				"go.mod": strings.Replace(string(module), "module mara", "module chain", 1), "go.sum": string(sums),
			},
			program: func(owner string) string {
				value := `pulumi.String("a")`
				if owner != "" {
					value = "owner.GetOutput(pulumi.String(\"value\"))"
					owner = "\t\towner, err := pulumi.NewStackReference(ctx, \"organization/" + owner + "/dev\", nil)\n\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n"
				}
				return "package main\n\nimport \"github.com/pulumi/pulumi/sdk/v3/go/pulumi\"\n\nfunc main() {\n" +
					"\tpulumi.Run(func(ctx *pulumi.Context) error {\n" + owner + "\t\tctx.Export(\"value\", " + value + ")\n\t\treturn nil\n\t})\n}\n"
			},
		},
		{
			name: "TypeScript", goal: "at most 1.6", needs: "pulumi-language-nodejs",
			files: map[string]string{
				"package.json":          `{"private": true, "workspaces": ["p*"]}`,
				"PROJECT/package.json":  `{"name": "PROJECT", "version": "1.0.0", "main": "index.ts", "dependencies": {"@pulumi/pulumi": "^3.200.0", "@types/node": "^20", "typescript": "^5"}}`,
				"PROJECT/tsconfig.json": `{"compilerOptions": {"strict": true, "target": "es2020", "module": "commonjs", "moduleResolution": "node"}}`,
			},
			prepare: []string{"npm", "install", "--no-audit", "--no-fund", "--loglevel=error"},
			program: func(owner string) string {
				text := "import * as pulumi from \"@pulumi/pulumi\";\n"
				if owner == "" {
					return text + "export const value = pulumi.output(\"a\");\n"
				}
				return text + "export const value = new pulumi.StackReference(\"organization/" + owner + "/dev\").getOutput(\"value\");\n"
			},
		},
	}, nil
}

// manifest returns the Pulumi.yaml of a project, and the file of its program if that is another one.
func (c chain) manifest(name, owner string) (manifest, file, program string) {
	manifest, program = "name: "+name+"\nruntime: ", c.program(owner)
	switch c.name {
	case "Go":
		return manifest + "go\n", "main.go", program
	case "TypeScript":
		return manifest + "nodejs\n", "index.ts", program
	}
	return manifest + "yaml\n" + program, "", ""
}

// measureChains compares a chain of projects with one project, by how their programs start, and with stock Pulumi in a loop.
func measureChains(ctx context.Context, o options, w io.Writer) error {
	all, err := chains()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nA chain of %d projects, each of which reads the one before; nothing changes\n", chainLength)
	const row = "  %-10v  %-8v  %-24v  %12v  %12v\n"
	fmt.Fprintf(w, row, "PROGRAMS", "", "", "CHAIN", "ONE PROJECT")
	for _, c := range all {
		if c.needs != "" {
			if _, err := exec.LookPath(c.needs); err != nil {
				fmt.Fprintf(w, "  %s: not measured, %s is not on the PATH\n", c.name, c.needs)
				continue
			}
		}
		if err := c.measure(ctx, o, w, row); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

func (c chain) measure(ctx context.Context, o options, w io.Writer, row string) error {
	root, err := os.MkdirTemp("", "bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	names, err := c.write(root)
	if err != nil {
		return err
	}
	env := append(os.Environ(), "PULUMI_CONFIG_PASSPHRASE=x", "PULUMI_SKIP_UPDATE_CHECK=true", "PATH="+o.bin+":"+os.Getenv("PATH"))
	command := func(states, dir, program string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Dir = filepath.Join(root, dir)
		cmd.Env = append(env, "PULUMI_BACKEND_URL=file://"+filepath.Join(root, states))
		return cmd
	}
	if c.prepare != nil {
		if _, err := timed(command("states", "", c.prepare[0], c.prepare[1:]...)); err != nil {
			return err
		}
	}
	runner := func(args ...string) func() (measured, error) {
		return func() (measured, error) {
			return timed(command("states", "", filepath.Join(o.bin, "runner"), append(args, "-s", "dev")...))
		}
	}
	// stock does something with projects one after the other.
	stock := func(projects []string, args ...string) func() (measured, error) {
		return func() (all measured, err error) {
			for _, project := range projects {
				cmd := command("stock", project, filepath.Join(o.bin, "pulumi"), append(args, "--non-interactive", "-s", "organization/"+project+"/dev")...)
				m, err := timed(cmd)
				if err != nil {
					return all, err
				}
				all.wall += m.wall
			}
			return all, nil
		}
	}
	first := []func() (measured, error){runner("up", "--yes", "--new"), stock(names, "stack", "init"), stock(names, "up", "--yes", "--skip-preview")}
	for _, do := range first {
		if _, err := do(); err != nil {
			return err
		}
	}
	one := names[:1]
	for _, operation := range []struct {
		name          string
		runner, stock []string
	}{
		{"preview", []string{"preview"}, []string{"preview"}},
		{"up", []string{"up", "--yes", "--force"}, []string{"up", "--yes", "--skip-preview"}},
	} {
		add := func(more ...string) []string { return append(append([]string{}, operation.runner...), more...) }
		var ahead, alone time.Duration
		for _, way := range []struct {
			name       string
			chain, one func() (measured, error)
		}{
			{"stock pulumi, in a loop", stock(names, operation.stock...), stock(one, operation.stock...)},
			{"one after the other", runner(add("--start-ahead", "0")...), runner(add("--start-ahead", "0", "--only", one[0])...)},
			{"started ahead", runner(operation.runner...), runner(add("--only", one[0])...)},
		} {
			whole, err := repeat(ctx, min(o.rounds, 3), way.chain)
			if err != nil {
				return err
			}
			single, err := repeat(ctx, min(o.rounds, 3), way.one)
			if err != nil {
				return err
			}
			ahead, alone = whole.median(), single.median()
			fmt.Fprintf(w, row, c.name, operation.name, way.name, seconds(ahead), seconds(alone))
		}
		fmt.Fprintf(w, "  the chain by one project, started ahead: %.1f (goal: %s)\n", ahead.Seconds()/alone.Seconds(), c.goal)
	}
	return nil
}

// write writes a repository with a chain of projects, and returns their names in order.
func (c chain) write(root string) (names []string, err error) {
	mara, owner := "projects:\n", ""
	for i := range chainLength {
		name := fmt.Sprintf("p%d", i)
		manifest, file, program := c.manifest(name, owner)
		all := map[string]string{name + "/Pulumi.yaml": manifest}
		if file != "" {
			all[name+"/"+file] = program
		}
		for path, content := range c.files {
			all[strings.ReplaceAll(path, "PROJECT", name)] = strings.ReplaceAll(content, "PROJECT", name)
		}
		for path, content := range all {
			if err := writeFile(filepath.Join(root, filepath.FromSlash(path)), content); err != nil {
				return nil, err
			}
		}
		mara += "- {path: " + name + ", stackFile: own"
		if owner != "" {
			mara += ", reads: [" + owner + "]"
		}
		mara += "}\n"
		names, owner = append(names, name), name
	}
	for _, dir := range []string{"states", "stock"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o700); err != nil {
			return nil, err
		}
	}
	return names, writeFile(filepath.Join(root, "mara.yaml"), mara)
}
