package harbor

import (
	"regexp"
	"strings"

	"mara/projects/internal/settings"
)

// configuration is what the machine is to be like.
type configuration struct {
	region, instanceType, image string
	version, email              string
	keys                        []string // that may log in
}

var (
	versionPattern = regexp.MustCompile(`^\d+\.\d+\.\d+$`)
	keyPattern     = regexp.MustCompile(`^(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-\S+ \S+`)
)

// readConfiguration reads what the machine is to be like; what does not fit is
// recorded in the settings.
func readConfiguration(cfg *settings.Settings) configuration {
	wanted := configuration{
		region:       cfg.String("lke:region"),
		instanceType: cfg.String("harbor:instance_type"),
		image:        cfg.String("harbor:image"),
		version:      cfg.String("harbor:version"),
		email:        cfg.String("harbor:email"),
		keys:         cfg.List("harbor:ssh_authorized_keys"),
	}
	if !versionPattern.MatchString(wanted.version) {
		cfg.Reject("harbor:version", "is %q, which is not a version such as 2.15.1", wanted.version)
	}
	// The script installs Ubuntu's packages.
	if !strings.HasPrefix(wanted.image, "linode/ubuntu") {
		cfg.Reject("harbor:image", "is %q, which is not an image of Ubuntu", wanted.image)
	}
	for _, key := range wanted.keys {
		if !keyPattern.MatchString(key) {
			cfg.Reject("harbor:ssh_authorized_keys", "has %q, which is not a public SSH key", key)
		}
	}
	return wanted
}
