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
		"", "projects:\n", "projects: [{path: a}]", "providers: {kind: }",
		"projects: [{project: certmgr, reads: a, after: [b]}]",
		"projects: [{git: 'https://a/b', ref: v1, path: c}, {git: ./a, ref: main}]",
		"projects: [{path: a, title: T, phase: p, providers: kind, replaces: b, when: 'true', stack: 'a-{stack}', stackFile: own, outputs: o, timeout: 1h30m, estimate: 90s}]",
		"projects: [{path: a, config: {size: {allowed: [a], min: 1, max: 2, example: e, question: q, generate: password}, b: }}]",
		"projects: [{path: a, hooks: [kubeconfig, {name: n, on: always, operations: [up, destroy], run: a b, timeout: 1s, retry: 2, simulate: true}]}]",
		"providers: {mine: {title: T, extends: kind, without: [a], after: {a: b, c: [d]}, projects: [{project: a}]}}",
		"hooks: [{run: [a, b]}]", "harmless: aws:ec2/route:Route", "harmless: ['aws:', 'kubernetes:policy/', 'a:b:C']",
	} {
		_, err := config.ParseMara("mara.yaml", []byte(text))
		if invalid := validateYAML(t, s, text); invalid != nil || err != nil {
			t.Errorf("%s: %v, %v", text, invalid, err)
		}
	}
	for _, text := range []string{
		"[]", "project: []", "projects: {}", "projects: [{}]", "projects: [{title: a}]", "projects: [{path: a, project: b}]", "projects: [{git: a}]",
		"projects: [{git: a, ref: b, project: c}]", "projects: [{git: a, ref: -b}]",
		"projects: [{path: a, ref: b}]", "projects: [{path: a, stackFile: mine}]", "projects: [{path: a, timeout: 10}]", "projects: [{path: a, reads: {}}]",
		"projects: [{path: a, config: {size: {alowed: [a]}}}]", "projects: [{path: a, config: {size: {min: a}}}]", "hooks: [{on: always}]",
		"hooks: [{run: a, on: never}]", "hooks: [{run: a, retry: -1}]", "hooks: [{run: a, simulate: x}]", "providers: {kind: {wihout: a}}", "providers: []",
		"harmless: Route", "harmless: [Deployment]", "harmless: {}", "harmless: ['a: b']",
	} {
		_, err := config.ParseMara("mara.yaml", []byte(text))
		if invalid := validateYAML(t, s, text); invalid == nil || err == nil {
			t.Errorf("%s: valid (%v, %v)", text, invalid, err)
		}
	}
}
