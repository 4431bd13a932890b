package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mara/config"
)

// TestApplications: a few lines are enough, and every key is read.
func TestApplications(t *testing.T) {
	t.Parallel()
	got, err := config.ParseMara("mara.yaml", []byte(`
applications:
  small: {image: "ghcr.io/me/small:1"}
  shop:
    image: ghcr.io/me/shop:1.2.3
    port: 3000
    host: shop.example.com
    replicas: {max: 10}
    size: {memory: 1Gi}
    env: {LOG_LEVEL: info, WORKERS: 4}
    secrets: [DATABASE_URL]
    files: {/etc/shop/shop.toml: "a = 1"}
    health: {ready: /ready, live: /live, start: 2m}
    before: ./migrate up
    stop: 45s
    connects: [small, 10.0.0.0/8]
`))
	if err != nil {
		t.Fatal(err)
	}
	word := func(text string, line int) config.Word { return config.Word{Text: text, Line: line} }
	small := config.Sizes()["small"]
	want := []config.Application{
		{
			Name: word("small", 3), Image: word("ghcr.io/me/small:1", 3), Port: 8080, Scale: config.Scale{Replicas: 2}, Size: small,
			Health: config.Health{Ready: "/", Start: time.Minute}, Stop: 30 * time.Second, User: 10001,
		},
		{
			Name: word("shop", 4), Image: word("ghcr.io/me/shop:1.2.3", 5), Port: 3000, Host: word("shop.example.com", 7),
			Scale: config.Scale{Min: 2, Max: 10, CPU: 70}, Size: config.Size{CPU: small.CPU, Memory: "1Gi"},
			Env:     []config.Setting{{Name: word("LOG_LEVEL", 10), Text: "info"}, {Name: word("WORKERS", 10), Text: "4"}},
			Secrets: []config.Word{word("DATABASE_URL", 11)}, Files: []config.Setting{{Name: word("/etc/shop/shop.toml", 12), Text: "a = 1"}},
			Health: config.Health{Ready: "/ready", Live: "/live", Start: 2 * time.Minute}, Run: config.Run{Before: []string{"./migrate", "up"}},
			Stop: 45 * time.Second, Connects: []config.Word{word("small", 16), word("10.0.0.0/8", 16)}, User: 10001,
		},
	}
	if diff := cmp.Diff(want, got.Applications); diff != "" {
		t.Error(diff)
	}
}

// TestApplicationsThatAreWrong: each mistake has its line, and what is allowed.
func TestApplicationsThatAreWrong(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"{}":                                                     "applications.shop has no image; write image: with a tag or a digest",
		"{image: shop}":                                          `applications.shop.image is "shop", which is not an image with a tag or a digest`,
		"{image: 'a:1', prot: 1}":                                `applications.shop.prot is not a known key; allowed: port, host, args and 19 more; did you mean "port"?`,
		"{image: 'a:1', port: 99999}":                            "applications.shop.port must be a whole number from 1 to 65535",
		"{image: 'a:1', host: 'https://a'}":                      `applications.shop.host is "https://a", which is not a host name in lower case`,
		"{image: 'a:1', size: hug}":                              `applications.shop.size is "hug"; allowed: small, medium, large`,
		"{image: 'a:1', size: {cpu: fast}}":                      `applications.shop.size.cpu is "fast", which is not an amount of processors`,
		"{image: 'a:1', env: {pa th: x}}":                        "applications.shop.env.pa th is no name for a variable",
		"{image: 'a:1', env: {PORT: '1'}}":                       "applications.shop has PORT in env, which is the value of port already",
		"{image: 'a:1', secrets: [a=b]}":                         `applications.shop.secrets has "a=b", which is no name for a variable`,
		"{image: 'a:1', env: {A: b}, secrets: A}":                "applications.shop has A in env and in secrets",
		"{image: 'a:1', files: {etc: b}}":                        "applications.shop.files.etc is not the path of a file that begins with /",
		"{image: 'a:1', volume: {size: 1Gi}}":                    "applications.shop.volume has no path",
		"{image: 'a:1', replicas: {min: 3, max: 2}}":             "applications.shop.replicas has max 2, which is less than min 3",
		"{image: 'a:1', volume: {path: /d}, replicas: {max: 3}}": "applications.shop has a volume and replicas from 2 to 3",
		"{image: 'a:1', connects: [A_b]}":                        `applications.shop.connects has "A_b", which is neither an application nor an address range`,
		"{image: 'a:1', health: up}":                             `applications.shop.health is "up", which is not a path that begins with /`,
	} {
		_, err := config.ParseMara("mara.yaml", []byte("applications:\n  shop: "+in))
		if err == nil || !strings.Contains(err.Error(), "mara.yaml:2: "+want) {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
	if _, err := config.ParseMara("mara.yaml", []byte("applications: {Shop_1: {image: 'a:1'}}")); err == nil ||
		!strings.Contains(err.Error(), "mara.yaml:1: applications.Shop_1 is no name for an application") {
		t.Error(err)
	}
}

// TestEject: comments and everything else stay, and the result is valid.
func TestEject(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"# at the top\n\n# of it\nproviders:\n  kind: {} # local\napplications:\n  # the shop\n  shop: {image: 'a:1'}\n  other: {image: 'b:1'}\n": "# at the top\n\n# of it\nproviders:\n  kind: {} # local\n" +
			"applications:\n  other: {image: 'b:1'}\nprojects:\n  - path: shop\n    reads: [kubeconfig]\n    after: [certmgr]\n    outputs: [url]\n",
		"projects:\n  - path: a\napplications:\n  shop: {image: 'a:1'}\n": "projects:\n  - path: a\n  - path: shop\n    reads: [kubeconfig]\n    after: [certmgr]\n    outputs: [url]\n",
	} {
		words := func(text string) []config.Word { return []config.Word{{Text: text}} }
		got, err := config.Eject([]byte(in), "shop", config.MaraProject{
			Path: config.Word{Text: "shop"}, Reads: words("kubeconfig"), After: words("certmgr"), Outputs: words("url"),
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Error(diff)
		}
		if _, err := config.ParseMara("mara.yaml", got); err != nil {
			t.Error(err)
		}
	}
}
