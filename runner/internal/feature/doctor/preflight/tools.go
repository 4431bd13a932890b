package preflight

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"mara/runner/internal/machine/process"
)

// docker checks the daemon, not just the client. The configuration of Pulumi's
// provider may name the host of the daemon.
func docker(f Facts) Check {
	return Check{Title: "Docker", Group: Tools, Look: func(ctx context.Context) []Finding {
		client, ok := findTool("docker", f.Env)
		if !ok {
			return Bad("there is no docker on PATH", "install Docker, and start it")
		}
		var args []string
		if host := f.Config.Text("docker:host"); host.IsSet() {
			args = []string{"--host", host.Text}
		}
		version, err := client.ask(ctx, append(args, "version", "--format", "{{.Server.Version}}")...)
		if err != nil {
			return Bad(fmt.Sprintf("its daemon does not answer: %v", err),
				"start Docker, or set DOCKER_HOST to a daemon that runs")
		}
		return Good("the daemon answers, version " + version)
	}}
}

// kubectl checks for kubectl, which the user may want; the runner needs none.
func kubectl(f Facts) Check {
	return Check{Title: "kubectl", Group: Tools, Look: func(ctx context.Context) []Finding {
		client, ok := findTool("kubectl", f.Env)
		if !ok {
			return Bad("there is none on PATH", "the runner needs none; install it to look into the cluster yourself")
		}
		answer, err := client.ask(ctx, "version", "--client", "-o", "json")
		var version struct {
			Client struct {
				Version string `json:"gitVersion"`
			} `json:"clientVersion"`
		}
		if err == nil {
			err = json.Unmarshal([]byte(answer), &version)
		}
		if err != nil {
			return Bad(fmt.Sprintf("%s does not print its version: %v", client.path, err), "reinstall it")
		}
		return Good(version.Client.Version)
	}}
}

// awsCLI looks for the AWS CLI, from which the kubeconfig of EKS gets a token. It does
// not run it: that takes a second.
func awsCLI(f Facts) Check {
	return Check{Title: "AWS CLI", Group: Tools, Look: func(context.Context) []Finding {
		client, ok := findTool("aws", f.Env)
		if !ok {
			return Bad("there is no aws on PATH; the kubeconfig of EKS asks it for a token", "install the AWS CLI, version 2")
		}
		return Good(client.path)
	}}
}

// tool is another program on this machine.
type tool struct {
	path string
	env  map[string]string
}

// findTool looks for a program on the PATH that Pulumi will have.
func findTool(name string, env map[string]string) (tool, bool) {
	path, err := process.Find(name, "", env["PATH"])
	return tool{path: path, env: env}, err == nil
}

// ask runs the program and returns its output. The error has the last line of its
// stderr.
func (t tool) ask(ctx context.Context, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, t.path, args...)
	command.Stdout, command.Stderr = &stdout, &stderr
	command.WaitDelay = 2 * time.Second // its children may hold the pipes open
	process.OwnGroup(command)
	command.Cancel = func() error { process.Kill(command.Process.Pid); return nil } // with its children
	command.Env = process.Environ(t.env)
	err := command.Run()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		if said := lastLine(stderr.String()); said != "" {
			return "", errors.New(said)
		}
		return "", fmt.Errorf("%s: %w", filepath.Base(t.path), err)
	}
	return strings.TrimSpace(stdout.String()), nil
}

// lastLine returns the last line, in which programs report the error.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
