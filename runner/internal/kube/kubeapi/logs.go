package kubeapi

import (
	"context"
	"fmt"
	"io"
	"strconv"
)

// Log says which lines of a Pod's log are read.
type Log struct {
	Lines    int  // the last ones; 0 for all
	Follow   bool // until the Pod or the context ends
	Previous bool // of the container before its last restart
}

// Logs opens the log of the first container of a Pod, or of a named one.
func (c *Cluster) Logs(ctx context.Context, namespace, pod, container string, log Log) (io.ReadCloser, error) {
	request := c.plain.Get().AbsPath("/api/v1/namespaces", namespace, "pods", pod, "log")
	for name, value := range map[string]string{"container": container, "tailLines": count(log.Lines), "follow": on(log.Follow), "previous": on(log.Previous)} {
		if value != "" {
			request = request.Param(name, value)
		}
	}
	stream, err := request.Stream(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the log of the Pod %s/%s: %w", namespace, pod, err)
	}
	return stream, nil
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func on(is bool) string {
	if !is {
		return ""
	}
	return "true"
}
