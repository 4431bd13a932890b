package cloud

import (
	"context"
	"fmt"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
)

// Surveyor is a client that describes a cluster that is there already.
type Surveyor interface {
	Survey(ctx context.Context, q Question) (Survey, error)
}

// Question is what an environment wants to know about its cluster.
type Question struct {
	Stack    string
	Projects []model.Project // that will run
	Settings config.Values   // with the defaults of keys
	// Rights asks for missing rights, too.
	Rights bool
	// Absent are the projects of which the environment certainly has no state: what seems to be theirs in the cluster is
	// another repository's, whose environment has the same name.
	Absent []string
}

// Has reports whether a project of a name will run.
func (q Question) Has(name string) bool {
	_, ok := lists.Find(q.Projects, func(p model.Project) bool { return p.Name == name })
	return ok
}

// Survey is what a cluster has answered.
type Survey struct {
	Answers  []config.Answer
	Facts    []string // in sentences
	Problems []Obstacle
	Doubts   []Obstacle
	Missing  []Right // rights that the user of the kubeconfig does not have
	Claims   []Claim
}

// Claim is what seems to be a project's, by the labels in the cluster. It is an obstacle if the environment turns out to have no
// state of that project.
type Claim struct {
	Obstacle
	Project string
}

// Obstacle is what is in the way of an environment, and what to do about it.
type Obstacle struct{ Text, Next string }

// Right is a verb on a resource.
type Right struct {
	model.Access
	Verbs    []string // that are missing
	Projects []string // that need it
}

// Place returns where a right is missing.
func (r Right) Place() string {
	if r.Namespace == "" {
		return "the whole cluster"
	}
	return fmt.Sprintf("namespace %s", r.Namespace)
}
