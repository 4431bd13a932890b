package main

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// values returns the configuration as the interpreter takes it.
func values(config map[string]string, secretKeys []string) resource.PropertyMap {
	all := resource.PropertyMap{}
	for key, text := range config {
		value := valueOf(text)
		if slices.Contains(secretKeys, key) {
			value = resource.MakeSecret(value)
		}
		all[resource.PropertyKey(key)] = value
	}
	return all
}

// valueOf parses a string as Pulumi's own host does: as a number, a boolean or JSON, else as a
// string. A number with a leading zero, such as a zip code, is a string.
func valueOf(text string) resource.PropertyValue {
	if len(text) > 1 && text[0] == '0' && !strings.HasPrefix(text, "0.") {
		return resource.NewProperty(text)
	}
	if number, err := strconv.ParseFloat(text, 64); err == nil {
		return resource.NewProperty(number)
	}
	if truth, err := strconv.ParseBool(text); err == nil {
		return resource.NewProperty(truth)
	}
	var decoded any
	if err := json.Unmarshal([]byte(text), &decoded); err == nil {
		return resource.NewPropertyValue(decoded)
	}
	return resource.NewProperty(text)
}
