package harbor

import "mara/projects/internal/settings"

// configuration is what the machine is to be like.
type configuration struct {
	region, instanceType, image string
	version, email              string
	keys                        []string // that may log in
}

// readConfiguration reads what the machine is to be like.
func readConfiguration(cfg *settings.Settings) configuration {
	return configuration{
		region:       cfg.String("lke:region"),
		instanceType: cfg.String("harbor:instance_type"),
		image:        cfg.String("harbor:image"),
		version:      cfg.String("harbor:version"),
		email:        cfg.String("harbor:email"),
		keys:         cfg.List("harbor:ssh_authorized_keys"),
	}
}
