package config

import (
	"net/mail"
	"regexp"
)

// Form is what a text has to look like, in words for the user.
type Form string

// The forms of texts.
const (
	Email Form = "an e-mail address"
	Host  Form = "a host name in lower case"
)

// hostName is that of a DNS entry: an Ingress takes no other, and no address.
const hostName = `^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`

func (f Form) fits(text string) bool {
	switch f {
	case Email:
		address, err := mail.ParseAddress(text)
		return err == nil && address.Address == text
	case Host:
		return len(text) <= 253 && regexp.MustCompile(hostName).MatchString(text)
	}
	return true
}
