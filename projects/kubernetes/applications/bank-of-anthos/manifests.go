package bank

import (
	"maps"
	"slices"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"mara/projects"
	"mara/projects/internal/cluster"
)

const (
	applicationName = "bank-of-anthos"
	partOf          = "app.kubernetes.io/part-of"
	databaseLabel   = "mara.dev/database" // marks the pods that Prometheus takes database metrics from
	metricsPort     = 9187

	// The ConfigMaps, named as upstream names them.
	environmentConfig = "environment-config"
	serviceAPIConfig  = "service-api-config"
)

// deploy declares an object in the namespace of the application.
func (a *application) deploy(
	apiVersion, kind, name string, fields cluster.Values, opts ...pulumi.ResourceOption,
) (*cluster.Declared, error) {
	object := cluster.Object{APIVersion: apiVersion, Kind: kind, Name: name, Namespace: a.namespace, Fields: fields}
	return a.Declare(a.ctx, object, opts...)
}

// configuration declares what the components are configured with, and the account that they run as.
func (a *application) configuration() error {
	for name, data := range map[string]cluster.Values{
		// The variables of every component.
		environmentConfig: {"LOCAL_ROUTING_NUM": "883745000", "PUB_KEY_PATH": "/tmp/.ssh/publickey"},
		// The addresses at which the components find one another.
		serviceAPIConfig: {
			"TRANSACTIONS_API_ADDR": "ledgerwriter:8080",
			"BALANCES_API_ADDR":     "balancereader:8080",
			"HISTORY_API_ADDR":      "transactionhistory:8080",
			"CONTACTS_API_ADDR":     "contacts:8080",
			"USERSERVICE_API_ADDR":  "userservice:8080",
		},
	} {
		if _, err := a.deploy("v1", "ConfigMap", name, cluster.Values{"data": data}); err != nil {
			return err
		}
	}
	// No component talks to the Kubernetes API.
	noToken := cluster.Values{"automountServiceAccountToken": false}
	account, err := a.deploy("v1", "ServiceAccount", applicationName, noToken)
	if err != nil {
		return err
	}
	a.account = account.Name()
	return nil
}

// databases declares both databases and lets Prometheus watch them. It returns their StatefulSets by name.
func (a *application) databases() (map[string]pulumi.Resource, error) {
	deployed := map[string]pulumi.Resource{}
	for _, db := range databases() {
		if err := a.service(db.name, 5432, 5432); err != nil {
			return nil, err
		}
		if _, err := a.deploy("networking.k8s.io/v1", "NetworkPolicy", db.name, policy(db)); err != nil {
			return nil, err
		}
		set, err := a.deploy("apps/v1", "StatefulSet", db.name, a.statefulSet(db))
		if err != nil {
			return nil, err
		}
		deployed[db.name] = set
	}
	// The kind is known, because this project comes after prometheus in every plan.
	_, err := a.deploy("monitoring.coreos.com/v1", "PodMonitor", "databases", cluster.Values{"spec": cluster.Values{
		"selector":            cluster.Values{"matchLabels": cluster.Values{databaseLabel: "true"}},
		"podMetricsEndpoints": []cluster.Values{{"port": "metrics"}},
	}})
	return deployed, err
}

// statefulSet runs one database on a volume of its own. The volume goes when the database is destroyed, so that none
// outlives the cluster.
func (a *application) statefulSet(db database) cluster.Values {
	claim := a.Claim(a.settings.String("bank-of-anthos:storage_size"))
	return cluster.Values{"spec": cluster.Values{
		"serviceName": db.name,
		"replicas":    1,
		"selector":    cluster.Values{"matchLabels": selector(db.name)},
		"template": a.pods(db.name, cluster.Values{
			"securityContext": cluster.Values{"seccompProfile": cluster.Values{"type": "RuntimeDefault"}},
			"containers":      []cluster.Values{a.postgres(db), a.exporter(db)},
		}, databaseLabel, "true"),
		"volumeClaimTemplates":                 []cluster.Values{{"metadata": cluster.Values{"name": "data"}, "spec": claim}},
		"persistentVolumeClaimRetentionPolicy": cluster.Values{"whenDeleted": "Delete", "whenScaled": "Retain"},
	}}
}

// postgres returns the database's own container.
func (a *application) postgres(db database) cluster.Values {
	demoData := "" // the scripts look for an empty text, not for "False"
	if a.demoData() {
		demoData = "True"
	}
	// Over TCP: while the database is being filled it answers on its socket only.
	command := []string{"pg_isready", "--host", "127.0.0.1", "--username", db.user, "--dbname", db.database}
	ready := cluster.Values{"command": command}
	return cluster.Values{
		"name":    db.name,
		"image":   a.Image(imageOf(db.name)),
		"envFrom": fromConfigMaps(environmentConfig),
		"env": a.variables(
			map[string]string{"POSTGRES_DB": db.database, "POSTGRES_USER": db.user, "USE_DEMO_DATA": demoData},
			map[string]string{"POSTGRES_PASSWORD": db.passwordKey}),
		"ports":           []cluster.Values{{"name": "postgres", "containerPort": 5432}},
		"startupProbe":    cluster.Values{"exec": ready, "periodSeconds": 5, "failureThreshold": 60},
		"readinessProbe":  cluster.Values{"exec": ready, "periodSeconds": 5},
		"livenessProbe":   cluster.Values{"exec": ready, "periodSeconds": 20, "failureThreshold": 6},
		"resources":       a.resources("100m", db.memory, "250m", db.memoryLimit),
		"securityContext": cluster.Values{"allowPrivilegeEscalation": false},
		"volumeMounts":    []cluster.Values{{"name": "data", "mountPath": "/var/lib/postgresql/data", "subPath": "postgres"}},
	}
}

// exporter returns the container next to the database that serves its metrics.
func (a *application) exporter(db database) cluster.Values {
	return cluster.Values{
		"name":  "metrics",
		"image": a.Image(exporterImage),
		"env": a.variables(
			map[string]string{
				"DATA_SOURCE_URI": "127.0.0.1:5432/" + db.database + "?sslmode=disable", "DATA_SOURCE_USER": db.user,
			},
			map[string]string{"DATA_SOURCE_PASS": db.passwordKey}),
		"ports": []cluster.Values{{"name": "metrics", "containerPort": metricsPort}},
		"resources": cluster.Values{
			"requests": cluster.Values{"cpu": "10m", "memory": "32Mi"},
			"limits":   cluster.Values{"cpu": "100m", "memory": "128Mi"},
		},
		"securityContext": restricted(),
	}
}

// policy lets only the application's own pods reach a database, and only Prometheus its metrics.
func policy(db database) cluster.Values {
	application := cluster.Values{"podSelector": cluster.Values{"matchLabels": cluster.Values{partOf: applicationName}}}
	prometheus := cluster.Values{"namespaceSelector": cluster.Values{
		"matchLabels": cluster.Values{"kubernetes.io/metadata.name": projects.Prometheus().Namespace},
	}}
	return cluster.Values{"spec": cluster.Values{
		"podSelector": cluster.Values{"matchLabels": selector(db.name)},
		"policyTypes": []string{"Ingress"},
		"ingress": []cluster.Values{
			{"from": []cluster.Values{application}, "ports": []cluster.Values{{"port": 5432}}},
			{"from": []cluster.Values{prometheus}, "ports": []cluster.Values{{"port": metricsPort}}},
		},
	}}
}

// services declares the stateless components, each after the database it needs, and returns the frontend's Deployment.
func (a *application) services(databases map[string]pulumi.Resource) (frontend pulumi.Resource, err error) {
	for _, part := range a.components() {
		if part.port > 0 {
			if err := a.service(part.name, part.port, 8080); err != nil {
				return nil, err
			}
		}
		var opts []pulumi.ResourceOption
		if database := databases[part.database]; database != nil {
			opts = append(opts, pulumi.DependsOn([]pulumi.Resource{database}))
		}
		deployment, err := a.deploy("apps/v1", "Deployment", part.name, cluster.Values{"spec": cluster.Values{
			"replicas": part.replicas,
			"selector": cluster.Values{"matchLabels": selector(part.name)},
			"template": a.pods(part.name, a.pod(part)),
		}}, opts...)
		if err != nil {
			return nil, err
		}
		if part.name == "frontend" {
			frontend = deployment
		}
		if part.replicas <= 1 {
			continue
		}
		// At least one pod keeps running while nodes are being drained.
		if _, err := a.deploy("policy/v1", "PodDisruptionBudget", part.name, cluster.Values{"spec": cluster.Values{
			"maxUnavailable": 1, "selector": cluster.Values{"matchLabels": selector(part.name)},
		}}); err != nil {
			return nil, err
		}
	}
	return frontend, nil
}

// service declares the Service of a component.
func (a *application) service(name string, outer, inner int) error {
	_, err := a.deploy("v1", "Service", name, cluster.Values{"spec": cluster.Values{
		"type": "ClusterIP", "selector": selector(name),
		"ports": []cluster.Values{{"name": "main", "port": outer, "targetPort": inner}},
	}})
	return err
}

// pods returns the template of a component's pods, with further labels as key, value.
func (a *application) pods(name string, spec cluster.Values, labels ...string) cluster.Values {
	spec["serviceAccountName"], spec["automountServiceAccountToken"] = a.account, false
	labels = append([]string{"app.kubernetes.io/name", name, partOf, applicationName}, labels...)
	return cluster.Values{"metadata": cluster.Values{"labels": a.Labels(labels...)}, "spec": spec}
}

// pod runs a component as an ordinary user on a file system that it cannot write to.
func (a *application) pod(part component) cluster.Values {
	volumes := []cluster.Values{{"name": "tmp", "emptyDir": cluster.Values{}}}
	mounts := []cluster.Values{{"name": "tmp", "mountPath": "/tmp"}}
	if part.keys {
		keys := []cluster.Values{{"key": "jwtRS256.key.pub", "path": "publickey"}}
		if part.signs {
			keys = append(keys, cluster.Values{"key": "jwtRS256.key", "path": "privatekey"})
		}
		secret := cluster.Values{"secretName": a.credentials, "items": keys}
		volumes = append(volumes, cluster.Values{"name": "keys", "secret": secret})
		mounts = append(mounts, cluster.Values{"name": "keys", "mountPath": "/tmp/.ssh", "readOnly": true})
	}
	container := cluster.Values{
		"name":            part.name,
		"image":           a.Image(imageOf(part.name)),
		"env":             a.variables(part.env, part.secrets),
		"resources":       a.resources(part.cpu, part.memory, part.cpuLimit, part.memoryLimit),
		"securityContext": restricted(),
		"volumeMounts":    mounts,
	}
	if len(part.config) > 0 {
		container["envFrom"] = fromConfigMaps(part.config...)
	}
	if part.port > 0 {
		container["ports"] = []cluster.Values{{"name": "http", "containerPort": 8080}}
	}
	probe := func(name, path string, period, failures int) {
		if path != "" {
			get := cluster.Values{"path": path, "port": 8080}
			container[name] = cluster.Values{
				"httpGet": get, "periodSeconds": period, "timeoutSeconds": 10, "failureThreshold": failures,
			}
		}
	}
	probe("startupProbe", part.startup, 10, 30) // a Java service gets five minutes to start
	probe("readinessProbe", part.ready, 5, 6)
	probe("livenessProbe", part.live, 20, 6)
	return cluster.Values{
		"terminationGracePeriodSeconds": 5,
		"securityContext": cluster.Values{
			"runAsNonRoot": true, "runAsUser": 1000, "runAsGroup": 1000, "fsGroup": 1000,
			"seccompProfile": cluster.Values{"type": "RuntimeDefault"},
		},
		"containers": []cluster.Values{container},
		"volumes":    volumes,
	}
}

// variables returns environment variables with plain values, and others by the key of their value in the credentials.
func (a *application) variables(values, secrets map[string]string) []cluster.Values {
	var all []cluster.Values
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all = append(all, cluster.Values{"name": name, "value": values[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		from := cluster.Values{"name": a.credentials, "key": secrets[name]}
		all = append(all, cluster.Values{"name": name, "valueFrom": cluster.Values{"secretKeyRef": from}})
	}
	return all
}

// fromConfigMaps takes every entry of the ConfigMaps as a variable.
func fromConfigMaps(names ...string) []cluster.Values {
	var all []cluster.Values
	for _, name := range names {
		all = append(all, cluster.Values{"configMapRef": cluster.Values{"name": name}})
	}
	return all
}

// resources returns what a container requests and may use. On the user's own machine the scheduler would run out of
// processor time long before the processors do.
func (a *application) resources(cpu, memory, cpuLimit, memoryLimit string) cluster.Values {
	if a.Small() {
		cpu = "20m"
	}
	return cluster.Values{
		"requests": cluster.Values{"cpu": cpu, "memory": memory},
		"limits":   cluster.Values{"cpu": cpuLimit, "memory": memoryLimit},
	}
}

// selector returns the labels that select a component's pods.
func selector(name string) cluster.Values {
	return cluster.Values{"app.kubernetes.io/name": name, partOf: applicationName}
}

// restricted returns the security context of everything that needs no rights.
func restricted() cluster.Values {
	context := cluster.SecurityContext()
	context["privileged"], context["readOnlyRootFilesystem"] = false, true
	context["runAsNonRoot"], context["runAsUser"] = true, 1000
	return context
}
