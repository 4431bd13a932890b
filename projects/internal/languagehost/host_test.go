package languagehost

import (
	"context"
	"testing"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// TestEnginesAreToldApart by the connections that they ask by.
func TestEnginesAreToldApart(t *testing.T) {
	t.Parallel()
	h := &Host{Engine: "the one that has started it"}
	var tags connections
	one, two, silent := tags.TagConn(t.Context(), nil), tags.TagConn(t.Context(), nil), tags.TagConn(t.Context(), nil)
	for ctx, engine := range map[context.Context]string{one: "one", two: "two"} {
		if _, err := h.Handshake(ctx, &pulumirpc.LanguageHandshakeRequest{EngineAddress: engine}); err != nil {
			t.Fatal(err)
		}
	}
	for ctx, want := range map[context.Context]string{one: "one", two: "two", silent: h.Engine} {
		if got := h.EngineOf(tags.TagRPC(ctx, nil)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
