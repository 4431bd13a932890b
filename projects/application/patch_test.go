package application_test

import (
	"strings"
	"testing"

	"mara/config"
	"mara/projects/application"
)

// TestPatch changes the resources of an application by jq, and refuses what makes no program.
func TestPatch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, patch, want, err string }{
		{"a field", `.workload.properties.spec.template.spec.priorityClassName = "important"`, "priorityClassName: important", ""},
		{"a number", `.workload.properties.spec.minReadySeconds = 5`, "minReadySeconds: 5\n", ""},
		{"a resource more", `.extra = {type: "kubernetes:core/v1:ConfigMap", properties: {data: {a: "b"}}}`, "type: kubernetes:core/v1:ConfigMap", ""},
		{"no jq", `.workload |`, "", "patch is not a valid jq expression"},
		{"an error", `error("no")`, "", "patch: error: no"},
		{"a part", `.workload`, "", "patch does not return the resources"},
		{"another name", `.workloda.properties.spec.minReadySeconds = 5`, "",
			`did you mean "workload"?`},
		{"a new one", `.extra.properties.data.a = "b"`, "", `patch changes extra, and there is no such resource; there are: `},
		{"a new one, with its type", `.extra.properties.data.a = "b"`, "", `; a new one needs a type, as in .extra = {type: "kubernetes:core/v1:ConfigMap"`},
		{"no type", `.workload = {}`, "", "patch leaves workload without its type: change what is below workload.properties"},
		{"several results", `., .`, "", "patch does not return the resources"},
		{"nothing", `empty`, "", "patch does not return the resources"},
		{"what others need", `del(.namespace)`, "", "patch takes namespace away"},
		{"without end", `last(repeat(1))`, "", "patch does not end within 3s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			text := "applications:\n  hello:\n    image: hello:1\n    patch: '" + strings.ReplaceAll(test.patch, "'", "''") + "'\n"
			mara, err := config.ParseMara("mara.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			program, err := application.Program(mara.Applications[0])
			if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Fatalf("error %v, want %q", err, test.err)
			}
			if !strings.Contains(string(program), test.want) {
				t.Errorf("no %q in\n%s", test.want, program)
			}
		})
	}
}
