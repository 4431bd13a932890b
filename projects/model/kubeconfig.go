package model

import (
	"encoding/base64"
	"errors"
	"strings"
)

// DecodeKubeconfig decodes a kubeconfig that a cluster project exports: some clouds provide it
// in base64, which has no colons.
func DecodeKubeconfig(output string) (string, error) {
	if strings.Contains(output, ":") {
		return output, nil
	}
	text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(output))
	if err != nil {
		return "", errors.New("is neither a kubeconfig nor base64 of one")
	}
	return string(text), nil
}
