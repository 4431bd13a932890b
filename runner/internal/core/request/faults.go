package request

// DefaultSpeed is the default of how many times faster than the real clouds a
// simulation runs. The longest path through kind's plan takes about eight minutes in
// reality, and so about twelve seconds here.
const DefaultSpeed = 30

// Fault is a failure that many clouds know, by the name that --simulate-fail takes.
type Fault struct{ Name, About string }

// Faults lists the failures that have names.
func Faults() []Fault {
	return []Fault{
		{"quota", "a limit of the account is reached"},
		{"capacity", "the cloud has no machines of this kind left"},
		{"name-taken", "another resource has the name"},
		{"version-retired", "the version of Kubernetes is not offered any more"},
		{"not-yet-visible", "what was just created is not found, once"},
		{"not-ready", "what was created is not ready, once"},
		{"throttled", "too many requests for a minute; the provider tries again"},
		{"server-error", "an error of the cloud itself, once"},
		{"connection-lost", "the connection breaks, once"},
		{"forbidden", "the credentials may not do this"},
		{"credentials-expired", "the credentials have expired"},
		{"deletion-blocked", "something that is left blocks the deletion"},
	}
}

// FaultNames lists the names of the failures.
func FaultNames() []string {
	var names []string
	for _, fault := range Faults() {
		names = append(names, fault.Name)
	}
	return names
}
