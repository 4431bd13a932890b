package schema_test

import (
	"testing"

	"mara/config"
)

// TestProjectSchema: the schema of mara.yaml and the runner agree on what is
// right and what is wrong.
func TestProjectSchema(t *testing.T) {
	t.Parallel()
	s := compile(t, "project")
	for _, text := range []string{
		"", "projects:\n", "projects: [{path: a}]", "backend: s3://acme\nenvironments: [dev, prod]", "environments: dev", "providers: {kind: }",
		"projects: [{project: certmgr, reads: a, after: [b]}]",
		"projects: [{git: 'https://a/b', ref: v1, path: c}, {git: ./a, ref: main}]",
		"projects: [{path: a, title: T, phase: p, providers: kind, replaces: b, when: 'true', stack: 'a-{stack}', stackFile: own, outputs: o, timeout: 1h30m, estimate: 90s}]",
		"projects: [{path: a, env: {AWS_PROFILE: 'acme-{stack}', AWS_REGION: {dev: eu-west-1, default: us-east-1}, N: 1}, retry: 2}]",
		"projects: [{path: a, backend: 's3://b'}]",
		"projects: [{path: a, config: {size: {allowed: [a], min: 1, max: 2, example: e, question: q, generate: password}, b: }}]",
		"projects: [{path: a, hooks: [kubeconfig, {name: n, on: always, operations: [up, destroy], run: a b, timeout: 1s, retry: 2, simulate: true}]}]",
		"providers: {mine: {title: T, extends: kind, without: [a], after: {a: b, c: [d]}, projects: [{project: a}]}}",
		"applications:", "applications: {shop: {image: 'shop:1'}}",
		"applications: {shop: {image: 'r.example.com/shop:1', port: 80, host: shop.example.com, replicas: {min: 2, max: 4, cpu: 50}, size: {cpu: 250m, memory: 1Gi}, " +
			"env: {LOG_LEVEL: info, DEBUG: true, http_proxy: a, spring.main: b}, secrets: [TOKEN], files: {/etc/a: b}, health: {ready: /r, live: /l, start: 2m}, command: [a], args: [b], before: a b, stop: 1m, " +
			"connects: [10.0.0.0/8], user: 1000, pull: login}}",
		"applications: {db: {image: 'db:1', replicas: 3, size: large, volume: {path: /data, size: 10Gi, class: fast}, health: /up}}",
		"hooks: [{run: [a, b]}]", "harmless: aws:ec2/route:Route", "harmless: ['aws:', 'kubernetes:policy/', 'a:b:C']",
	} {
		_, err := config.ParseMara("mara.yaml", []byte(text))
		if invalid := validateYAML(t, s, text); invalid != nil || err != nil {
			t.Errorf("%s: %v, %v", text, invalid, err)
		}
	}
	for _, text := range []string{
		"[]", "project: []", "backend: states", "backend: [s3://a]", "environments: {}", "projects: {}", "projects: [{}]", "projects: [{title: a}]", "projects: [{path: a, project: b}]", "projects: [{git: a}]",
		"projects: [{git: a, ref: b, project: c}]", "projects: [{git: a, ref: -b}]",
		"projects: [{path: a, ref: b}]", "projects: [{path: a, stackFile: mine}]", "projects: [{path: a, retry: 11}]", "projects: [{path: a, env: [a]}]", "projects: [{path: a, env: {A: [b]}}]", "projects: [{path: a, timeout: 10}]", "projects: [{path: a, reads: {}}]",
		"projects: [{path: a, config: {size: {alowed: [a]}}}]", "projects: [{path: a, config: {size: {min: a}}}]", "hooks: [{on: always}]",
		"hooks: [{run: a, on: never}]", "hooks: [{run: a, retry: -1}]", "hooks: [{run: a, simulate: x}]", "providers: {kind: {wihout: a}}", "providers: []",
		"applications: []", "applications: {shop: }", "applications: {shop: {}}", "applications: {Shop: {image: 'a:1'}}", "applications: {shop: {image: a}}",
		"applications: {shop: {image: 'a:1', prot: 80}}", "applications: {shop: {image: 'a:1', port: 0}}", "applications: {shop: {image: 'a:1', host: A_b}}",
		"applications: {shop: {image: 'a:1', replicas: {min: 2}}}", "applications: {shop: {image: 'a:1', size: huge}}", "applications: {shop: {image: 'a:1', env: {pa th: b}}}",
		"applications: {shop: {image: 'a:1', files: {a: b}}}", "applications: {shop: {image: 'a:1', volume: {size: 1Gi}}}", "applications: {shop: {image: 'a:1', health: up}}",
		"applications: {shop: {image: 'a:1', stop: 3}}", "applications: {shop: {image: 'a:1', user: 0}}",
		"harmless: Route", "harmless: [Deployment]", "harmless: {}", "harmless: ['a: b']",
	} {
		_, err := config.ParseMara("mara.yaml", []byte(text))
		if invalid := validateYAML(t, s, text); invalid == nil || err == nil {
			t.Errorf("%s: valid (%v, %v)", text, invalid, err)
		}
	}
}
