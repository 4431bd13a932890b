package render

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"mara/runner/internal/kube/manifest"
)

// generated matches what Pulumi appends to the name of a resource to name an object.
var generated = regexp.MustCompile(`^-[0-9a-f]{8}$`)

// nameByContent names the objects that their program leaves to Pulumi. With `up` such an object is replaced by one with a new
// name when it changes; in a manifest the name has to follow from the content, or a changed Job could not be applied, and a
// changed file would not reach the Pods. What refers to an object gets the new name, and so changes with it. The values of
// Secrets count where they are known; key keeps their names from telling anything about them.
func nameByContent(found []found, key []byte) {
	var unnamed []int
	for i, f := range found {
		if f.isUnnamed() {
			unnamed = append(unnamed, i)
		}
	}
	for len(unnamed) > 0 {
		// What refers to other objects of these is named after them.
		at := max(0, slices.IndexFunc(unnamed, func(i int) bool {
			return !slices.ContainsFunc(unnamed, func(other int) bool { return other != i && found[i].mentions(found[other].name()) })
		}))
		i := unnamed[at]
		unnamed = slices.Delete(unnamed, at, at+1)
		was := found[i].name()
		name := found[i].logical + "-" + digest(found[i].object, key)
		for j := range found {
			found[j].object = renamed(map[string]any(found[j].object), was, name).(map[string]any)
		}
	}
}

func (f found) name() string { return f.object.Text("metadata", "name") }

// isUnnamed reports whether Pulumi has named the object. A Secret whose values are not known keeps that name, by which the
// user's store has an entry.
func (f found) isUnnamed() bool {
	rest, ok := strings.CutPrefix(f.name(), f.logical)
	return ok && f.logical != "" && generated.MatchString(rest) && (f.readable || !isSecret(f.object))
}

// mentions reports whether an object has a text anywhere.
func (f found) mentions(text string) (does bool) {
	eachText(map[string]any(f.object), "", func(_, found string) { does = does || found == text })
	return does
}

// digest returns ten digits that follow from the content of an object, whatever it is called.
func digest(object manifest.Object, key []byte) string {
	content := maps.Clone(object)
	metadata, _ := object["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	delete(metadata, "name")
	content["metadata"] = metadata
	text, _ := json.Marshal(content) // it came from JSON
	hash := hmac.New(sha256.New, key)
	hash.Write(text)
	return hex.EncodeToString(hash.Sum(nil))[:10]
}

// renamed returns a value in which each text that is a name is another one.
func renamed(value any, was, name string) any {
	switch value := value.(type) {
	case string:
		if value == was {
			return name
		}
	case map[string]any:
		changed := make(map[string]any, len(value))
		for key, item := range value {
			changed[key] = renamed(item, was, name)
		}
		return changed
	case []any:
		changed := make([]any, len(value))
		for i, item := range value {
			changed[i] = renamed(item, was, name)
		}
		return changed
	}
	return value
}

// The marks of Argo CD, which waits until all objects of a wave are ready, and of Flux.
const (
	syncWave = "argocd.argoproj.io/sync-wave"
	force    = "kustomize.toolkit.fluxcd.io/force"
)

// markJobs has Argo CD run the Jobs of a program before the workloads, and Flux replace a Job that it cannot change.
func markJobs(objects []Object) {
	isJob := func(o Object) bool { return o.Kind == "Job" && !o.release }
	if !slices.ContainsFunc(objects, isJob) {
		return
	}
	for _, o := range objects {
		switch number := ranks[o.Kind]; {
		case o.release:
		case isJob(o):
			annotate(o.Content, syncWave, "1")
			annotate(o.Content, force, "enabled")
		case number >= ranks["Deployment"] || number == 0 && o.Kind != "CustomResourceDefinition":
			annotate(o.Content, syncWave, "2")
		}
	}
}

func annotate(object manifest.Object, name, value string) {
	metadata, _ := object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	annotations = maps.Clone(annotations)
	if annotations == nil {
		annotations = map[string]any{}
	}
	annotations[name] = value
	metadata["annotations"] = annotations
}

// leaveToScalers drops the number of Pods of workloads that have a HorizontalPodAutoscaler: whoever applies the manifests
// again would set it back.
func leaveToScalers(objects []Object) {
	for _, scaler := range objects {
		if scaler.Kind != "HorizontalPodAutoscaler" {
			continue
		}
		for _, o := range objects {
			if o.Kind == scaler.Content.Text("spec", "scaleTargetRef", "kind") && o.Namespace == scaler.Namespace &&
				o.Name == scaler.Content.Text("spec", "scaleTargetRef", "name") {
				spec, _ := o.Content["spec"].(map[string]any)
				spec = maps.Clone(spec)
				delete(spec, "replicas")
				o.Content["spec"] = spec
			}
		}
	}
}
