package catalogue_test

import (
	"slices"
	"testing"
)

// TestAccessWaitsForApplications: a role in a namespace of an application needs the namespace, which the application makes;
// an application that waits for access keeps its order.
func TestAccessWaitsForApplications(t *testing.T) {
	t.Parallel()
	known, _, err := loadMara(t, "providers:\n  kind: {with: [access], after: {early: [access]}}\n"+
		"applications:\n  shop: {image: \"shop:1\"}\n  early: {image: \"shop:1\"}\n")
	if err != nil {
		t.Fatal(err)
	}
	p, err := known.ByName("kind")
	if err != nil {
		t.Fatal(err)
	}
	names := p.Names()
	access := slices.Index(names, "access")
	if !slices.Contains(p.Steps[access].After, "shop") || slices.Contains(p.Steps[access].After, "early") {
		t.Errorf("access waits for %v", p.Steps[access].After)
	}
	if shop, early := slices.Index(names, "shop"), slices.Index(names, "early"); shop > access || early < access {
		t.Errorf("the order is %v", names)
	}
}
