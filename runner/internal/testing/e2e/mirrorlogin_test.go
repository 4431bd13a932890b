package e2e

import (
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	oci "github.com/google/go-containerregistry/pkg/registry"

	"mara/config"
	"mara/runner/internal/testing/mirrortest"
)

// Who may write into the mirrors of these tests.
const (
	mirrorUser     = "filler"
	mirrorPassword = "Op3n-sesame!"
)

// privateMirror is a mirror that asks for a login, and what is to be copied there.
type privateMirror struct {
	*environment
	host    string // of the mirror
	source  string // of everything else
	login   string // the directory of docker's configuration
	held    atomic.Bool
	reached chan struct{} // something is to be copied, and does not come
	printed strings.Builder
}

// newPrivateMirror creates an environment whose chart and image come from a registry in
// memory that can withhold its layers.
func newPrivateMirror(t *testing.T, host string, fill func(source string)) *privateMirror {
	t.Helper()
	archive := mirrortest.Pack(t, map[string]string{"cert-manager/Chart.yaml": "apiVersion: v2\nname: cert-manager\nversion: v1.21.1\n"})
	m := &privateMirror{environment: newEnvironment(t, embedded), host: host, login: t.TempDir(), reached: make(chan struct{}, 8)}
	images := oci.New(oci.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/index.yaml":
			_, _ = io.WriteString(w, "entries: {cert-manager: [{version: v1.21.1, urls: [chart.tgz]}]}")
		case r.URL.Path == "/chart.tgz":
			_, _ = w.Write(archive)
		case m.held.Load() && r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/"):
			m.reached <- struct{}{}
			<-r.Context().Done()
		default:
			images.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	m.source = strings.TrimPrefix(server.URL, "http://")
	m.env = append(m.env, "DOCKER_CONFIG="+m.login)
	fill(m.source)
	m.write("config/pulumi/Pulumi.dev.yaml", "config:\n  "+config.InfraType+": kind\n  certmgr:chart_repository: http://"+m.source+
		"\n  kind:registry_image: "+m.source+"/tools/registry:3\n")
	return m
}

// tell checks how a command has ended, and what it says.
func (m *privateMirror) tell(r result, code int, want ...string) {
	m.t.Helper()
	m.printed.WriteString(r.stdout + r.stderr)
	for _, text := range want {
		if text = strings.ReplaceAll(text, "HOST", m.host); r.code != code || !strings.Contains(r.stdout+r.stderr, text) {
			m.t.Errorf("exit code %d, want %d and %q:\n%s%s", r.code, code, text, r.stdout, r.stderr)
		}
	}
}

func (m *privateMirror) sync(args ...string) []string {
	return append([]string{"mirror", "sync", m.host + "/mirror", "-s", "dev", "--only", "certmgr,kind-registry"}, args...)
}

// refused holds that nothing is copied, and that it is said once what to do.
func (m *privateMirror) refused(because string) {
	m.t.Helper()
	r := m.run(m.sync()...)
	m.tell(r, 1, because+"; after that, the same command continues")
	if r.stdout != "" || strings.Count(r.stderr, "docker login") != 1 {
		m.t.Errorf("want %q once: %s%s", because, r.stdout, r.stderr)
	}
}

// interruptedCopy has a copy interrupted when the chart is there and the image is not.
func (m *privateMirror) interruptedCopy() {
	m.t.Helper()
	m.held.Store(true)
	defer m.held.Store(false)
	cmd := m.command(m.sync("--debug")...)
	var output lockedBuffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	select {
	case <-m.reached:
	case <-time.After(2 * time.Minute):
		m.t.Errorf("nothing was copied in two minutes")
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		m.t.Error(err)
	}
	_ = cmd.Wait()
	m.tell(result{code: cmd.ProcessState.ExitCode(), stdout: output.String()}, 130, "cert-manager:v1.21.1: copied", "1 of 2 were checked; the same command continues")
}

// life fills the mirror. A user logs in at a time of the test's choice.
func (m *privateMirror) life(logIn func()) {
	m.t.Helper()
	processes := watchProcesses(m.t, "mirror")
	m.refused(m.host + " requires a login: use `docker login " + m.host + "`")
	m.writeLogin("Guess3d-wrongly!")
	m.refused(m.host + " refuses the stored login: use `docker login " + m.host + "` again")
	logIn()
	m.interruptedCopy()
	m.tell(m.run(m.sync()...), 0, "tools/registry:3: copied", "1 copied, 1 there already.")

	m.write("config/pulumi/Pulumi.dev.yaml", "config:\n  "+config.InfraType+": kind\n  kind:registry_image: "+m.host+"/mirror/tools/registry:3\n")
	check := []string{"mirror", "check", m.host + "/mirror", "-s", "dev", "--only", "certmgr,kind-registry"}
	m.tell(m.run(check...), 0, "1 chart and 1 image come from HOST/mirror.")
	m.tell(m.run("mirror", "sync", mirrorUser+"@"+m.host+"/mirror", "-s", "dev"), 2, "is not a registry host")

	secrets := map[string]string{"the password": mirrorPassword, "the login": mirrorUser + ":" + mirrorPassword, "the wrong one": "Guess3d-wrongly!"}
	searchFor(m.t, secrets, map[string][]byte{"the output": []byte(m.printed.String()), "process arguments": processes()})
	searchFor(m.t, secrets, everyFileBelow(m.t, m.root))
	for _, dir := range []string{m.home, m.temp} {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			m.t.Errorf("files are left: %v, %v", left, err)
		}
	}
}

// writeLogin keeps a login as `docker login` does.
func (m *privateMirror) writeLogin(password string) {
	m.t.Helper()
	auth := base64.StdEncoding.EncodeToString([]byte(mirrorUser + ":" + password))
	if err := os.WriteFile(filepath.Join(m.login, "config.json"), fmt.Appendf(nil, `{"auths": {%q: {"auth": %q}}}`, m.host, auth), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// TestMirrorWithLogin fills a registry that asks for a login, with an interruption.
func TestMirrorWithLogin(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(mirrortest.Private(oci.New(oci.Logger(log.New(io.Discard, "", 0))), mirrorUser, mirrorPassword))
	t.Cleanup(server.Close)
	m := newPrivateMirror(t, strings.TrimPrefix(server.URL, "http://"), func(source string) { put(t, source+"/tools/registry:3") })
	m.life(func() { m.writeLogin(mirrorPassword) })
}
