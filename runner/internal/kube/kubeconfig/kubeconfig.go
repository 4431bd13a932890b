// Package kubeconfig merges a cluster's entries into the user's kubeconfig,
// removes them again, and makes clients of the cluster. An environment owns one
// cluster, one user and one context, all of the same name; every other entry
// stays as it is. Files are replaced atomically, are readable by the user only,
// and are guarded by the lock file that kubectl uses.
package kubeconfig

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"mara/providers/cloud"
	"mara/runner/internal/machine/atomicfile"
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
	Files       []string
	Name        string // of the cluster, the user and the context
	KeepContext bool   // the cluster is one of many: its context does not replace the current one
}

// Merge writes the current context of a cluster's kubeconfig to one of the files,
// makes it the current context, and returns the file. It chooses as kubectl
// does: the file that has the entry, else the first that exists, else the last.
func (e Entries) Merge(ctx context.Context, cluster []byte) (string, error) {
	name := e.Name
	entries, err := single(cluster, name)
	if err != nil {
		return "", fmt.Errorf("reading the cluster's kubeconfig: %w", err)
	}
	file, err := choose(e.Files, name)
	if err != nil {
		return "", err
	}
	return file, edit(ctx, file, func(config *api.Config) bool {
		config.Clusters[name] = entries.Clusters[name]
		config.AuthInfos[name] = entries.AuthInfos[name]
		config.Contexts[name] = entries.Contexts[name]
		if !e.KeepContext || config.CurrentContext == "" {
			config.CurrentContext = name
		}
		return true
	})
}

// Remove removes the entries from every file that has them, and returns those
// files. A missing entry is no error.
func (e Entries) Remove(ctx context.Context) ([]string, error) {
	var changed []string
	name := e.Name
	for _, file := range e.Files {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var found bool
		err := edit(ctx, file, func(config *api.Config) bool {
			found = has(config, name) || config.CurrentContext == name
			delete(config.Clusters, name)
			delete(config.AuthInfos, name)
			delete(config.Contexts, name)
			if config.CurrentContext == name {
				config.CurrentContext = ""
			}
			return found
		})
		if err != nil {
			return changed, err
		}
		if found {
			changed = append(changed, file)
		}
	}
	return changed, nil
}

// Current returns the kubeconfig of the cluster as Merge has left it. ok is false if
// the entries are gone, or if another context is current and KeepContext is not set.
func (e Entries) Current() (content []byte, ok bool) {
	var found *api.Config // the file with complete entries
	name, current := e.Name, ""
	for _, file := range e.Files {
		config, err := load(file)
		if err != nil {
			continue // an unreadable file has no entries
		}
		current = cmp.Or(current, config.CurrentContext)
		if found == nil && config.Clusters[name] != nil && config.AuthInfos[name] != nil && config.Contexts[name] != nil {
			found = config
		}
	}
	if found == nil || current != name && !e.KeepContext {
		return nil, false
	}
	found.CurrentContext = name
	content, err := clientcmd.Write(*found)
	return content, err == nil
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

func choose(files []string, name string) (string, error) {
	existing := ""
	for _, file := range files {
		config, err := load(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		if has(config, name) {
			return file, nil
		}
		existing = cmp.Or(existing, file)
	}
	return cmp.Or(existing, files[len(files)-1]), nil
}

func has(config *api.Config, name string) bool {
	return config.Clusters[name] != nil || config.AuthInfos[name] != nil || config.Contexts[name] != nil
}

func load(file string) (*api.Config, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config, err := clientcmd.Load(content)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig %s: it is not valid; repair or move it, then run again", file)
	}
	return config, nil
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
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_ = file.Close()
			return func() { _ = os.Remove(path) }, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("locking the kubeconfig: %w", err)
		}
		if interrupt.Sleep(ctx, 100*time.Millisecond) != nil {
			return nil, fmt.Errorf("locking the kubeconfig: %s is held by another program; remove it if none is running", path)
		}
	}
}

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
