package process

import (
	"fmt"
	"os"
	"strings"
)

// FreeMemory returns how many bytes of memory new processes may take on this machine. ok is false where the system does
// not tell.
func FreeMemory() (bytes int64, ok bool) {
	content, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(content)) {
		var kilobytes int64
		if n, _ := fmt.Sscanf(line, "MemAvailable: %d kB", &kilobytes); n == 1 {
			return kilobytes << 10, true
		}
	}
	return 0, false
}
