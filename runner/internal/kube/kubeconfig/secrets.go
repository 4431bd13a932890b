package kubeconfig

import (
	"slices"

	"k8s.io/client-go/tools/clientcmd"
)

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
