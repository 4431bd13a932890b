package export

import (
	"strings"
	"testing"
)

// TestCheckShared: environments that would share a Program or a Stack are refused.
func TestCheckShared(t *testing.T) {
	t.Parallel()
	document := func(stack, namespace, project string, programs ...string) operatorDocument {
		return operatorDocument{Stack: stack, Namespace: namespaceOf(namespace, stack), Stacks: map[string]string{project: stack + "-" + project}, programs: programs}
	}
	for name, test := range map[string]struct {
		one, two operatorDocument
		want     string
	}{
		"a program":            {document("test", "pulumi", "shop", "shop"), document("prod", "pulumi", "shop", "shop"), "test and prod would share the Program shop in the namespace pulumi"},
		"namespaces":           {document("test", "pulumi-{stack}", "shop", "shop"), document("prod", "pulumi-{stack}", "shop", "shop"), ""},
		"no programs":          {document("test", "pulumi", "shop"), document("prod", "pulumi", "shop"), ""},
		"one name of two":      {document("a-b", "pulumi", "c"), document("a", "pulumi", "b-c"), "a-b and a would share the Stack a-b-c in the namespace pulumi"},
		"names of a namespace": {document("Eu_1", "p-{stack}", "shop", "shop"), document("eu.1", "p-{stack}", "shop", "shop"), "would share the Program shop in the namespace p-eu-1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := checkShared([]operatorDocument{test.one, test.two})
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
