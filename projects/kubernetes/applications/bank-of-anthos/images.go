package bank

// version of Bank of Anthos whose images are pinned below.
const version = "v0.6.10"

// registry holds the images of Bank of Anthos.
const registry = "us-central1-docker.pkg.dev/bank-of-anthos-ci/bank-of-anthos/"

// exporterImage turns a database's statistics into Prometheus metrics.
const exporterImage = "quay.io/prometheuscommunity/postgres-exporter:v0.20.1"

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
