package main

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"mara/runner/internal/testing/servicetest"
)

// serviceLatency is how long each answer of the stand-in for Pulumi Cloud takes.
const serviceLatency = 100 * time.Millisecond

// atService is an environment of projects in YAML, each of which reads the one before, whose states are at a stand-in for
// Pulumi Cloud.
type atService struct {
	options
	projects []string
	root     string
	service  *servicetest.Server
	server   *httptest.Server
}

// measureService counts the requests to Pulumi Cloud of a few commands, beside Pulumi's own command line in a loop.
func measureService(ctx context.Context, o options, w io.Writer) error {
	fmt.Fprintf(w, "\nRequests to Pulumi Cloud, each of which takes %s\n", serviceLatency)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "  PROJECTS\t\tREQUESTS\tA PROJECT\tTIME")
	for _, projects := range []int{3, 15} {
		if err := measureAtService(ctx, o, table, projects); err != nil {
			return err
		}
	}
	return table.Flush()
}

func measureAtService(ctx context.Context, o options, table io.Writer, projects int) error {
	e, err := newAtService(o, projects)
	if err != nil {
		return err
	}
	defer e.close()
	row := func(name string, measure func() error) error {
		e.service.Forget()
		began := time.Now()
		if err := measure(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		asked := len(e.service.Asked())
		fmt.Fprintf(table, "  %d\t%s\t%d\t%.1f\t%s\n", projects, name, asked, float64(asked)/float64(projects), seconds(time.Since(began)))
		return nil
	}
	for _, command := range []string{"up --yes", "up --yes", "status", "preview", "up --yes --force"} {
		name := "runner " + strings.Replace(command, " --yes", "", 1)
		if command == "up --yes" && len(e.service.Updates(servicetest.Organization+"/"+e.projects[0]+"/"+stack)) > 0 {
			name += ", nothing to do"
		}
		if err := row(name, func() error { return e.run(ctx, e.root, "runner", strings.Fields(command)...) }); err != nil {
			return err
		}
	}
	if _, err := os.Stat(filepath.Join(o.bin, "pulumi")); err != nil {
		fmt.Fprintf(table, "  %d\tpulumi, in a loop\t-\t-\tnot measured: make tools makes bin/pulumi\n", projects)
		return nil
	}
	return row("pulumi up, in a loop, nothing to do", func() error {
		for _, project := range e.projects {
			if err := e.run(ctx, filepath.Join(e.root, project), "pulumi", "up", "--yes", "--skip-preview", "--stack",
				servicetest.Organization+"/"+project+"/"+stack); err != nil {
				return err
			}
		}
		return nil
	})
}

func newAtService(o options, projects int) (*atService, error) {
	root, err := os.MkdirTemp("", "bench-*")
	if err != nil {
		return nil, err
	}
	e := &atService{options: o, root: root, service: servicetest.NewHandler(servicetest.Options{Latency: serviceLatency})}
	e.server = httptest.NewServer(e.service)
	e.service.URL = e.server.URL
	files := map[string]string{"config/pulumi/environment": "PULUMI_STACK=" + stack + "\n"}
	list := "projects:\n"
	for i := range projects {
		name := fmt.Sprintf("p%02d", i)
		program := "name: " + name + "\nruntime: yaml\noutputs: {text: " + name + "}\n"
		reads := ""
		if i > 0 {
			before := e.projects[i-1]
			reads = ", reads: " + before
			program += "resources:\n  before: {type: 'pulumi:pulumi:StackReference', properties: {name: '${pulumi.organization}/" + before +
				"/${pulumi.stack}'}}\n"
		}
		list += "- {path: " + name + reads + "}\n"
		files[name+"/Pulumi.yaml"] = program
		e.projects = append(e.projects, name)
	}
	files["mara.yaml"] = list
	for path, content := range files {
		if err := writeFile(filepath.Join(root, path), content); err != nil {
			e.close()
			return nil, err
		}
	}
	return e, nil
}

// run runs a program in a directory of the environment.
func (e *atService) run(ctx context.Context, dir, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(e.bin, program), args...)
	cmd.Dir = dir
	cmd.Env = append(e.service.Env(), "HOME="+e.root, "PATH="+e.bin+":"+os.Getenv("PATH"), "PULUMI_SKIP_UPDATE_CHECK=true")
	_, err := timed(cmd)
	return err
}

func (e *atService) close() {
	e.server.Close()
	_ = os.RemoveAll(e.root)
}
