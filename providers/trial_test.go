package providers_test

import (
	"slices"
	"testing"

	"mara/config"
	"mara/projects/model"
	"mara/providers"
)

// TestTrials holds the settings of trials against the keys that projects declare.
func TestTrials(t *testing.T) {
	t.Parallel()
	for _, provider := range providers.All() {
		isFree := provider.Local || provider.Existing != nil
		if isFree != (len(provider.Trial.Costs) == 0) {
			t.Errorf("%s: a trial in a cloud costs something, and one without a cloud nothing", provider.Name)
		}
		var changes []config.Change
		for _, setting := range provider.Trial.Settings {
			read := slices.ContainsFunc(provider.Steps, func(step model.Step) bool {
				_, ok := step.Project.Key(setting.Key)
				return ok
			})
			if !read {
				t.Errorf("%s: no project reads %s", provider.Name, setting.Key)
			}
			changes = append(changes, config.Change{Key: setting.Key, Value: setting.Value})
		}
		file, err := config.StackFile{File: "Pulumi.try.yaml"}.Override(changes...)
		if err == nil {
			err = file.Validate(providers.Keys(), nil)
		}
		if err != nil {
			t.Errorf("%s: %v", provider.Name, err)
		}
		if total := provider.Trial.Total(); !isFree && (total < 0.1 || total > 1) {
			t.Errorf("%s: %.2f dollars an hour", provider.Name, total)
		}
	}
}
