package model_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/projects/model"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	all := []model.Project{
		{Name: "shop-network", Path: "network", Title: "Network"},
		{Name: "network-policies", Path: "policies", Title: "Network"},
		{Name: "shop", Path: "apps/shop", Title: "The Shop"},
		{Name: "policies", Path: "other", Title: "Others"},
	}
	for _, test := range []struct {
		word string
		want []string
	}{
		{"shop-network", []string{"shop-network"}},
		{"./apps/shop/", []string{"shop"}},
		{"the shop", []string{"shop"}},
		{"SHOP", []string{"shop"}},
		{"policies", []string{"policies"}}, // a name comes first
		{"network", []string{"shop-network", "network-policies"}},
		{"nothing", nil},
		{"", nil},
	} {
		if diff := cmp.Diff(test.want, model.Resolve(all, test.word)); diff != "" {
			t.Errorf("%q: %s", test.word, diff)
		}
	}
}
