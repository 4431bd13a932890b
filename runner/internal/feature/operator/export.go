package operator

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/core/plan"
)

// Environment is the environment that the operator runs. It has the names of secrets, never
// their values.
type Environment struct {
	Name         string // of the stack
	Organization string // first part of the names of Pulumi's stacks
	Plan         plan.Plan
	// Config has the values for each project, without secret ones.
	Config map[string]map[string]any
	// Secrets are the keys of secret values for each project.
	Secrets map[string][]string
	// Variables are set for all programs, from a Secret.
	Variables []string
	// SecretsProvider encrypts new stacks; "" for a passphrase.
	SecretsProvider string
	// Account says which credentials the plugin of the provider takes.
	Cloud    model.Account
	RunHooks []model.Hook // of whole runs
	// StackNames are the patterns of the names of Pulumi's stacks that are not the environment's.
	StackNames model.StackNames
	// Repositories are those of own projects that mara.yaml takes from elsewhere.
	Repositories map[string]Repository
	// Backends are those of projects whose states are in another one than Options.Backend.
	Backends map[string]string
	// Programs has the content of own projects in Pulumi YAML, by name.
	Programs map[string]map[string]any
}

// Repository is where a project is at a commit.
type Repository struct{ URL, Commit, Directory string }

// Options configure an export.
type Options struct {
	Namespace             string
	Image                 string // the workspace image
	Backend               string
	Claim                 string // of a volume for a backend in a directory; "" for none
	Repo                  string // with the own projects; "" for none
	Branch                string
	Commit                string
	RepoDir               string // the root in the repository
	RepoSecret            string // with what logs in to repositories; "" for none
	Flux                  SourceRef
	Within                time.Duration // how fresh a prerequisite has to be
	Destroy               bool          // deleting a Stack destroys
	Refresh               bool
	Resync                time.Duration // how often to run without a new commit; 0 for never
	Retain                bool          // keep the pods
	Preview               bool          // only preview, and fail where something would change
	RetryOnUpdateConflict bool
	// AccountAnnotations are those of the service account, for an identity in a cloud.
	AccountAnnotations map[string]string
}

// ProjectsInImage is where the workspace image has the built-in projects.
const ProjectsInImage = "/opt/mara/projects"

// Exported has the objects of an environment.
type Exported struct {
	Stacks   []Stack
	Programs []Program
	Skipped  []Note // projects that the operator cannot run, with the reason
	Notes    []Note // how the operator runs projects differently
}

// Program is a project in Pulumi YAML inside of an object.
type Program struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   Metadata       `json:"metadata"`
	Program    map[string]any `json:"program"`
}

// Note says something of a project.
type Note struct{ Project, Text string }

// impossible has the reasons why some built-in projects cannot run in a Pod.
var impossible = map[string]string{
	"kind-cluster":    "works with the container runtime of a machine",
	"kind-registry":   "works with the container runtime of a machine",
	"kic-image-build": "works with a Docker daemon",
	"kic-image-push":  "works with a Docker daemon",
}

// Export returns the Stacks of an environment. The error lists all problems.
func Export(e Environment, o Options) (Exported, error) {
	var x Exported
	var problems []error
	needed := map[string][]string{} // of each project, the exported ones that it waits for
	for _, step := range e.Plan.Steps {
		p := step.Project
		for _, name := range step.All() {
			if i := slices.IndexFunc(x.Skipped, func(l Note) bool { return l.Project == name }); i >= 0 {
				needed[p.Name] = append(needed[p.Name], needed[name]...) // the order goes on through it
				continue
			}
			needed[p.Name] = append(needed[p.Name], name)
		}
		if why := impossible[p.Name]; why != "" {
			x.Skipped = append(x.Skipped, Note{p.Name, why})
			continue
		}
		stack := e.stack(step, o)
		if err := e.source(&stack, &x, p, o); err != nil {
			problems = append(problems, err)
		}
		slices.Sort(needed[p.Name])
		for _, name := range slices.Compact(needed[p.Name]) {
			need := Need{Name: e.objectName(name)}
			need.Requirement.SucceededWithinDuration = o.Within.String()
			stack.Spec.Needs = append(stack.Spec.Needs, need)
		}
		x.Stacks = append(x.Stacks, stack)
		x.Notes = append(x.Notes, notesOn(step)...)
	}
	x.Notes = append(x.Notes, notesOnHooks("whole runs", e.RunHooks)...)
	if path := e.Plan.CriticalPath(e.Plan.Declared()); o.Within <= path.Total {
		problems = append(problems, fmt.Errorf("--within %s is not longer than the %s that the chain of projects takes: "+
			"Stacks would wait for one another without end", o.Within, path.Total))
	}
	return x, errors.Join(problems...)
}

// stack returns the Stack of a step, without its source and prerequisites.
func (e Environment) stack(step plan.Step, o Options) Stack {
	p := step.Project
	spec := StackSpec{
		Stack:              e.Organization + "/" + p.Name + "/" + e.StackNames.Of(p.Name, e.Name),
		Backend:            cmp.Or(e.Backends[p.Name], o.Backend),
		ServiceAccountName: e.Account(), SecretsProvider: e.SecretsProvider,
		Config: e.Config[p.Name], SecretsRef: map[string]any{}, EnvRefs: map[string]any{}, Refresh: o.Refresh,
		DestroyOnFinalize:     o.Destroy,
		RetryOnUpdateConflict: o.RetryOnUpdateConflict, WorkspaceReclaimPolicy: "Delete",
		// A new stack of the passphrase would get a salt of its own with every pod.
		WorkspaceTemplate: &Template{Spec: map[string]any{"image": o.Image,
			"resources": map[string]any{"requests": map[string]any{"cpu": "250m", "memory": "512Mi"}}}},
	}
	if o.Retain {
		spec.WorkspaceReclaimPolicy = "Retain"
	}
	if o.Resync > 0 {
		spec.ContinueResyncOnCommitMatch, spec.ResyncFrequencySeconds = true, int64(o.Resync/time.Second)
	}
	update := map[string]any{}
	if o.Destroy { // or the empty stacks stay in the backend
		update["remove"] = true
	}
	if o.Preview {
		spec.Preview, update["expectNoChanges"] = true, true
	}
	if len(update) > 0 {
		spec.UpdateTemplate = &Template{Spec: update}
	}
	if e.SecretsProvider == "" {
		literal := map[string]any{"type": "Literal", "literal": map[string]any{"value": "true"}}
		spec.EnvRefs["PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER"] = literal
	}
	for _, name := range e.Variables {
		spec.EnvRefs[name] = secretRef(e.EnvironmentSecret(), name)
	}
	for _, key := range e.Secrets[p.Name] {
		spec.SecretsRef[key] = secretRef(e.ConfigSecret(), SecretName(key))
	}
	if o.Claim != "" {
		spec.WorkspaceTemplate.Spec["podTemplate"] = volume(o)
	}
	return Stack{APIVersion: "pulumi.com/v1", Kind: "Stack",
		Metadata: Metadata{Name: e.objectName(p.Name), Namespace: o.Namespace, Labels: e.labels(p.Name)}, Spec: spec}
}

// volume mounts the claim where the backend is.
func volume(o Options) map[string]any {
	const name = "state"
	return map[string]any{"spec": map[string]any{
		// The operator writes the container back with resources. Where they are there already
		// that is no change: of one it would take no notice.
		"containers": []any{map[string]any{"name": "pulumi", "resources": map[string]any{},
			"volumeMounts": []any{map[string]any{"name": name, "mountPath": strings.TrimPrefix(o.Backend, "file://")}}}},
		"volumes": []any{map[string]any{"name": name, "persistentVolumeClaim": map[string]any{"claimName": o.Claim}}},
	}}
}

// source sets where the program of a project comes from.
func (e Environment) source(s *Stack, x *Exported, p model.Project, o Options) error {
	own := p.Own
	// For a built-in project, the operator lays the template over the source-less workspace of a destroy, too: with two
	// sources its pod would be refused. Runtimes other than YAML install what a program needs: then a destroy without
	// the program fails, for it would install into an empty directory.
	s.Spec.RunProgram = own == nil || own.Runtime != "yaml"
	switch {
	case own == nil:
		s.Spec.WorkspaceTemplate.Spec["local"] = map[string]any{"dir": path.Join(ProjectsInImage, p.Path)}
	case e.Repositories[p.Name].URL != "":
		from := e.Repositories[p.Name]
		s.Spec.ProjectRepo, s.Spec.Commit, s.Spec.RepoDir = from.URL, from.Commit, from.Directory
		s.Spec.GitAuth = gitAuth(from.URL, o.RepoSecret)
		if err := CheckRepository(from.URL); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	case o.Repo != "":
		s.Spec.ProjectRepo, s.Spec.Branch, s.Spec.Commit, s.Spec.Shallow = o.Repo, o.Branch, o.Commit, true
		s.Spec.RepoDir, s.Spec.GitAuth = path.Join(o.RepoDir, p.Path), gitAuth(o.Repo, o.RepoSecret)
	case o.Flux.Name != "":
		s.Spec.FluxSource = map[string]any{"sourceRef": o.Flux, "dir": path.Join(o.RepoDir, p.Path)}
	case own.StackFiles != "":
		return fmt.Errorf("%s has its own stack files next to its program: say with --repo or --flux where they are",
			p.Name)
	case e.Programs[p.Name] != nil:
		s.Spec.ProgramRef = map[string]any{"name": p.Name}
		x.Programs = append(x.Programs, Program{
			APIVersion: "pulumi.com/v1", Kind: "Program", Program: e.Programs[p.Name],
			// The operator names the project after the object.
			Metadata: Metadata{Name: p.Name, Namespace: o.Namespace,
				Labels: map[string]string{ManagedLabel: manager, ProjectLabel: p.Name}},
		})
	default:
		return fmt.Errorf("%s has the runtime %s: say with --repo or --flux where its program is", p.Name, own.Runtime)
	}
	return nil
}

// The keys of the Secret that logs in to a repository.
const (
	tokenKey = "accessToken"
	sshKey   = "sshPrivateKey"
)

// isSSH reports whether a repository is reached by ssh: ssh://... or git@host:...
func isSSH(repository string) bool {
	before, _, hasScheme := strings.Cut(repository, "://")
	return hasScheme && before == "ssh" || !hasScheme && strings.Contains(repository, "@")
}

// CheckRepository refuses addresses that the operator refuses.
func CheckRepository(repository string) error {
	if isSSH(repository) || strings.HasPrefix(repository, "https://") {
		return nil
	}
	scheme, _, _ := strings.Cut(repository, "://")
	return fmt.Errorf("the operator fetches repositories by https:// and ssh:// only, not by %s", scheme)
}

// gitAuth logs in to a repository with what is in a Secret; nil without one.
func gitAuth(repository, secret string) map[string]any {
	from := secretRef(secret, repositoryKey(repository))
	switch {
	case secret == "":
		return nil
	case isSSH(repository):
		return map[string]any{"sshAuth": map[string]any{sshKey: from}}
	}
	return map[string]any{tokenKey: from}
}

// repositoryKey returns the key of the login to a repository in the Secret.
func repositoryKey(repository string) string {
	if isSSH(repository) {
		return sshKey
	}
	return tokenKey
}

// notesOn lists what differs from a run of the runner.
func notesOn(step plan.Step) []Note {
	p := step.Project
	notes := notesOnHooks(p.Name, p.Hooks)
	if p.LeavesCloudResources {
		notes = append(notes, Note{p.Name, "nothing waits for the load balancers and volumes of the cluster before it is " +
			"destroyed"})
	}
	if p.Own != nil && p.Own.Timeout > 0 {
		notes = append(notes, Note{p.Name, "the timeout does not count"})
	}
	return notes
}

func notesOnHooks(of string, hooks []model.Hook) []Note {
	return lists.Map(hooks, func(hook model.Hook) Note { return Note{of, "the hook " + hook.Name + " does not run"} })
}

// Account returns the name of the pods' service account.
func (e Environment) Account() string { return "mara-" + e.Name }

// EnvironmentSecret returns the name of the Secret with the variables.
func (e Environment) EnvironmentSecret() string { return e.Name + "-environment" }

// ConfigSecret returns the name of the Secret with the secret configuration values.
func (e Environment) ConfigSecret() string { return e.Name + "-secrets" }

// SecretKeys lists the keys of the ConfigSecret.
func (e Environment) SecretKeys() []string {
	keys := slices.Concat(slices.Collect(maps.Values(e.Secrets))...)
	return slices.Compact(slices.Sorted(slices.Values(keys)))
}

// SecretName converts a configuration key to a valid key of a Kubernetes Secret.
func SecretName(key string) string { return strings.ReplaceAll(key, ":", ".") }

func (e Environment) labels(project string) map[string]string {
	labels := map[string]string{ManagedLabel: manager, StackLabel: e.Name}
	if project != "" {
		labels[ProjectLabel] = project
	}
	return labels
}

// objectName returns the name of a project's Stack. The operator allows 42 characters.
func (e Environment) objectName(project string) string {
	const most, digits = 42, 6
	name := strings.ToLower(strings.NewReplacer("_", "-", ".", "-").Replace(e.Name + "-" + project))
	if len(name) <= most {
		return name
	}
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(name)))
	return strings.TrimRight(name[:most-digits-1], "-") + "-" + sum[:digits]
}
