package bank

import (
	"maps"
	"slices"

	corev1 "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes/core/v1"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// The ConfigMaps, named as upstream names them.
const (
	environmentConfig = "environment-config"
	serviceAPIConfig  = "service-api-config"
)

// configuration makes what the components are configured with, and the account
// that they run as.
func (a *application) configuration(ctx *pulumi.Context) error {
	for name, data := range map[string]map[string]string{
		environmentConfig: environment(),
		serviceAPIConfig:  serviceAddresses(),
	} {
		if _, err := corev1.NewConfigMap(ctx, name, &corev1.ConfigMapArgs{
			Metadata: a.Meta(name, a.namespace),
			Data:     pulumi.ToStringMap(data),
		}, a.Provider()); err != nil {
			return err
		}
	}
	const name = "bank-of-anthos"
	account, err := corev1.NewServiceAccount(ctx, name, &corev1.ServiceAccountArgs{
		Metadata: a.Meta(name, a.namespace),
		// No component talks to the Kubernetes API.
		AutomountServiceAccountToken: pulumi.Bool(false),
	}, a.Provider())
	if err != nil {
		return err
	}
	a.account = account.Metadata.Name().Elem()
	return nil
}

// environment returns the variables of every component.
func environment() map[string]string {
	return map[string]string{
		"LOCAL_ROUTING_NUM": "883745000",
		"PUB_KEY_PATH":      "/tmp/.ssh/publickey",
	}
}

// serviceAddresses returns the addresses at which the components find one another.
func serviceAddresses() map[string]string {
	return map[string]string{
		"TRANSACTIONS_API_ADDR": "ledgerwriter:8080",
		"BALANCES_API_ADDR":     "balancereader:8080",
		"HISTORY_API_ADDR":      "transactionhistory:8080",
		"CONTACTS_API_ADDR":     "contacts:8080",
		"USERSERVICE_API_ADDR":  "userservice:8080",
	}
}

// variables turns plain values into environment variables, in a stable order.
func variables(values map[string]string) corev1.EnvVarArray {
	var all corev1.EnvVarArray
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all = append(all, corev1.EnvVarArgs{Name: pulumi.String(name), Value: pulumi.String(values[name])})
	}
	return all
}

// secretVariables returns environment variables with values of the credentials, by the name of
// each variable and the key of its value.
func (a *application) secretVariables(keys map[string]string) corev1.EnvVarArray {
	var all corev1.EnvVarArray
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		all = append(all, corev1.EnvVarArgs{
			Name: pulumi.String(name),
			ValueFrom: corev1.EnvVarSourceArgs{SecretKeyRef: corev1.SecretKeySelectorArgs{
				Name: a.credentials, Key: pulumi.String(keys[name]),
			}},
		})
	}
	return all
}

// fromConfigMaps takes every entry of the ConfigMaps as a variable.
func fromConfigMaps(names ...string) corev1.EnvFromSourceArray {
	var all corev1.EnvFromSourceArray
	for _, name := range names {
		all = append(all, corev1.EnvFromSourceArgs{ConfigMapRef: corev1.ConfigMapEnvSourceArgs{Name: pulumi.String(name)}})
	}
	return all
}
