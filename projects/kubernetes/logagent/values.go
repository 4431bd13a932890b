package logagent

import "mara/projects/internal/cluster"

// inputs reads the logs of all containers and of the kubelet. The position in
// each file is kept on the node, so that a restart of the agent sends nothing
// twice.
const inputs = `[INPUT]
    Name tail
    Path /var/log/containers/*.log
    multiline.parser docker, cri
    Tag kube.*
    DB /var/log/fluent-bit-containers.db
    Mem_Buf_Limit 16MB
    Skip_Long_Lines On

[INPUT]
    Name systemd
    Tag host.*
    Systemd_Filter _SYSTEMD_UNIT=kubelet.service
    DB /var/log/fluent-bit-systemd.db
    Read_From_Tail On
`

// filters adds the pod's name, labels and so on, and takes JSON logs apart.
// Pods can opt out with the annotation fluentbit.io/exclude.
const filters = `[FILTER]
    Name kubernetes
    Match kube.*
    Merge_Log On
    Keep_Log Off
    K8S-Logging.Parser On
    K8S-Logging.Exclude On
`

// outputs ships to OpenSearch. Its certificate is self-signed, so it is not
// verified; the connection stays inside the cluster. Suppress_Type_Name is
// needed since OpenSearch 2, Replace_Dots because labels such as "app" and
// "app.kubernetes.io/name" would contradict one another as fields.
// https://docs.fluentbit.io/manual/pipeline/outputs/opensearch
const outputs = `[OUTPUT]
    Name opensearch
    Match kube.*
    Host ${LOGSTORE_HOST}
    Port ${LOGSTORE_PORT}
    HTTP_User ${LOGSTORE_USERNAME}
    HTTP_Passwd ${LOGSTORE_PASSWORD}
    tls On
    tls.verify Off
    Suppress_Type_Name On
    Logstash_Format On
    Logstash_Prefix ` + indexPrefix + `
    Replace_Dots On
    Retry_Limit 5
    Trace_Error On

[OUTPUT]
    Name opensearch
    Match host.*
    Host ${LOGSTORE_HOST}
    Port ${LOGSTORE_PORT}
    HTTP_User ${LOGSTORE_USERNAME}
    HTTP_Passwd ${LOGSTORE_PASSWORD}
    tls On
    tls.verify Off
    Suppress_Type_Name On
    Logstash_Format On
    Logstash_Prefix node
    Replace_Dots On
    Retry_Limit 5
    Trace_Error On
`

// values returns the chart's values.
// https://github.com/fluent/helm-charts/blob/fluent-bit-0.58.1/charts/fluent-bit/values.yaml
func values(c *cluster.Cluster, to destination) cluster.Values {
	return cluster.Values{
		"kind": "DaemonSet",
		"image": cluster.Values{
			"repository": c.Image("cr.fluentbit.io/fluent/fluent-bit"), "pullPolicy": "IfNotPresent",
		},
		"testFramework": cluster.Values{"enabled": false},
		// It stays root, whom the logs on the node belong to, without root's capabilities.
		"podSecurityContext": cluster.Values{"seccompProfile": cluster.Values{"type": "RuntimeDefault"}},
		"securityContext":    cluster.SecurityContext(),
		// Every node has logs, whatever it is reserved for.
		"tolerations": []cluster.Values{{"operator": "Exists"}},
		"resources": cluster.Values{
			"requests": cluster.Values{"cpu": "50m", "memory": "64Mi"},
			"limits":   cluster.Values{"memory": "256Mi"},
		},
		"env": []cluster.Values{
			{"name": "LOGSTORE_HOST", "value": to.host},
			{"name": "LOGSTORE_PORT", "value": to.port},
			fromSecret("LOGSTORE_USERNAME", "username"),
			fromSecret("LOGSTORE_PASSWORD", "password"),
		},
		"config": cluster.Values{"inputs": inputs, "filters": filters, "outputs": outputs},
	}
}

// fromSecret returns an environment variable with a value of the Secret.
func fromSecret(name, key string) cluster.Values {
	return cluster.Values{
		"name":      name,
		"valueFrom": cluster.Values{"secretKeyRef": cluster.Values{"name": credentials, "key": key}},
	}
}
