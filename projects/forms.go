package projects

import (
	"strings"

	"mara/config"
)

// The forms of values that one cloud or one component takes.
var (
	awsRegion = func() *config.Form {
		f := config.NewForm("a region such as us-east-1", `^[a-z]{2}(-[a-z]+)+-[0-9]$`)
		f.Meant = func(text string) string { // us-east-1a is a zone
			if region := text[:max(0, len(text)-1)]; f.Matches(region) {
				return region
			}
			return ""
		}
		return f
	}()
	awsZone         = config.NewForm("an availability zone such as us-east-1a", `^[a-z]{2}(-[a-z]+)+-[0-9][a-z]$`)
	awsInstanceType = config.NewForm("an instance type such as m6i.large", `^[a-z][a-z0-9-]*\.[a-z0-9-]+$`)
	// kmsKey is the ARN of a key: EKS and ECR take no alias.
	kmsKey = config.NewForm("the ARN of a KMS key, arn:aws:kms:REGION:ACCOUNT:key/ID",
		`^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$`)
	principal = config.NewForm("the ARN of an IAM user or role", `^arn:aws[a-z-]*:iam::[0-9]{12}:(user|role)/.+$`)
	addOn     = config.NewForm("a version such as v1.20.4-eksbuild.2", `^v[0-9]+\.[0-9]+\.[0-9]+(-[a-z0-9.]+)?$`)

	linodeRegion = config.NewForm("a region such as us-ord", `^[a-z]{2}-[a-z]+(-[0-9]+)?$`)
	linodeType   = config.NewForm("a type such as g6-standard-4", `^g[0-9]+-[a-z0-9-]+$`)
	linodeUbuntu = config.NewForm("an image of Ubuntu 22.04 or later, such as linode/ubuntu24.04",
		`^linode/ubuntu(2[2-9]|[3-9][0-9])\.(04|10)$`)
	// harborProjectName is what Harbor takes as the name of a project.
	harborProjectName = config.NewForm("a name that Harbor takes: lower case, digits, and . _ - between them",
		`^[a-z0-9]+([._-][a-z0-9]+)*$`)
	sshKey = config.NewForm("a public SSH key, such as ssh-ed25519 AAAA... me@example.com",
		`^(ssh|ecdsa|sk-ssh|sk-ecdsa)-\S+ \S+(\s.*)?$`)

	digitalOceanRegion  = config.NewForm("a region such as nyc3", `^[a-z]{3}[0-9]$`)
	digitalOceanSize    = config.NewForm("a size such as s-4vcpu-8gb", `^[a-z0-9]+(-[a-z0-9_]+)+$`)
	digitalOceanVersion = func() *config.Form {
		f := config.NewForm("a version of Kubernetes, major.minor in quotes or whole such as 1.36.2-do.0",
			`^1\.[0-9]{2}(\.[0-9]+-do\.[0-9]+)?$`)
		f.Meant = config.KubernetesMinor.Meant
		return f
	}()
	digitalOceanRegistry = config.NewForm("the name of a registry: lower case, digits and hyphens", `^[a-z0-9][a-z0-9-]{0,62}$`)

	kindMount = &config.Form{Title: "two absolute paths with a colon between, with or without :ro",
		Fits: func(text string) bool {
			_, ok := ParseMount(text)
			return ok
		}}

	javaHeap = config.NewForm("a size such as 512m or 2g", `^[1-9][0-9]*[mMgG]$`)
	// The patterns of prometheus-operator's definitions.
	prometheusTime = config.NewForm("a time such as 10d or 12h",
		`^([0-9]+y)?([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$`)
	prometheusSize = config.NewForm("a size such as 8GB", `^[0-9]*\.?[0-9]+((K|M|G|T|E|P)i?)?B$`)

	imageTag = config.NewForm("the tag of an image", `^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}$`)
	// KICGit is a git repository at a branch or tag, as BuildKit takes it.
	KICGit      = config.NewForm("a git URL", `^(?:https?://|ssh://|git@).+\.git#([\w./-]+)$`)
	kicLocation = &config.Form{Title: "a git URL ending in .git#TAG or an absolute path",
		Fits: func(text string) bool { return KICGit.Matches(text) || config.AbsolutePath.Matches(text) }}
	// taggedImage has a tag: an image without one would be a different image from day to day.
	taggedImage = func() *config.Form {
		f := config.NewForm("an image with a tag, in lower case, such as nginx/nginx-ingress:5.5.4", config.Image.Pattern)
		f.Fits = func(text string) bool {
			name, _, _ := strings.Cut(text, "@")
			return strings.Contains(name[strings.LastIndexByte(name, '/')+1:], ":")
		}
		return f
	}()
)
