package packages

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/machine/atomicfile"
)

func TestBy(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		files map[string]string
		want  []Used
	}{
		{"nothing", nil, nil},
		{"no YAML", map[string]string{"Pulumi.yaml": "\t:"}, nil},
		{"YAML", map[string]string{"Pulumi.yaml": `
name: own
runtime: yaml
config: {size: {type: string}}
resources:
  password: {type: "random:RandomPassword"}
  bucket:
    type: aws:s3:Bucket
  explicit:
    type: pulumi:providers:gcp
  other: {}
variables:
  ami:
    fn::aws-native:ec2:getAmi: {}
  zones:
    fn::invoke:
      function: azure-native:resources:getZones
`}, []Used{{Name: "aws"}, {Name: "aws-native"}, {Name: "azure-native"}, {Name: "gcp"}, {Name: "random"}}},
		{"another file of YAML", map[string]string{"Pulumi.yaml": "runtime: yaml\nmain: sub", "sub/Main.yaml": "resources:\n  p:\n    type: tls:PrivateKey\n"}, []Used{{Name: "tls"}}},
		{"named", map[string]string{"Pulumi.yaml": `
plugins: {providers: [{name: own, path: ../bin}, {name: aws, version: 6.1.0}]}
packages: {random: terraform-provider@1}
`}, []Used{{Name: "aws", Version: "6.1.0"}, {Name: "own", Directory: "../bin"}, {Name: "random"}}},
		{"Go", map[string]string{"go.mod": "module x\n\nrequire (\n\tgithub.com/pulumi/pulumi/sdk/v3 v3.1.0\n\tgithub.com/pulumi/pulumi-aws/sdk/v7 v7.1.0\n" +
			"\tgithub.com/pulumi/pulumi-random/sdk/v4 v4.2.0 // indirect\n)\n"}, []Used{{Name: "aws", Version: "7.1.0"}, {Name: "random", Version: "4.2.0"}}},
		{"Node.js", map[string]string{"package.json": `{"dependencies": {"@pulumi/pulumi": "^3.0.0", "@pulumi/azure-native": "^2.0.0", "@pulumi/aws": "latest"}}`},
			[]Used{{Name: "aws"}, {Name: "azure-native", Version: "2.0.0"}}},
		{"dynamic providers of Node.js", map[string]string{"Pulumi.yaml": "name: a\nruntime: nodejs\n"}, []Used{{Name: "pulumi-nodejs"}}},
		{"dynamic providers of Python", map[string]string{"Pulumi.yaml": "name: a\nruntime:\n  name: python\n  options: {}\n"}, []Used{{Name: "pulumi-python"}}},
		{"Python", map[string]string{"requirements.txt": "pulumi>=3.0.0,<4\npulumi-aws==6.0.2\npulumi_azure_native\n"},
			[]Used{{Name: "aws", Version: "6.0.2"}, {Name: "azure-native"}}},
		{"Python's other list", map[string]string{"pyproject.toml": `dependencies = ["pulumi>=3", "pulumi-gcp>=8.1.0,<9", "pulumiverse-time"]`},
			[]Used{{Name: "gcp", Version: "8.1.0"}, {Name: "time"}}},
		{".NET", map[string]string{"own.csproj": `<PackageReference Include="Pulumi" Version="3.*" /><PackageReference Include="Pulumi.AzureNative" Version="2.3.0" />`},
			[]Used{{Name: "azure-native", Version: "2.3.0"}}},
		{"versions in a program in YAML", map[string]string{"Pulumi.yaml": "runtime: yaml\nresources:\n  a: {type: random:RandomId}\n  b: {type: random:RandomId, options: {version: 4.1.0}}\n"},
			[]Used{{Name: "random", Version: "4.1.0"}}},
		{"Java", map[string]string{"pom.xml": "<groupId>com.pulumi</groupId>\n<artifactId>gcp</artifactId>\n<version>7.0.0</version>"}, []Used{{Name: "gcp", Version: "7.0.0"}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "a[b]")
			for name, text := range c.files {
				if err := atomicfile.WriteDeep(filepath.Join(dir, name), []byte(text), 0o644, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			got := By(dir)
			for i := range got {
				if directory, err := filepath.Rel(dir, got[i].Directory); err == nil && got[i].Directory != "" {
					got[i].Directory = directory
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestInState(t *testing.T) {
	t.Parallel()
	got := InState([]byte(`{"urn":"urn:pulumi:dev::p::pulumi:providers:random::default_4_1_0"},{"provider":"urn:pulumi:dev::p::pulumi:providers:aws::x::1"}`))
	if diff := cmp.Diff([]Used{{Name: "aws"}, {Name: "random"}}, got); diff != "" {
		t.Error(diff)
	}
}
