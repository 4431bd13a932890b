package imagebuild_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/projects"
	"mara/projects/internal/programtest"
	imagebuild "mara/projects/utility/kic-image-build"
)

const (
	remoteImage = "docker:index/remoteImage:RemoteImage"
	provider    = "pulumi:providers:docker"
)

func run(t *testing.T, config map[string]string) programtest.Result {
	t.Helper()
	all := map[string]string{"kubernetes:infra_type": "kind"}
	maps.Copy(all, config)
	return programtest.Run(t, programtest.Case{
		Project: projects.KICImageBuild(),
		Program: imagebuild.Program,
		Config:  all,
		Outputs: map[string]resource.PropertyMap{
			remoteImage: resource.NewPropertyMapFromMap(map[string]any{"imageId": "sha256:1234"}),
		},
	})
}

func TestPull(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		config  map[string]string
		want    map[string]any
		wantTag string
	}{
		{
			name:    "defaults",
			want:    map[string]any{"name": "nginx/nginx-ingress:5.5.4", "keepLocally": true},
			wantTag: "5.5.4",
		},
		{
			name:    "in a cloud the nodes are amd64",
			config:  map[string]string{"kubernetes:infra_type": "linode"},
			want:    map[string]any{"name": "nginx/nginx-ingress:5.5.4", "keepLocally": true, "platform": "linux/amd64"},
			wantTag: "5.5.4",
		},
		{
			name: "another image, platform and mirror",
			config: map[string]string{
				"kic:image_name": "ghcr.io/nginx/kubernetes-ingress:5.4.3-alpine", "kic:platform": "linux/arm64",
				"kubernetes:mirror": "mirror.local:5000/all",
			},
			want: map[string]any{
				"name": "mirror.local:5000/all/nginx/kubernetes-ingress:5.4.3-alpine", "keepLocally": true,
				"platform": "linux/arm64",
			},
			wantTag: "5.4.3-alpine",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, test.config)
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			if diff := cmp.Diff(test.want, result.One(t, remoteImage, "image").Inputs.Mappable()); diff != "" {
				t.Errorf("inputs (-want +got):\n%s", diff)
			}
			if got := result.Export(t, "image_tag").Value; got != test.wantTag {
				t.Errorf("image_tag is %v, want %s", got, test.wantTag)
			}
			if got := result.Export(t, "image_id").Value; got != "sha256:1234" {
				t.Errorf("image_id is %v", got)
			}
			result.CheckOutputs(t, projects.KICImageBuild())
		})
	}
}

func TestPullPlus(t *testing.T) {
	t.Parallel()
	token := write(t, t.TempDir(), "nginx-repo.jwt", "the-token\n")
	result := run(t, map[string]string{"kic:nginx_plus": "true", "kic:jwt_path": token})
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	image := result.One(t, remoteImage, "image")
	if got := image.Value("name"); got != "private-registry.nginx.com/nginx-ic/nginx-plus-ingress:5.5.4" {
		t.Errorf("pulled %v", got)
	}
	if !strings.Contains(image.Provider, provider) {
		t.Error("the image is not pulled with the login")
	}
	login := result.One(t, provider, "docker")
	if got := login.Value("registryAuth", "0", "username"); got != "the-token" {
		t.Errorf("the user is %v, want the licence token", got)
	}
	if !login.IsSecret("registryAuth", "0", "username") {
		t.Error("the licence token is not secret")
	}
}

func TestBuild(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := write(t, dir, "nginx-repo.crt", "CERT CONTENT"), write(t, dir, "nginx-repo.key", "KEY CONTENT")
	tests := []struct {
		name      string
		config    map[string]string
		wantName  string
		wantBuild map[string]any
	}{
		{
			name:     "the release's own source",
			config:   map[string]string{},
			wantName: "mara/nginx-ingress:5.5.4-dev",
			wantBuild: map[string]any{
				"builder": "default", "context": "https://github.com/nginx/kubernetes-ingress.git#v5.5.4",
				"dockerfile": "build/Dockerfile", "target": "container",
				"buildArgs": map[string]any{"BUILD_OS": "debian", "IC_VERSION": "5.5.4"},
			},
		},
		{
			name: "a branch, alpine, another tag and platform",
			config: map[string]string{
				"kic:source": "git@github.com:me/kic.git#feature/x", "kic:source_target": "alpine-image",
				"kic:source_tag": "mine", "kic:platform": "linux/arm64",
			},
			wantName: "mara/nginx-ingress:mine-dev",
			wantBuild: map[string]any{
				"builder": "default", "context": "git@github.com:me/kic.git#feature/x",
				"dockerfile": "build/Dockerfile", "target": "container", "platform": "linux/arm64",
				"buildArgs": map[string]any{"BUILD_OS": "alpine", "IC_VERSION": "mine"},
			},
		},
		{
			name: "NGINX Plus",
			config: map[string]string{
				"kic:nginx_plus": "true", "kic:repo_cert_path": cert, "kic:repo_key_path": key,
			},
			wantName: "mara/nginx-ingress:5.5.4-dev",
			wantBuild: map[string]any{
				"builder": "default", "context": "https://github.com/nginx/kubernetes-ingress.git#v5.5.4",
				"dockerfile": "build/Dockerfile", "target": "container",
				"buildArgs": map[string]any{"BUILD_OS": "debian-plus", "IC_VERSION": "5.5.4"},
				"secrets": []any{
					map[string]any{"id": "nginx-repo.crt", "src": cert}, map[string]any{"id": "nginx-repo.key", "src": key},
				},
			},
		},
		{
			name: "NGINX Plus on UBI",
			config: map[string]string{
				"kic:nginx_plus": "true", "kic:repo_cert_path": cert, "kic:repo_key_path": key,
				"kic:source_target": "ubi-image-plus",
			},
			wantName: "mara/nginx-ingress:5.5.4-dev",
			wantBuild: map[string]any{
				"builder": "default", "context": "https://github.com/nginx/kubernetes-ingress.git#v5.5.4",
				"dockerfile": "build/Dockerfile", "target": "container",
				"buildArgs": map[string]any{"BUILD_OS": "ubi-9-plus", "IC_VERSION": "5.5.4"},
				"secrets": []any{
					map[string]any{"id": "nginx-repo.crt", "src": cert}, map[string]any{"id": "nginx-repo.key", "src": key},
				},
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.config["kic:image_origin"] = "source"
			result := run(t, test.config)
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			image := result.One(t, remoteImage, "image")
			if got := image.Value("name"); got != test.wantName {
				t.Errorf("the image is named %v, want %s", got, test.wantName)
			}
			if diff := cmp.Diff(test.wantBuild, image.Value("build")); diff != "" {
				t.Errorf("build (-want +got):\n%s", diff)
			}
			if state := fmt.Sprint(image.Inputs.Mappable()); strings.Contains(state, "CONTENT") {
				t.Errorf("the state holds the content of a credential: %s", state)
			}
		})
	}
}

// TestBuildDir shows that a change in a directory builds again, and that one
// in its git history does not.
func TestBuildDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "build/Dockerfile", "FROM scratch")
	write(t, dir, ".git/HEAD", "ref: one")
	declared := func() programtest.Resource {
		result := run(t, map[string]string{"kic:image_origin": "source", "kic:source": dir})
		if result.Err != nil {
			t.Fatal(result.Err)
		}
		return result.One(t, remoteImage, "image")
	}
	first := declared()
	if got, want := first.Value("build", "dockerfile"), filepath.Join(dir, "build", "Dockerfile"); got != want {
		t.Errorf("dockerfile is %v, want %s", got, want)
	}
	if got := first.Value("name"); got != "mara/nginx-ingress:local-dev" {
		t.Errorf("the image is named %v", got)
	}
	write(t, dir, ".git/HEAD", "ref: two")
	if diff := cmp.Diff(first.Value("triggers"), declared().Value("triggers")); diff != "" {
		t.Errorf("the history counts as a change:\n%s", diff)
	}
	write(t, dir, "main.go", "package main")
	if cmp.Equal(first.Value("triggers"), declared().Value("triggers")) {
		t.Error("a new file does not count as a change")
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tests := []struct {
		name   string
		config map[string]string
		want   string
	}{
		{"no tag", map[string]string{"kic:image_name": "nginx/nginx-ingress"}, "which is not an image with a tag"},
		{"an unknown origin", map[string]string{"kic:image_origin": "ftp"}, "allowed: registry, source"},
		{"no provider", map[string]string{"kubernetes:infra_type": ""}, `"kubernetes:infra_type"`},
		{"NGINX Plus without token", map[string]string{"kic:nginx_plus": "true"}, `"kic:jwt_path"`},
		{
			"a token that is not there",
			map[string]string{"kic:nginx_plus": "true", "kic:jwt_path": filepath.Join(dir, "none")}, "no such file",
		},
		{
			"a token that is a directory",
			map[string]string{"kic:nginx_plus": "true", "kic:jwt_path": dir}, "which is not a file",
		},
		{"a git URL without tag", source("https://github.com/nginx/kubernetes-ingress.git"), "which is not a git URL"},
		{"a relative directory", source("kubernetes-ingress"), "or an absolute path"},
		{"a directory without source", source(dir), "is not the source of the ingress controller"},
		{
			"a target of the other edition",
			map[string]string{"kic:image_origin": "source", "kic:source_target": "debian-image-plus"},
			"does not agree with kic:nginx_plus",
		},
		{
			"a tag with a space",
			map[string]string{"kic:image_origin": "source", "kic:source_tag": "my tag"}, "which is not the tag of an image",
		},
		{
			"a build of NGINX Plus without credentials",
			map[string]string{"kic:image_origin": "source", "kic:nginx_plus": "true"}, `"kic:repo_cert_path"`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, test.config)
			result.CheckRefused(t, test.want)
			if len(result.Resources) != 0 {
				t.Errorf("declared %v before the configuration was checked", result.Names())
			}
		})
	}
}

func source(location string) map[string]string {
	return map[string]string{"kic:image_origin": "source", "kic:source": location}
}

// write makes a file below directory and returns its path.
func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
