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
	"os"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

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
	found, current := e.find()
	if found == nil || current != e.Name && !e.KeepContext {
		return nil, false
	}
	found.CurrentContext = e.Name
	content, err := clientcmd.Write(*found)
	return content, err == nil
}

// find returns the file with complete entries, or nil, and the current context.
func (e Entries) find() (found *api.Config, current string) {
	name := e.Name
	for _, file := range e.Files {
		config, err := load(file)
		if err != nil {
			continue // an unreadable file has no entries
		}
		if current == "" {
			current = config.CurrentContext
		}
		if found == nil && config.Clusters[name] != nil && config.AuthInfos[name] != nil && config.Contexts[name] != nil {
			found = config
		}
	}
	return found, current
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
	return replace(file, content)
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

// replace writes a kubeconfig that only the user can read. A symbolic link
// stays a link.
func replace(file string, content []byte) error {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	return atomicfile.Replace(file, content, 0o600)
}
