package bank

import (
	"cmp"
	"maps"
	"strconv"
)

// version of Bank of Anthos whose images are pinned below.
const version = "v0.6.10"

// registry holds the images of Bank of Anthos.
const registry = "us-central1-docker.pkg.dev/bank-of-anthos-ci/bank-of-anthos/"

// exporterImage turns a database's statistics into Prometheus metrics. The digest is that of all its platforms, as public repositories pin it.
const exporterImage = "quay.io/prometheuscommunity/postgres-exporter:v0.20.1@sha256:ac5ec343104fae0e2d84a27bb8d69b38430a11910c5382cad85d478d2bab713e"

// imageOf returns the image of a component, by tag and digest.
// https://github.com/GoogleCloudPlatform/bank-of-anthos/tree/v0.6.10/kubernetes-manifests
func imageOf(component string) string {
	digests := map[string]string{
		"accounts-db":        "d95c4094c75f69069b915ef3adc99a8f95e43077885140cdeeb90d807ea74eff",
		"balancereader":      "feae443c650786c253bbfa3447d0902dd1689122c13962f97ccc37068d73733b",
		"contacts":           "90d47594270e64f8dafa6da52c89ff70c2483cca0821dff2cc38b1450ac7a6b9",
		"frontend":           "076294ce717309f711743fa3b72a9809c7f156edf1c4fa58505fd9f436d65345",
		"ledger-db":          "891cb7afe34f358ce7ed7002a1923b25e113b30bca44fecb10cc8b116d665a03",
		"ledgerwriter":       "eae37de0d9b28fec7534c1ea860868c87279b0a85b405f8fd66c3d7734e3e42f",
		"loadgenerator":      "dd7e27f1b1bcbb9c85070eb900a6060d098d06d62ef03f98182424919895df83",
		"transactionhistory": "109cdad9c29a46af2708574ac4635dd73afa30cc020a4fef0266abcde87db744",
		"userservice":        "d8c4412edc46ab105000f721788b73301651cc43b19cee7e7302739f81882dcc",
	}
	return registry + component + ":" + version + "@sha256:" + digests[component]
}

// database describes one of the two PostgreSQL databases.
type database struct {
	name, database, user string
	passwordKey          string // key of the credentials
	memory, memoryLimit  string
}

// databases describes the databases.
func databases() []database {
	return []database{
		{
			name: "accounts-db", database: "accounts-db", user: "accounts-admin", passwordKey: "accounts-db-password",
			memory: "128Mi", memoryLimit: "512Mi",
		},
		{
			name: "ledger-db", database: "postgresdb", user: "admin", passwordKey: "ledger-db-password",
			memory: "256Mi", memoryLimit: "1Gi",
		},
	}
}

// component describes one stateless service.
type component struct {
	name     string
	replicas int
	env      map[string]string
	secrets  map[string]string // environment variable to key of the credentials
	config   []string          // ConfigMaps it takes its environment from
	database string            // database that has to run first
	keys     bool              // it checks login tokens: it reads the public key
	signs    bool              // it signs them: it reads the private key too
	port     int               // port of its Service; 0 means that it has none

	ready, live, startup string // paths of its probes; "" means none

	cpu, memory, cpuLimit, memoryLimit string
}

// components lists the services. Requests, limits and paths are upstream's.
// https://github.com/GoogleCloudPlatform/bank-of-anthos/tree/v0.6.10/kubernetes-manifests
func (a *application) components() []component {
	replicas := a.Replicas("bank-of-anthos:replicas", 2)
	list := []component{
		a.frontend(replicas),
		{
			name: "userservice", replicas: replicas, database: "accounts-db", keys: true, signs: true, port: 8080,
			env:     python(map[string]string{"TOKEN_EXPIRY_SECONDS": "3600", "PRIV_KEY_PATH": "/tmp/.ssh/privatekey"}),
			secrets: accountsDB(), config: []string{environmentConfig}, ready: "/ready",
			cpu: "260m", memory: "128Mi", cpuLimit: "500m", memoryLimit: "256Mi",
		},
		{
			name: "contacts", replicas: replicas, database: "accounts-db", keys: true, port: 8080,
			env: python(nil), secrets: accountsDB(), config: []string{environmentConfig}, ready: "/ready",
			cpu: "100m", memory: "64Mi", cpuLimit: "250m", memoryLimit: "128Mi",
		},
		java("ledgerwriter", nil, "/ready", "", serviceAPIConfig),
		java("balancereader", map[string]string{"POLL_MS": "100", "CACHE_SIZE": "1000000"}, "/healthy", "/healthy"),
		java("transactionhistory", map[string]string{
			"POLL_MS": "100", "CACHE_SIZE": "1000", "CACHE_MINUTES": "60", "HISTORY_LIMIT": "100",
		}, "/healthy", "/healthy"),
	}
	if a.settings.Bool("bank-of-anthos:load_generator") {
		list = append(list, component{
			name: "loadgenerator", replicas: 1,
			env: map[string]string{
				"FRONTEND_ADDR": "frontend:80", "LOG_LEVEL": "error",
				"USERS": strconv.Itoa(a.settings.Int("bank-of-anthos:load_users")),
			},
			cpu: "100m", memory: "512Mi", cpuLimit: "250m", memoryLimit: "1Gi",
		})
	}
	return list
}

// frontend serves the pages. The login form shows the demo user's name; its
// password is for the reader of Bank of Anthos' documentation to type.
func (a *application) frontend(replicas int) component {
	env := python(map[string]string{
		"SCHEME": "http", "BANK_NAME": a.settings.String("bank-of-anthos:name"),
		"ENV_PLATFORM": cmp.Or(a.Infrastructure.BankPlatform, "local"), "CYMBAL_LOGO": "false",
	})
	if a.demoData() {
		env["DEFAULT_USERNAME"] = demoUser
	}
	return component{
		name: "frontend", replicas: replicas, keys: true, port: 80, env: env,
		config: []string{environmentConfig, serviceAPIConfig}, ready: "/ready", live: "/ready",
		cpu: "100m", memory: "64Mi", cpuLimit: "250m", memoryLimit: "128Mi",
	}
}

// python returns the environment of the Python services. Traces would go to Google Cloud only,
// so they are off.
func python(own map[string]string) map[string]string {
	env := map[string]string{"VERSION": version, "PORT": "8080", "ENABLE_TRACING": "false", "LOG_LEVEL": "info"}
	maps.Copy(env, own)
	return env
}

// java returns one of the three services on the ledger.
func java(name string, own map[string]string, startup, live string, config ...string) component {
	env := python(own)
	env["ENABLE_METRICS"] = "false" // to Google Cloud, like the traces
	env["POSTGRES_DB"] = "postgresdb"
	env["POSTGRES_USER"] = "admin"
	env["SPRING_DATASOURCE_URL"] = "jdbc:postgresql://ledger-db:5432/postgresdb"
	env["SPRING_DATASOURCE_USERNAME"] = "admin"
	return component{
		name: name, replicas: 1, database: "ledger-db", keys: true, port: 8080, env: env,
		secrets: map[string]string{
			"SPRING_DATASOURCE_PASSWORD": "ledger-db-password", "POSTGRES_PASSWORD": "ledger-db-password",
		},
		config: append([]string{environmentConfig}, config...),
		ready:  "/ready", live: live, startup: startup,
		cpu: "100m", memory: "256Mi", cpuLimit: "500m", memoryLimit: "512Mi",
	}
}

// accountsDB returns the login of the services on the accounts database.
func accountsDB() map[string]string {
	return map[string]string{"ACCOUNTS_DB_URI": "accounts-db-uri"}
}
