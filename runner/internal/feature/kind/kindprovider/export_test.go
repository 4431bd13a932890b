package kindprovider

import p "github.com/pulumi/pulumi-go-provider"

// NewProvider returns a provider that works for an owner, without the engine.
func NewProvider(open Open, owner string) p.Provider {
	return newProvider(&machine{open: open, owner: owner})
}
