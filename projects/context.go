package projects

import (
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"mara/config"
	"mara/config/files"
	"mara/config/lists"
)

// OneContext returns a kubeconfig with one context of another, as YAML text, and the name of the context's cluster. The
// content of files that it names, relative to file, takes the place of their names. from names the kubeconfig in
// errors, which never quote it.
func OneContext(content []byte, file, from, wanted string) (text, cluster string, err error) {
	var all kubeconfigFileContent
	if err := yaml.Unmarshal(content, &all); err != nil {
		return "", "", fmt.Errorf("%s is not a kubeconfig", from)
	}
	context, ok := find(all.Contexts, wanted)
	if !ok {
		return "", "", fmt.Errorf("%s has no context %q; it has %s%s", from, wanted,
			strings.Join(all.names(), ", "), config.DidYouMean(wanted, all.names()))
	}
	clusterName, _ := context.Context["cluster"].(string)
	userName, _ := context.Context["user"].(string)
	found, hasCluster := find(all.Clusters, clusterName)
	user, hasUser := find(all.Users, userName)
	if !hasCluster || !hasUser {
		return "", "", fmt.Errorf("the context %q of %s names a cluster or a user that is not in it", wanted, from)
	}
	errs := []error{inline(found.Cluster, "certificate-authority", file)}
	for _, name := range []string{"client-certificate", "client-key", "tokenFile"} {
		errs = append(errs, inline(user.User, name, file))
	}
	if err := errors.Join(errs...); err != nil {
		return "", "", fmt.Errorf("the context %q of %s: %w", wanted, from, err)
	}
	one := kubeconfigFileContent{
		APIVersion: "v1", Kind: "Config", Clusters: []kubeconfigEntry{found}, Users: []kubeconfigEntry{user},
		Contexts: []kubeconfigEntry{context}, CurrentContext: wanted,
	}
	written, err := yaml.Marshal(one)
	return string(written), clusterName, err
}

// Contexts lists the names of the contexts of a kubeconfig, with their clusters.
func Contexts(content []byte) (names, clusters []string, err error) {
	var all kubeconfigFileContent
	if err := yaml.Unmarshal(content, &all); err != nil {
		return nil, nil, errors.New("is not a kubeconfig")
	}
	for _, context := range all.Contexts {
		cluster, _ := context.Context["cluster"].(string)
		names, clusters = append(names, context.Name), append(clusters, cluster)
	}
	return names, clusters, nil
}

// kubeconfigFileContent is a kubeconfig, as far as a context needs it.
type kubeconfigFileContent struct {
	APIVersion     string            `yaml:"apiVersion"`
	Kind           string            `yaml:"kind"`
	Clusters       []kubeconfigEntry `yaml:"clusters"`
	Users          []kubeconfigEntry `yaml:"users"`
	Contexts       []kubeconfigEntry `yaml:"contexts"`
	CurrentContext string            `yaml:"current-context"`
}

// kubeconfigEntry is a cluster, a user or a context.
type kubeconfigEntry struct {
	Name    string         `yaml:"name"`
	Cluster map[string]any `yaml:"cluster,omitempty"`
	User    map[string]any `yaml:"user,omitempty"`
	Context map[string]any `yaml:"context,omitempty"`
}

// names returns the names of the contexts.
func (c kubeconfigFileContent) names() []string {
	return lists.Map(c.Contexts, func(context kubeconfigEntry) string { return context.Name })
}

// find finds an entry by its name.
func find(entries []kubeconfigEntry, name string) (kubeconfigEntry, bool) {
	return lists.Find(entries, func(entry kubeconfigEntry) bool { return entry.Name == name })
}

// inline replaces the name of a file by its content: the file is elsewhere, or absent, where the kubeconfig is used.
func inline(entry map[string]any, name, kubeconfig string) error {
	path, _ := entry[name].(string)
	if path == "" {
		return nil
	}
	if !filepath.IsAbs(path) {
		if kubeconfig == "" {
			return fmt.Errorf("%s names a file, which a kubeconfig without a place of its own cannot do", name)
		}
		path = filepath.Join(filepath.Dir(kubeconfig), path)
	}
	content, err := files.Read(path, files.Text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	delete(entry, name)
	if name == "tokenFile" {
		entry["token"] = strings.TrimSpace(string(content))
		return nil
	}
	entry[name+"-data"] = base64.StdEncoding.EncodeToString(content)
	return nil
}
