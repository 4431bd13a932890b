package trace

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// target is the endpoint that spans are sent to.
type target struct {
	url     string            // of the traces; empty for the exporter's default
	headers map[string]string // from the environment; may hold secrets
}

// readTarget reads the variables that configure traces; nil if none asks for them.
// The exporter reads its other variables, such as certificates and timeouts, itself.
func readTarget(getenv func(string) string) (*target, error) {
	if strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return nil, nil
	}
	all, traces := getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	switch exporter := getenv("OTEL_TRACES_EXPORTER"); exporter {
	case "none":
		return nil, nil
	case "otlp":
	case "":
		if all == "" && traces == "" {
			return nil, nil
		}
	default:
		return nil, fmt.Errorf("OTEL_TRACES_EXPORTER is %q; traces go to otlp or none", exporter)
	}
	protocol := cmp.Or(
		getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), getenv("OTEL_EXPORTER_OTLP_PROTOCOL"), "http/protobuf")
	if protocol != "http/protobuf" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q; traces are sent as http/protobuf only", protocol)
	}
	t := &target{url: traces}
	if traces == "" && all != "" {
		t.url = strings.TrimRight(all, "/") + "/v1/traces"
	}
	parsed, err := url.Parse(t.url)
	if t.url != "" && (err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "") {
		return nil, fmt.Errorf("the endpoint of the OTEL_EXPORTER_OTLP_ variables is no http or https address")
	}
	t.headers = headers(cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS"), getenv("OTEL_EXPORTER_OTLP_HEADERS")))
	return t, nil
}

// headers parses name=value pairs, separated by commas.
func headers(text string) map[string]string {
	out := map[string]string{}
	for _, pair := range strings.Split(text, ",") {
		name, value, ok := strings.Cut(pair, "=")
		if decoded, err := url.PathUnescape(strings.TrimSpace(value)); ok && err == nil {
			out[strings.TrimSpace(name)] = decoded
		}
	}
	return out
}

func (t *target) exporter(ctx context.Context) (sdk.SpanExporter, error) {
	var options []otlptracehttp.Option
	if t.url != "" {
		options = append(options, otlptracehttp.WithEndpointURL(t.url))
	}
	if len(t.headers) > 0 {
		options = append(options, otlptracehttp.WithHeaders(t.headers))
	}
	return otlptracehttp.New(ctx, options...)
}

// sender keeps the first error of sending. The library would print errors on stderr,
// in the middle of a frame.
type sender struct {
	sdk.SpanExporter

	mu    sync.Mutex
	first error // guarded by mu
}

// ExportSpans sends spans, and never returns an error.
func (s *sender) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if err := s.SpanExporter.ExportSpans(ctx, spans); err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.first == nil {
			s.first = err
		}
	}
	return nil
}

func (s *sender) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first
}
