package naming

// The longest names that the programs give to what they make in a cloud. Who looks
// for these names has to shorten them in the same way.
const (
	AWSClusterLimit   = 100 // EKS
	DigitalOceanLimit = 50  // less than what DigitalOcean takes for any name and for a tag
	LinodeLimit       = 32  // for a firewall, which is the strictest
)
