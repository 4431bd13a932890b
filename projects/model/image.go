package model

import "strings"

// SplitImage splits the name of an image into repository, tag and digest; tag and digest may be "".
func SplitImage(name string) (repository, tag, digest string) {
	repository, digest, _ = strings.Cut(name, "@")
	if colon := strings.LastIndexByte(repository, ':'); colon > strings.LastIndexByte(repository, '/') {
		repository, tag = repository[:colon], repository[colon+1:]
	}
	return repository, tag, digest
}
