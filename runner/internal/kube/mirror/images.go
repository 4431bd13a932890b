package mirror

import (
	"regexp"
	"strings"
)

// imagesIn lists the images that an object names: in any field named image, at any depth,
// for custom resources have them in different places; in arguments, which configure the
// images of operators; and in environment variables whose names contain IMAGE.
func imagesIn(object any) []string {
	var found []string
	switch typed := object.(type) {
	case map[string]any:
		if image, ok := typed["image"].(string); ok && image != "" {
			found = append(found, image)
		}
		if variable := strings.ToUpper(text(typed, "name")); strings.Contains(variable, "IMAGE") {
			found = append(found, pinned(text(typed, "value"))...)
		}
		for key, value := range typed {
			if key == "args" || key == "command" {
				found = append(found, imagesInArguments(value)...)
			}
			found = append(found, imagesIn(value)...)
		}
	case []any:
		for _, item := range typed {
			found = append(found, imagesIn(item)...)
		}
	}
	return found
}

// imagesInArguments lists the values of flags that are images. Either the value begins
// with a registry's host, or the name of the flag contains image.
func imagesInArguments(arguments any) []string {
	list, _ := arguments.([]any)
	var found []string
	for _, item := range list {
		argument, _ := item.(string)
		flag, value, ok := strings.Cut(argument, "=")
		if ok && strings.HasPrefix(flag, "-") && (strings.Contains(flag, "image") || hosted.MatchString(value)) {
			found = append(found, pinned(value)...)
		}
	}
	return found
}

// The grammar of image names with a tag or a digest; hosted ones begin with the
// host of a registry.
var (
	tagged = regexp.MustCompile(`^[a-zA-Z0-9][\w.-]*(?::\d+)?(?:/[a-z0-9][\w.-]*)*` +
		`(?::\w[\w.-]*|(?::\w[\w.-]*)?@sha256:[0-9a-f]+)$`)
	hosted = regexp.MustCompile(`^(?:[\w-]+(?:\.[\w-]+)+(?::\d+)?|localhost(?::\d+)?|[\w-]+:\d+)/[^:]+[:@]`)
)

// pinned returns the text if it is an image name with a tag or a digest.
func pinned(text string) []string {
	if !tagged.MatchString(text) {
		return nil
	}
	return []string{text}
}
