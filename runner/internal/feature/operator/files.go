package operator

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"mara/config/lists"
	"mara/projects/model"
	"mara/runner/internal/machine/typeset"
)

// object is an object of any other kind.
type object map[string]any

// Files returns the files of an export by path: objects, a Kustomization, and a README.
func (x Exported) Files(e Environment, o Options) (map[string][]byte, error) {
	account := object{"name": e.Account(), "namespace": o.Namespace, "labels": e.labels("")}
	if len(o.AccountAnnotations) > 0 {
		account["annotations"] = o.AccountAnnotations
	}
	objects := map[string]any{
		"account.yaml": object{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account},
		// It lets the pods authenticate their callers.
		"binding.yaml": object{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
			"metadata": object{"name": o.Namespace + ":" + e.Account() + ":system:auth-delegator", "labels": e.labels("")},
			"roleRef":  object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "system:auth-delegator"},
			"subjects": []object{{"kind": "ServiceAccount", "name": e.Account(), "namespace": o.Namespace}},
		},
	}
	for i, stack := range x.Stacks {
		objects[fmt.Sprintf("stacks/%02d-%s.yaml", i+1, stack.Metadata.Labels[ProjectLabel])] = stack
	}
	for _, program := range x.Programs {
		objects["programs/"+program.Metadata.Name+".yaml"] = program
	}
	names := slices.Sorted(maps.Keys(objects))
	objects["kustomization.yaml"] = object{"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization",
		"resources": names}
	// Not part of it, so that `kubectl delete -k` leaves what else is in the namespace: Secrets, and the Stacks of others.
	objects["namespace.yaml"] = object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": o.Namespace}}
	files := map[string][]byte{"README.md": x.readme(e, o)}
	for name, value := range objects {
		content, err := yaml.Marshal(value)
		if err != nil {
			return nil, err
		}
		files[name] = content
	}
	return files, nil
}

// credentials says what the pods need to log in to the cloud and to the backend, as far as nothing gives it to them.
func (e Environment) credentials(o Options) (needed []string) {
	const how = "with `--variable NAME`, which adds them to the Secret"
	has := func(c model.Credential) bool {
		return slices.Contains(e.Variables, c.Variable) || slices.Contains(e.SecretKeys(), c.Key)
	}
	if all := e.Cloud.Credentials; len(all) > 0 && !slices.ContainsFunc(all, has) && len(o.AccountAnnotations) == 0 {
		var names []string
		for _, c := range all {
			if c.Variable != "" {
				names = append(names, c.Variable)
			}
		}
		text := "Credentials of the cloud for the pods: export " + strings.Join(names, ", ") + " " + how
		if len(e.Cloud.FetchVariables) > 0 {
			text += ",\n  or the identity of the account, with `--account-annotation eks.amazonaws.com/role-arn=ARN`"
		}
		needed = append(needed, text+".")
	}
	backends := append(slices.Collect(maps.Values(e.Backends)), o.Backend)
	for scheme, names := range map[string][]string{
		"s3": {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}, "gs": {"GOOGLE_CREDENTIALS"},
		"azblob": {"AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_KEY"},
	} {
		missing := func(name string) bool { return !slices.Contains(e.Variables, name) }
		if slices.ContainsFunc(backends, func(backend string) bool { return strings.HasPrefix(backend, scheme+"://") }) &&
			slices.ContainsFunc(names, missing) && len(o.AccountAnnotations) == 0 {
			needed = append(needed, "Credentials of the backend "+scheme+"://: export "+strings.Join(names, ", ")+" "+how+".")
		}
	}
	return needed
}

// readme describes how to use the files, and what differs from a run of the runner.
func (x Exported) readme(e Environment, o Options) []byte {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# %s on the Pulumi Kubernetes Operator\n", e.Name)
	line("A Stack for each of %s, in the namespace %s. `runner export operator` wrote these files and replaces them.\n",
		typeset.Counted(len(x.Stacks), "project"), o.Namespace)
	line("## Before\n")
	line("- The operator, 2.9: `helm install --create-namespace -n pulumi-kubernetes-operator " +
		"pulumi-kubernetes-operator oci://ghcr.io/pulumi/helm-charts/pulumi-kubernetes-operator --version 2.9.0`")
	line("- The image %s, where the cluster finds it.", o.Image)
	line("- The namespace %s: `kubectl apply --server-side -f namespace.yaml`. `kubectl delete -k .` leaves it, and what else is in it.", o.Namespace)
	if len(e.Variables) > 0 {
		line("- The Secret %s with the variables %s.", e.EnvironmentSecret(), strings.Join(e.Variables, ", "))
	}
	for _, needed := range e.credentials(o) {
		line("- %s", needed)
	}
	if keys := e.SecretKeys(); len(keys) > 0 {
		names := lists.Map(keys, func(key string) string { return SecretName(key) + " (" + key + ")" })
		line("- The Secret %s with secret values of the configuration: %s. The runner writes the values it stores with\n"+
			"  `runner secrets export -s %s --to-file FILE`.", e.ConfigSecret(), strings.Join(names, ", "), e.Name)
	}
	if o.RepoSecret != "" {
		var keys []string
		for _, stack := range x.Stacks {
			if stack.Spec.GitAuth != nil {
				keys = append(keys, repositoryKey(stack.Spec.ProjectRepo))
			}
		}
		slices.Sort(keys)
		line("- The Secret %s, which logs in to the repositories, with %s.", o.RepoSecret,
			strings.Join(slices.Compact(keys), " and "))
	}
	if o.Claim != "" {
		line("- The volume claim %s. Every Stack mounts it, so several pods must be able to write to it.", o.Claim)
	}
	line("\n## Apply, watch, force\n")
	line("    kubectl apply --server-side -k .\n    runner operator status -s %s -n %s", e.Name, o.Namespace)
	line("    runner operator wait -s %s -n %s", e.Name, o.Namespace)
	line("    kubectl -n %s annotate stack NAME pulumi.com/reconciliation-request=$(date +%%s) --overwrite"+
		"  # run it again\n", o.Namespace)
	line("New Stacks wait for their prerequisites. After that, a new commit starts all Stacks at once, unless the last\n"+
		"success of a prerequisite is older than %s; then the prerequisite runs first. A change of one Stack's values\n"+
		"does not run the Stacks that read its outputs.", o.Within)
	line("After three failures a Stack is Stalled until its source or its values change.")
	if o.RetryOnUpdateConflict {
		line("`retryOnUpdateConflict` is set, but this version of the operator ignores it: it retries all failures alike.")
	}
	if o.Preview {
		line("\n## Take over\n")
		line("The Stacks only preview, and one that finds something to change fails.\n\n    runner operator adopt -s %s -n "+
			"%s\n\nwaits until all of them have found nothing, "+
			"and then has them work. `runner operator adopt --back` gives the environment back.", e.Name, o.Namespace)
	}
	line("\n## Delete\n")
	if o.Destroy {
		line("    runner operator delete -s %s -n %s\n", e.Name, o.Namespace)
		line("destroys the projects and deletes their Stacks, dependents first. `kubectl delete` of all Stacks has no\n" +
			"order, nor has `kubectl delete -k .`: a cluster may be destroyed before the objects in it. Delete the namespace\n" +
			"and the account last: without them nothing can be destroyed.")
	} else {
		line("Deleting a Stack destroys nothing, nor does `kubectl delete -k .`. `--destroy` exports Stacks that destroy their resources.")
	}
	list := func(heading string, notes []Note) {
		for i, note := range notes {
			if i == 0 {
				line("\n## %s\n", heading)
			}
			line("- %s: %s", note.Project, note.Text)
		}
	}
	list(fmt.Sprintf("Skipped\n\nDeploy these projects first, with `runner up -s %s --only PROJECT` on the same backend.",
		e.Name), x.Skipped)
	list("Different", x.Notes)
	return []byte(b.String())
}
