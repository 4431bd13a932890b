package ecr_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"mara/projects"
	"mara/projects/infrastructure/aws/ecr"
	"mara/projects/internal/programtest"
)

const (
	repositoryType = "aws:ecr/repository:Repository"
	lifecycleType  = "aws:ecr/lifecyclePolicy:LifecyclePolicy"
)

func run(t *testing.T, config map[string]string) programtest.Result {
	t.Helper()
	return programtest.Run(t, programtest.Case{
		Project: projects.AWSECR(),
		Program: ecr.Program,
		Config:  config,
		Outputs: map[string]resource.PropertyMap{
			repositoryType: resource.NewPropertyMapFromMap(map[string]any{
				"registryId":    "123456789012",
				"repositoryUrl": "123456789012.dkr.ecr.us-east-1.amazonaws.com/mara-dev/nginx-ingress",
			}),
		},
	})
}

func TestProgram(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		config     map[string]string
		scan       bool
		encryption map[string]any
		counts     []int // of the two lifecycle rules
	}{
		{
			name:       "defaults",
			scan:       true,
			encryption: map[string]any{"encryptionType": "AES256"},
			counts:     []int{14, 10},
		},
		{
			name: "configured",
			config: map[string]string{
				"ecr:scan_on_push": "false", "ecr:kms_key_arn": "arn:aws:kms:us-east-1:123456789012:key/k",
				"ecr:untagged_days": "1", "ecr:keep_images": "30",
			},
			encryption: map[string]any{"encryptionType": "KMS", "kmsKey": "arn:aws:kms:us-east-1:123456789012:key/k"},
			counts:     []int{1, 30},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, test.config)
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			want := map[string]any{
				"name": "mara-dev/nginx-ingress", "forceDelete": true, "imageTagMutability": "MUTABLE",
				"imageScanningConfiguration": map[string]any{"scanOnPush": test.scan},
				"encryptionConfigurations":   []any{test.encryption},
				"tags": map[string]any{
					"Name": "mara-dev/nginx-ingress", "mara.dev/project": "aws-ecr", "mara.dev/stack": "dev",
				},
			}
			if diff := cmp.Diff(want, result.One(t, repositoryType, "repository").Inputs.Mappable()); diff != "" {
				t.Errorf("repository (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.counts, lifecycleCounts(t, result)); diff != "" {
				t.Errorf("counts of the lifecycle rules (-want +got):\n%s", diff)
			}
			result.CheckOutputs(t, projects.AWSECR())
		})
	}
}

// lifecycleCounts reads the policy back the way ECR does.
func lifecycleCounts(t *testing.T, result programtest.Result) []int {
	t.Helper()
	var policy struct {
		Rules []struct {
			RulePriority int
			Selection    struct {
				TagStatus, CountType string
				CountNumber          int
			}
			Action struct{ Type string }
		}
	}
	text := result.One(t, lifecycleType, "lifecycle").Value("policy").(string)
	if err := json.Unmarshal([]byte(text), &policy); err != nil {
		t.Fatal(err)
	}
	var counts []int
	for i, rule := range policy.Rules {
		// A rule for any image must come last.
		if rule.RulePriority != i+1 || rule.Action.Type != "expire" || (rule.Selection.TagStatus == "any") != (i == 1) {
			t.Errorf("rule %d is %+v", i, rule)
		}
		counts = append(counts, rule.Selection.CountNumber)
	}
	return counts
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		config map[string]string
		want   string
	}{
		{"no images", map[string]string{"ecr:keep_images": "0"}, "smallest allowed value is 1"},
		{"days as text", map[string]string{"ecr:untagged_days": "two"}, "must be a whole number"},
		{"neither true nor false", map[string]string{"ecr:scan_on_push": "yes"}, "must be true or false"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			result := run(t, test.config)
			result.CheckRefused(t, test.want)
		})
	}
}
