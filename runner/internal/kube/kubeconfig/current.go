package kubeconfig

import (
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Current returns the kubeconfig of the cluster as Merge has left it. ok is false if
// the entries are gone, or if another context is current and Beside is not set.
func (e Entries) Current() (content []byte, ok bool) {
	found, current := e.find()
	if found == nil || current != e.Name && !e.Beside {
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
