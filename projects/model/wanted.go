package model

import (
	"slices"

	"mara/config"
	"mara/config/lists"
)

// Wanted is a name in the configuration that a cloud has to offer.
type Wanted struct {
	Project string // that reads the key
	Key     string
	List    List
	Name    string
}

// ofCloud reports whether a cloud offers the names of a list to all its users.
func (l List) ofCloud() bool {
	return slices.Contains([]List{Regions, Zones, KubernetesVersions, NodeTypes}, l)
}

// Wanted returns the names that some of the projects want from the lists of their cloud, and the places of the
// nodes: the configured zones, or else the region; none if neither is configured.
func (p Provider) Wanted(file config.StackFile, names []string) (wanted []Wanted, places []string) {
	region := ""
	values := p.Values(file)
	for _, q := range p.Questions {
		if q.List == Regions && region == "" {
			region = values.Text(q.Key)
		}
		project, ok := lists.Find(p.Projects(), func(project Project) bool {
			_, reads := project.Key(q.Key)
			return reads && slices.Contains(names, project.Name)
		})
		if !ok || !q.List.ofCloud() {
			continue
		}
		add := func(key, name string) {
			w := Wanted{Project: project.Name, Key: key, List: q.List, Name: name}
			if name != "" && !slices.Contains(wanted, w) {
				wanted = append(wanted, w)
			}
		}
		add(q.Key, values.Text(q.Key))
		for _, name := range values.List(q.Key) {
			add(q.Key, name)
			if q.List == Zones {
				places = append(places, name)
			}
		}
		if pools := p.Key(q.Key).Namespace() + ":pools"; q.List == NodeTypes {
			value := values.Map(pools)
			for _, name := range lists.Keys(value) {
				pool, _ := value[name].(map[string]any)
				size, _ := pool["size"].(string)
				add(pools, size)
			}
		}
	}
	if len(places) == 0 && region != "" {
		places = []string{region}
	}
	return wanted, places
}
