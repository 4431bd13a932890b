package projects

import (
	"strings"

	"mara/config"
)

// The forms of values that one component takes. The file of each cloud has its forms.
var (
	javaHeap = config.NewForm("a size such as 512m or 2g", `^[1-9][0-9]*[mMgG]$`)
	// The patterns of prometheus-operator's definitions.
	prometheusTime = config.NewForm("a time such as 10d or 12h",
		`^([0-9]+y)?([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$`)
	prometheusSize = config.NewForm("a size such as 8GB", `^[0-9]*\.?[0-9]+((K|M|G|T|E|P)i?)?B$`)

	imageTag = config.NewForm("the tag of an image", `^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}$`)
	// kicGit is a git repository at a branch or tag, as BuildKit takes it.
	kicGit      = config.NewForm("a git URL", `^(?:https?://|ssh://|git@).+\.git#([\w./-]+)$`)
	kicLocation = &config.Form{Title: "a git URL ending in .git#TAG or an absolute path",
		Fits: func(text string) bool { return kicGit.Matches(text) || config.AbsolutePath.Matches(text) }}
	// taggedImage has a tag: an image without one would be a different image from day to day.
	taggedImage = &config.Form{Title: "an image with a tag, in lower case, such as nginx/nginx-ingress:5.5.4",
		Pattern: config.Image.Pattern, Fits: func(text string) bool {
			name, _, _ := strings.Cut(text, "@")
			return strings.Contains(name[strings.LastIndexByte(name, '/')+1:], ":")
		}}
)
