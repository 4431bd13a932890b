package kubeconfig

import (
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Current is the kubeconfig of an environment's cluster as Merge has left it; ok
// is false if its entries are gone, or another context is the current one.
func Current(files []string, name string) (content []byte, ok bool) {
	found, current := find(files, name)
	if found == nil || current != name {
		return nil, false
	}
	return written(found, name)
}

// Beside is the kubeconfig of an environment's cluster as MergeBeside has left it;
// ok is false if its entries are gone.
func Beside(files []string, name string) (content []byte, ok bool) {
	found, _ := find(files, name)
	if found == nil {
		return nil, false
	}
	return written(found, name)
}

// find finds the entries of a cluster, nil if they are not complete, and the
// current context.
func find(files []string, name string) (found *api.Config, current string) {
	for _, file := range files {
		config, err := load(file)
		if err != nil {
			continue // one that cannot be read has nothing
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

func written(config *api.Config, name string) ([]byte, bool) {
	config.CurrentContext = name
	content, err := clientcmd.Write(*config)
	return content, err == nil
}
