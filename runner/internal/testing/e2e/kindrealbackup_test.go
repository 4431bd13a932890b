package e2e

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mara/projects"
	"mara/runner/internal/testing/kindtest"
)

// storeWithBackup is mara.yaml of an environment with an application that has a volume, and with backups.
const storeWithBackup = bare + `    with: [backup]
applications:
  store:
    image: %s
    port: 3000
    volume: {path: /data, size: 10Mi, class: of-the-test}
`

// localVolume is a volume on a node. Velero has the files of such volumes in backups, and not those of hostPath.
const localVolume = `
apiVersion: v1
kind: PersistentVolume
metadata: {name: %s}
spec:
  capacity: {storage: 10Mi}
  accessModes: [ReadWriteOnce]
  storageClassName: of-the-test
  persistentVolumeReclaimPolicy: Retain
  local: {path: /var/lib/%[1]s}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [%s]}]}]}}
  %s
`

// TestProviderBackup makes a backup of an application with data, with the real Velero and a bucket, deletes the
// application's namespace, and restores it.
func TestProviderBackup(t *testing.T) {
	programs := os.Getenv("E2E_VELERO")
	if programs == "" {
		t.Skip("there are no programs of Velero's here: VELERO names their directory for `make e2e-provider`")
	}
	r := newBareProviderKind(t)
	defer r.run("destroy", "--yes", "--force-forget", "-o", "json")
	r.upFromMirror()
	r.ready()
	r.pushVelero(programs)
	r.pushShop("1")
	for name, claim := range map[string]string{
		"first":  "claimRef: {namespace: store, name: data-store-0}",
		"second": "", // for the claim that is restored
	} {
		r.onNode("mkdir", "-p", "/var/lib/"+name)
		r.apply(fmt.Sprintf(localVolume, name, r.controlPlane(), claim))
	}
	e := newExisting(t, r, fmt.Sprintf(storeWithBackup, r.shopImage("1")), fmt.Sprintf("  kubernetes:mirror: %s\n  backup:bucket: %s\n  backup:endpoint: %s\n",
		r.mirror, bucketName, r.bucketForPods()), map[string]string{"backup:access_key": "key", "backup:secret_key": "secret"})
	run := realRun{Command: "make e2e-provider", Provider: "cluster", Projects: []string{"secrets", "kubeconfig", "cluster-connection", "backup"},
		Versions: r.providerVersions()}
	run.Versions["Velero"] = os.Getenv("E2E_VELERO_BUILT")
	run.Parts = r.runParts(t, []realPart{
		e.part("an application with a volume, and backups", backupUp),
		e.part("a backup", backupMade),
		e.part("a namespace that is deleted is restored, with the data in its volume", backupRestored),
		e.part("an older chart is upgraded, under the probe", backupUpgraded),
		e.part("destroy without a trace", (*existing).destroy),
	})
	record(t, run)
}

// pushVelero makes images of Velero's programs, and pushes them where the mirror has them.
func (r *realKind) pushVelero(programs string) {
	r.t.Helper()
	file := func(name string) kindtest.File {
		content, err := os.ReadFile(filepath.Join(programs, name))
		if err != nil {
			r.t.Fatal(err)
		}
		return kindtest.File{Content: content}
	}
	for name, image := range map[string]struct {
		entry []string
		files map[string]kindtest.File
	}{
		"velero/velero:v1.18.1": {[]string{"/velero"}, map[string]kindtest.File{
			"velero": file("velero"), "velero-helper": file("velero-helper"), "velero-restore-helper": file("velero-restore-helper"),
			"tmp/.keep": {}, "etc/passwd": {Content: []byte("root:x:0:0::/tmp:/\n")},
		}},
		strings.TrimPrefix(projects.VeleroPlugin, "docker.io/"): {[]string{"cp-plugin", "/plugins/velero-plugin-for-aws", "/target/velero-plugin-for-aws"}, map[string]kindtest.File{
			"bin/cp-plugin": file("cp-plugin"), "plugins/velero-plugin-for-aws": file("velero-plugin-for-aws"),
		}},
	} {
		kindtest.Image(r.t, r.mirror+"/"+name, image.entry, image.files)
		runDocker(r.t, "push", r.mirror+"/"+name)
	}
}

// bucketForPods serves a bucket where Pods reach it, and returns its address.
func (r *realKind) bucketForPods() string {
	r.t.Helper()
	route := strings.Fields(r.onNode("ip", "route", "show", "default")) // default via ADDRESS ...
	if len(route) < 3 {
		r.t.Fatalf("the node has no way out: %q", route)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(route[2], "0"))
	if err != nil {
		r.t.Fatal(err)
	}
	server := &http.Server{Handler: newBucket(r.t).server.Config.Handler}
	go func() { _ = server.Serve(listener) }()
	r.t.Cleanup(func() { _ = server.Close() })
	return "http://" + listener.Addr().String()
}

const storedText = "what the application has written"

func backupUp(e *existing) {
	e.up()
	e.cluster.expose("store")
	e.cluster.eventually("", func() string {
		request, err := http.NewRequestWithContext(e.t.Context(), http.MethodPut, e.cluster.outside("store")+"kept", strings.NewReader(storedText))
		if err != nil {
			e.t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err.Error()
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return response.Status
		}
		return ""
	})
	e.cluster.eventually("Available", func() string {
		return e.cluster.ask("get backupstoragelocations --namespace=velero --output=jsonpath={.items[*].status.phase}")
	})
}

func backupMade(e *existing) {
	if r := e.run("backup", "now", "before", "--namespace", "store"); r.code != 0 || !strings.Contains(r.stdout, "the backup before is complete") {
		e.t.Fatalf("backup now: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := e.run("backup", "list"); r.code != 0 || !strings.Contains(r.stdout, "before") || !strings.Contains(r.stdout, "Completed") {
		e.t.Errorf("backup list: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

func backupRestored(e *existing) {
	e.cluster.kubectl("delete namespace store --timeout=5m")
	if r := e.run("drift", "--exit-code", "--only", "store"); r.code != 5 {
		e.t.Errorf("drift without the namespace: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := e.run("backup", "restore", "before"); r.code != 0 {
		e.t.Fatalf("backup restore: exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	e.cluster.eventually(storedText, func() string { return get(e.cluster.outside("store") + "kept") })
	if volume := e.cluster.kubectl("get persistentvolumeclaims --namespace=store --output=jsonpath={.items[*].spec.volumeName}"); volume != "second" {
		e.t.Errorf("the claim has the volume %q", volume)
	}
	if left := e.cluster.ask("get restores --namespace=velero --output=name"); strings.Contains(left, "restore.velero.io") {
		e.t.Errorf("restores are left: %s", left)
	}
	// The restored objects are the environment's again.
	e.run("refresh", "--yes")
	if got := e.up(); len(got) > 0 {
		e.t.Errorf("an up after the restore changes %v", got)
	}
	e.cluster.eventually(storedText, func() string { return get(e.cluster.outside("store") + "kept") })
}

// olderChart is a version of Velero's chart before the catalogue's, with the same images.
const olderChart = "12.0.3"

// backupUpgraded upgrades the chart of Velero, while the probe asks the application.
func backupUpgraded(e *existing) {
	const key = "backup:chart_version"
	e.set(key, olderChart)
	if got := e.up(); !slices.Equal(got, []string{"backup"}) {
		e.t.Errorf("an older chart changes %v", got)
	}
	e.upgradeUnder(e.cluster.outside("store"))
	if chart := e.cluster.kubectl("get deployments --namespace=velero --output=jsonpath={.items[0].metadata.labels.helm\\.sh/chart}"); chart == "velero-"+olderChart {
		e.t.Errorf("the chart is %s", chart)
	}
}
