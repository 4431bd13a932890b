// Package kubeconfig merges a cluster's entries into the user's kubeconfig,
// removes them again, and makes clients of the cluster. An environment owns one
// cluster, one user and one context, all of the same name, and the context notes
// whose it is; every other entry stays as it is. Files are replaced atomically,
// are readable by the user only, and are guarded by the lock file that kubectl uses.
package kubeconfig

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"mara/config/files"
	"mara/config/lists"
	"mara/projects/model/cloud"
	"mara/runner/internal/machine/atomicfile"
	"mara/runner/internal/machine/filelock"
	"mara/runner/internal/machine/interrupt"
)

// lockWait bounds the wait for a lock that kubectl or another run holds.
const lockWait = 10 * time.Second

// Name returns the name of an environment's entries.
func Name(provider, stack string) string { return "mara-" + provider + "-" + stack }

// Files lists the kubeconfig files in the order kubectl reads them: those of
// the variable KUBECONFIG, or else the one in the home directory.
func Files(kubeconfigVariable, home string) []string {
	files := slices.DeleteFunc(filepath.SplitList(kubeconfigVariable), func(file string) bool { return file == "" })
	if len(files) == 0 {
		files = []string{filepath.Join(home, ".kube", "config")}
	}
	return files
}

// Entries identifies the entries of an environment in kubeconfig files.
type Entries struct {
	Files []string
	Name  string // of the cluster, the user and the context
	Root  string // of the configuration that the entries belong to
	// UseContext makes the environment's context the current one, instead of another that is current.
	UseContext bool
}

// Place is a context in a file.
type Place struct{ File, Context string }

// Merged is what a merge has done.
type Merged struct {
	Place
	Current string // the current context of all files afterwards
}

// Merge writes the current context of a cluster's kubeconfig to one of the files. It makes it the current context if
// UseContext says so or none is current. It chooses the file as kubectl does: the one that has the entry, else the
// first that exists, else the last. Entries of another root keep their name, and these get a longer one.
func (e Entries) Merge(ctx context.Context, cluster []byte) (done Merged, err error) {
	known, err := e.loadAll()
	if err != nil {
		return done, err
	}
	name := e.nameIn(known, cluster)
	if name == "" {
		return done, fmt.Errorf("the contexts %s in your kubeconfig belong to other directories; delete contexts that "+
			"are not needed, with `kubectl config delete-context NAME`", strings.Join(e.names(), " and "))
	}
	entries, err := single(cluster, name)
	if err != nil {
		return done, fmt.Errorf("reading the cluster's kubeconfig: %w", err)
	}
	done = Merged{Place{e.choose(known, name), name}, currentOf(known)}
	return done, edit(ctx, done.File, func(config *api.Config) bool {
		config.Clusters[name] = entries.Clusters[name]
		config.AuthInfos[name] = entries.AuthInfos[name]
		noted := owner{Root: e.Root, Previous: ownerOf(config, name).Previous}
		if done.Current == "" || e.UseContext && done.Current != name {
			noted.Previous, config.CurrentContext, done.Current = config.CurrentContext, name, name
		}
		config.Contexts[name] = noted.noteIn(entries.Contexts[name])
		return true
	})
}

// Remove removes the entries from every file that has them, and returns where they were. The context that was current
// before becomes it again. A missing entry is no error, and entries of another root stay.
func (e Entries) Remove(ctx context.Context) (removed []Place, err error) {
	for _, file := range e.Files {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var found []Place
		err := edit(ctx, file, func(config *api.Config) bool {
			for _, name := range e.names() {
				if !has(config, name) && config.CurrentContext != name || e.isForeign(config, name) {
					continue
				}
				found = append(found, Place{file, name})
				before := ownerOf(config, name).Previous
				delete(config.Clusters, name)
				delete(config.AuthInfos, name)
				delete(config.Contexts, name)
				if config.CurrentContext == name {
					config.CurrentContext = ""
					if config.Contexts[before] != nil {
						config.CurrentContext = before
					}
				}
			}
			return len(found) > 0
		})
		if err != nil {
			return removed, err
		}
		removed = append(removed, found...)
	}
	return removed, nil
}

// Current returns the kubeconfig of the cluster as Merge has left it. ok is false if the entries are gone, or if
// another context is current although UseContext is set, or none is.
func (e Entries) Current() (content []byte, ok bool) {
	known, _ := e.loadAll() // an unreadable file has no entries
	current := currentOf(known)
	for _, name := range e.names() {
		for _, file := range known {
			config := file.config
			whole := config.Clusters[name] != nil && config.AuthInfos[name] != nil && config.Contexts[name] != nil
			if !whole || e.isForeign(config, name) {
				continue
			}
			if current == "" || e.UseContext && current != name {
				return nil, false
			}
			config.CurrentContext = name
			content, err := clientcmd.Write(*config)
			return content, err == nil
		}
	}
	return nil, false
}

// names returns the names that the entries may have: the usual one, and one with the root's own name, which they get
// where another root has the usual one.
func (e Entries) names() []string { return []string{e.Name, e.Name + "-" + filepath.Base(e.Root)} }

// loaded is a kubeconfig file that could be read.
type loaded struct {
	file   string
	config *api.Config
}

// loadAll reads the files that exist, and returns the first error with the files that could be read.
func (e Entries) loadAll() (known []loaded, first error) {
	for _, file := range e.Files {
		config, err := load(file)
		if err == nil {
			known = append(known, loaded{file, config})
		} else if first == nil && !errors.Is(err, fs.ErrNotExist) {
			first = err
		}
	}
	return known, first
}

// nameIn returns the name for entries of a cluster: the first that no other root has for another cluster.
func (e Entries) nameIn(known []loaded, cluster []byte) string {
	server := serverOf(cluster)
	name, _ := lists.Find(e.names(), func(name string) bool {
		return !slices.ContainsFunc(known, func(file loaded) bool {
			there := file.config.Clusters[name]
			return e.isForeign(file.config, name) && (there == nil || there.Server != server)
		})
	})
	return name
}

// serverOf returns the address of the cluster of a kubeconfig's current context.
func serverOf(content []byte) string {
	entries, err := single(content, "x")
	if err != nil {
		return "" // Merge says more
	}
	return entries.Clusters["x"].Server
}

// isForeign reports whether entries belong to another root, which is still there.
func (e Entries) isForeign(config *api.Config, name string) bool {
	root := ownerOf(config, name).Root
	if root == "" || root == e.Root {
		return false
	}
	_, err := os.Stat(root)
	return err == nil
}

// choose returns the file to write entries to.
func (e Entries) choose(known []loaded, name string) string {
	if found, ok := lists.Find(known, func(file loaded) bool { return has(file.config, name) }); ok {
		return found.file
	}
	if len(known) > 0 {
		return known[0].file
	}
	return e.Files[len(e.Files)-1]
}

// currentOf returns the current context of several files: the first that is set.
func currentOf(known []loaded) string {
	return cmp.Or(lists.Map(known, func(file loaded) string { return file.config.CurrentContext })...)
}

// ownerName is the name of the extension of a context that notes its owner.
const ownerName = "mara"

// owner is what a context notes about the environment that it belongs to.
type owner struct {
	Root     string `json:"root"`
	Previous string `json:"previous,omitempty"` // the context that was current before
}

// noteIn adds the owner to a context.
func (o owner) noteIn(context *api.Context) *api.Context {
	content, _ := json.Marshal(o) // strings
	context.Extensions = map[string]runtime.Object{ownerName: &runtime.Unknown{
		TypeMeta: runtime.TypeMeta{}, Raw: content, ContentType: runtime.ContentTypeJSON,
	}}
	return context
}

// ownerOf returns the owner that a context notes; it is empty if there is none.
func ownerOf(config *api.Config, name string) (o owner) {
	if context := config.Contexts[name]; context != nil {
		if noted, ok := context.Extensions[ownerName].(*runtime.Unknown); ok {
			_ = json.Unmarshal(noted.Raw, &o) // what is not ours names no root
		}
	}
	return o
}

// single returns the current context of a kubeconfig, renamed.
func single(content []byte, name string) (*api.Config, error) {
	config, err := clientcmd.Load(content)
	if err != nil {
		return nil, errors.New("it is not a kubeconfig") // the parser's error quotes the content
	}
	current, ok := config.Contexts[config.CurrentContext]
	if !ok {
		return nil, errors.New("it has no current context")
	}
	cluster, user := config.Clusters[current.Cluster], config.AuthInfos[current.AuthInfo]
	if cluster == nil || user == nil {
		return nil, errors.New("its current context names a cluster or user that is not in it")
	}
	renamed := api.NewContext()
	renamed.Cluster, renamed.AuthInfo, renamed.Namespace = name, name, current.Namespace
	result := api.NewConfig()
	result.Clusters[name], result.AuthInfos[name], result.Contexts[name] = cluster, user, renamed
	return result, nil
}

// WithToken returns a kubeconfig for the cluster of another one's current context, whose user has a token. Cluster,
// user and context have the name; namespace is the context's.
func WithToken(cluster []byte, name, namespace, token string) ([]byte, error) {
	entries, err := single(cluster, name)
	if err != nil {
		return nil, fmt.Errorf("reading the cluster's kubeconfig: %w", err)
	}
	entries.AuthInfos[name] = &api.AuthInfo{Token: token}
	entries.Contexts[name].Namespace = namespace
	entries.CurrentContext = name
	content, err := clientcmd.Write(*entries)
	if err != nil {
		return nil, fmt.Errorf("writing the kubeconfig: %w", err)
	}
	return content, nil
}

func has(config *api.Config, name string) bool {
	return config.Clusters[name] != nil || config.AuthInfos[name] != nil || config.Contexts[name] != nil
}

func load(file string) (*api.Config, error) {
	content, err := files.Read(file, files.Text)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config, err := clientcmd.Load(content)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig %s: it is not valid, %s; repair or move it, then run again",
			file, fault(content))
	}
	return config, nil
}

// lineOfError matches the line in an error of the YAML parser, whose text may quote a credential.
var lineOfError = regexp.MustCompile(`line \d+`)

// fault says what is wrong with a kubeconfig that cannot be read, without quoting it.
func fault(content []byte) string {
	var document yaml.Node
	err := yaml.Unmarshal(content, &document)
	if err == nil {
		return "since a value is not of the type that a kubeconfig has there"
	}
	if line := lineOfError.FindString(err.Error()); line != "" {
		return "since " + line + " is not valid YAML"
	}
	return "since it is not valid YAML"
}

// edit changes a file under its lock. change reports whether to write it.
func edit(ctx context.Context, file string, change func(*api.Config) bool) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	unlock, err := lock(ctx, file+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	config, err := load(file)
	if errors.Is(err, fs.ErrNotExist) {
		config, err = api.NewConfig(), nil
	}
	if err != nil {
		return err
	}
	if !change(config) {
		return nil
	}
	content, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("writing the kubeconfig %s: %w", file, err)
	}
	if target, err := filepath.EvalSymlinks(file); err == nil { // a link stays a link
		file = target
	}
	return atomicfile.Replace(file, content, 0o600)
}

// lock takes kubectl's lock file, or waits a while for its holder.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	for {
		file, err := tryLock(path)
		if err != nil {
			return nil, fmt.Errorf("locking the kubeconfig: %w", err)
		}
		if file != nil {
			return func() { _ = filelock.Remove(file) }, nil
		}
		if interrupt.Sleep(ctx, 100*time.Millisecond) != nil {
			return nil, fmt.Errorf("locking the kubeconfig: another program holds %s, as kubectl does for moments; remove it if none is running", path)
		}
	}
}

// tryLock takes the lock file, or returns nil if another program has it. To kubectl, and to what is built on its
// library, the file itself is the lock, which they create without permission to write; nothing tells whether they still
// run. In ours the kernel has the lock, so that the file of a run that was killed is free.
func tryLock(path string) (*os.File, error) {
	file, taken, err := filelock.Open(path)
	if err != nil {
		if info, statErr := os.Stat(path); statErr == nil && isKubectls(info) {
			return nil, nil
		}
		return nil, err
	}
	if taken {
		return nil, file.Close()
	}
	if info, err := file.Stat(); err != nil || isKubectls(info) {
		return nil, errors.Join(err, filelock.Release(file))
	}
	return file, nil
}

func isKubectls(lock fs.FileInfo) bool { return lock.Mode()&0o200 == 0 }

// probeTimeout bounds a probe.
const probeTimeout = 5 * time.Second

// Probe returns an error if the API server of a cluster cannot be reached. It sends
// no credentials: any response will do.
func Probe(ctx context.Context, content []byte, env map[string]string) error {
	config, err := Config(content, env)
	if err != nil {
		return err
	}
	anonymous := rest.AnonymousClientConfig(config)
	anonymous.Timeout = probeTimeout
	client, err := rest.HTTPClientFor(anonymous)
	if err != nil {
		return fmt.Errorf("connecting to the cluster: %w", err)
	}
	base, err := url.Parse(config.Host)
	if err != nil {
		return errors.New("the cluster's kubeconfig has no usable address")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath("readyz").String(), nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// Config returns the configuration of clients for the cluster of a kubeconfig. env is added
// to the environment of a command in it that gets a token, and may name a proxy.
func Config(content []byte, env map[string]string) (*rest.Config, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(content)
	if err != nil {
		return nil, errors.New("the cluster's kubeconfig cannot be used") // the parser's error may quote it
	}
	config.QPS, config.Burst = 100, 200       // a release may have two hundred objects
	config.WarningHandler = rest.NoWarnings{} // they would go to stderr as log lines
	if config.Proxy == nil {                  // the kubeconfig names none
		config.Proxy = cloud.Proxy(env)
	}
	if command := config.ExecProvider; command != nil {
		command.InteractiveMode = api.NeverExecInteractiveMode
		for _, name := range slices.Sorted(maps.Keys(env)) {
			command.Env = append([]api.ExecEnvVar{{Name: name, Value: env[name]}}, command.Env...)
		}
	}
	return config, nil
}

// Secrets lists the keys, tokens and passwords in a kubeconfig; none if it cannot be
// read.
func Secrets(content []byte) []string {
	config, err := clientcmd.Load(content)
	if err != nil {
		return nil
	}
	var secrets []string
	for _, user := range config.AuthInfos {
		secrets = append(secrets, user.Token, user.Password, string(user.ClientKeyData))
		if user.AuthProvider != nil {
			for _, name := range []string{"access-token", "id-token", "refresh-token", "client-secret"} {
				secrets = append(secrets, user.AuthProvider.Config[name])
			}
		}
	}
	return slices.DeleteFunc(secrets, func(secret string) bool { return secret == "" })
}
