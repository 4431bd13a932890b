package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"mara/projects/model/cloud"
	"mara/runner/internal/core/query"
	"mara/runner/internal/core/session"
	"mara/runner/internal/kube/examine"
	"mara/runner/internal/kube/kubeapi"
	"mara/runner/internal/machine/reach"
	"mara/runner/internal/machine/typeset"
)

// application is how an application of mara.yaml runs, with --live.
type application struct {
	Pods       []examine.AppPod `json:"pods"`
	Address    string           `json:"address,omitempty"`    // "" if it has none
	Unanswered string           `json:"unanswered,omitempty"` // why the address does not answer; "" if it does
}

// addressLimit is how long an application may take to answer at its address.
const addressLimit = 5 * time.Second

// checkApplications asks the cluster about the Pods of the applications that are deployed, and their addresses for an answer.
// The address is the output url of its state, which is by project.
func (s *environmentStatus) checkApplications(ctx context.Context, at *session.Resolved, kubeconfig []byte, states map[string]json.RawMessage) error {
	var cluster *kubeapi.Cluster
	ask := reach.Verified(cloud.Proxy(at.Options.Sources.Looking()))
	for i := range s.Projects {
		p := &s.Projects[i]
		project, err := at.Plan.Project(p.Project)
		if err != nil || !project.IsApplication() || p.Resources == 0 {
			continue
		}
		if cluster == nil {
			if cluster, err = kubeapi.Connect(kubeconfig, at.Env); err != nil {
				return err
			}
		}
		pods, err := examine.Application(ctx, cluster, p.Project)
		if err != nil {
			return fmt.Errorf("the Pods of %s: %w", p.Project, err)
		}
		contents, err := query.ContentsOf(p.Project, states[p.Project])
		if err != nil {
			return err
		}
		p.Application = &application{Pods: pods}
		if p.Application.Address, _ = contents.Outputs["url"].(string); p.Application.Address != "" {
			asking, cancel := context.WithTimeout(ctx, addressLimit)
			if err := ask(asking, p.Application.Address); err != nil {
				p.Application.Unanswered = reach.Bare(err).Error()
			}
			cancel()
		}
	}
	return nil
}

// applications describes the applications that the cluster was asked about.
func (s environmentStatus) applications(width int) string {
	var b strings.Builder
	for _, p := range s.Projects {
		if p.Application == nil {
			continue
		}
		fmt.Fprintf(&b, "\n%s\n", p.Application.title(p.Project))
		for _, pod := range p.Application.Pods {
			b.WriteString(typeset.Wrap("  "+typeset.Visible(pod.String()), width, 4) + "\n")
		}
	}
	return b.String()
}

// title says in a line whether the application runs and answers.
func (a application) title(name string) string {
	ready, wanted := 0, 0
	for _, pod := range a.Pods {
		if pod.Finished {
			continue
		}
		wanted++
		if pod.Ready {
			ready++
		}
	}
	text := fmt.Sprintf("%s: %d of %s ready", name, ready, typeset.Counted(wanted, "Pod"))
	switch {
	case a.Unanswered != "":
		text += fmt.Sprintf("; %s does not answer: %s", a.Address, a.Unanswered)
	case a.Address != "":
		text += "; " + a.Address + " answers"
	}
	return typeset.Visible(text)
}
