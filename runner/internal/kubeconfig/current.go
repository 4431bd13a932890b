package kubeconfig

import (
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Current is the kubeconfig of an environment's cluster as Merge has left it; ok
// is false if its entries are gone, or another context is the current one.
func Current(files []string, name string) (content []byte, ok bool) {
	current, found := "", (*api.Config)(nil)
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
	if found == nil || current != name {
		return nil, false
	}
	found.CurrentContext = name
	content, err := clientcmd.Write(*found)
	return content, err == nil
}
