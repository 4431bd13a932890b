package projects

import (
	"regexp"
	"strconv"
	"strings"

	"mara/config"
)

var (
	awsSize    = regexp.MustCompile(`^([a-z])[0-9][a-z0-9-]*\.(?:(large|xlarge)|([0-9]+)xlarge)$`)
	linodeSize = regexp.MustCompile(`^g[678]-(standard|dedicated|premium)-([0-9]+)(-[0-9]+)?$`)
	doSize     = regexp.MustCompile(`^[a-z0-9-]+-([0-9]+)gb(-[a-z]+)?$`)
)

// memoryOf returns the memory of a type of nodes in GiB, as the name tells; 0 if it does not.
func memoryOf(nodeType string) int {
	if found := awsSize.FindStringSubmatch(nodeType); found != nil {
		perCPU := map[string]int{"c": 2, "m": 4, "t": 4, "r": 8}[found[1]]
		number, _ := strconv.Atoi(found[3])
		cpus := map[string]int{"large": 2, "xlarge": 4}[found[2]] + 4*number
		return perCPU * cpus
	}
	if found := linodeSize.FindStringSubmatch(nodeType); found != nil {
		number, _ := strconv.Atoi(found[2])
		switch {
		case found[3] != "": // g8-dedicated-8-4 has 8 GB and 4 processors
			return number
		case found[1] == "standard":
			return map[int]int{1: 2, 2: 4, 4: 8, 6: 16, 8: 32, 16: 64, 20: 96, 24: 128, 32: 192}[number]
		}
		return map[int]int{2: 4, 4: 8, 8: 16, 16: 32, 32: 64, 48: 96, 50: 128, 56: 256, 64: 512}[number]
	}
	if found := doSize.FindStringSubmatch(nodeType); found != nil {
		number, _ := strconv.Atoi(found[1])
		return number
	}
	return 0
}

// heapFits doubts a Java heap for which the nodes have no memory. A Pod of OpenSearch needs about twice its heap.
func heapFits(key string) config.Rule {
	return func(v config.Values) []config.Finding {
		heap := v.Text(key)
		for _, of := range []struct{ node, pools string }{
			{"eks:instance_type", "eks:pools"}, {"lke:node_type", "lke:pools"}, {"doks:node_size", "doks:pools"},
		} {
			memory := memoryOf(v.Text(of.node))
			if gigabytes := inGiB(heap); memory > 0 && len(v.Map(of.pools)) == 0 && 2*gigabytes > float64(memory) {
				return config.Doubtful(key, "is %s, of which a Pod needs twice as much, and a node has %d GiB: %s", heap, memory,
					v.WithDefault(of.node))
			}
		}
		return nil
	}
}

// inGiB returns the size that Java is given, such as 2g or 512m.
func inGiB(heap string) float64 {
	if heap == "" {
		return 0
	}
	number, err := strconv.ParseFloat(heap[:len(heap)-1], 64)
	switch unit := strings.ToLower(heap[len(heap)-1:]); {
	case err != nil:
		return 0
	case unit == "g":
		return number
	case unit == "m":
		return number / 1024
	}
	return 0
}
