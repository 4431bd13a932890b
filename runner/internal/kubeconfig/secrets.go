package kubeconfig

import "k8s.io/client-go/tools/clientcmd"

// Secrets are the keys, tokens and passwords in a kubeconfig. One that cannot be
// read has none.
func Secrets(content []byte) []string {
	config, err := clientcmd.Load(content)
	if err != nil {
		return nil
	}
	var secrets []string
	for _, user := range config.AuthInfos {
		for _, secret := range []string{user.Token, user.Password, string(user.ClientKeyData)} {
			if secret != "" {
				secrets = append(secrets, secret)
			}
		}
		if user.AuthProvider != nil {
			for _, name := range []string{"access-token", "id-token", "refresh-token", "client-secret"} {
				if secret := user.AuthProvider.Config[name]; secret != "" {
					secrets = append(secrets, secret)
				}
			}
		}
	}
	return secrets
}
