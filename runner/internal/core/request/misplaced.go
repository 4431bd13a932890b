package request

import (
	"fmt"
	"path"
	"strings"

	"mara/config"
	"mara/config/lists"
	"mara/projects/model"
)

// Misplaced finds keys in the stack file that no project of the provider reads: keys that have the name of a project's
// directory instead of the project's are problems, keys of other providers are doubts. Layers may hold the keys of
// several providers. keys are the declared keys of the request.
func (r Request) Misplaced(
	provider model.Provider, keys []config.Key, file config.StackFile,
) (problems, doubts []config.Problem) {
	declared := map[string]bool{}
	for _, key := range keys {
		declared[key.Name] = true
	}
	for _, entry := range file.Entries {
		switch {
		case declared[entry.Key]:
			if owner := r.ownerElsewhere(provider, entry.Key); owner != "" && entry.File == "" {
				text := fmt.Sprintf("is read by no project of %s; %s reads it", provider.Name, owner)
				doubts = append(doubts, file.Problem(entry.Key, text))
			}
		default:
			if meant := keyOfDirectory(provider, entry.Key, declared); meant != "" {
				const text = "is read by no project; keys have the name of the project, not of its directory: did you mean %q?"
				problems = append(problems, file.Problem(entry.Key, fmt.Sprintf(text, meant)))
			}
		}
	}
	return problems, doubts
}

// ownerElsewhere returns the project of other providers that reads a key; "" if one of the provider reads it, too.
func (r Request) ownerElsewhere(provider model.Provider, key string) string {
	reads := func(p model.Project) bool {
		_, ok := p.Key(key)
		return ok
	}
	if _, ok := lists.Find(provider.Projects(), reads); ok || provider.Name == "" {
		return ""
	}
	project, _ := lists.Find(r.Known().Projects, reads)
	return project.Name
}

// keyOfDirectory returns the declared key of an own project whose directory has the name of a key's namespace, or "".
func keyOfDirectory(provider model.Provider, name string, declared map[string]bool) string {
	namespace, rest, _ := strings.Cut(name, ":")
	for _, project := range provider.Own() {
		if meant := project.Name + ":" + rest; path.Base(project.Path) == namespace && declared[meant] {
			return meant
		}
	}
	return ""
}

// MisplacedOwn finds keys in the stack file next to a project that nobody reads: one that the program does not declare,
// one of another project or of a directory, and one that had the project's name before it was renamed.
func (r Request) MisplacedOwn(
	provider model.Provider, project model.Project, keys []config.Key, file config.StackFile,
) (doubts []config.Problem) {
	declared := map[string]bool{}
	for _, key := range keys {
		declared[key.Name] = true
	}
	doubt := func(key, format string, args ...any) {
		doubts = append(doubts, file.Problem(key, fmt.Sprintf(format, args...)))
	}
	for _, entry := range file.Entries {
		key := entry.Key
		namespace, rest, _ := strings.Cut(key, ":")
		mine := project.Name + ":" + rest
		other, isProject := r.Known().Project(namespace)
		isOther := isProject && namespace != project.Name
		meant := keyOfDirectory(provider, key, declared)
		switch {
		case isOther && !declared[key]:
			doubt(key, "has the namespace of %s, and is in the file of %s", other.Name, project.Name)
		case declared[key]:
		case meant != "":
			doubt(key, "is read by no project; keys have the name of the project, not of its directory: did you mean %q?", meant)
		case isProject && project.Own.Runtime == "yaml" && len(project.Keys)+len(project.Secrets) == 0:
			doubt(key, "is read by no project: %s/%s declares no configuration", project.Path, config.ManifestFile)
		case isProject:
			if text := config.Unknown(keys, key); text != "" {
				doubt(key, "%s", text)
			}
		case declared[mine]:
			doubt(key, "is read by no project; left over of a rename? %s reads %s", project.Name, mine)
		}
	}
	return doubts
}
