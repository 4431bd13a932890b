package preflight

import (
	"context"
	"encoding/json"
	"fmt"
)

// docker asks the daemon, not just for the client. A host that is configured
// for Pulumi's provider is the one that is asked.
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
			return Bad(fmt.Sprintf("its daemon does not answer: %v", err), "start Docker, or set DOCKER_HOST to a daemon that runs")
		}
		return Good("the daemon answers, version " + version)
	}}
}

// kubectl is for the user: the runner needs none.
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
			return Bad(fmt.Sprintf("%s does not tell its version: %v", client.path, err), "install it anew")
		}
		return Good(version.Client.Version)
	}}
}

// awsCLI is what the kubeconfig of EKS asks for a token. It is only looked for:
// to run it takes a second.
func awsCLI(f Facts) Check {
	return Check{Title: "AWS CLI", Group: Tools, Look: func(context.Context) []Finding {
		client, ok := findTool("aws", f.Env)
		if !ok {
			return Bad("there is no aws on PATH; the kubeconfig of EKS asks it for a token", "install the AWS CLI, version 2")
		}
		return Good(client.path)
	}}
}
