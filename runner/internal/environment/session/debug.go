package session

import (
	"log/slog"

	"mara/runner/internal/run/event"
)

// newLog returns the log that --debug writes.
func newLog(d Deps, on bool, masker *event.Masker) *slog.Logger {
	if !on {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(d.Stderr, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr { // before it is quoted, and not to be recognised
			if kind := a.Value.Kind(); kind == slog.KindString || kind == slog.KindAny {
				a.Value = slog.StringValue(masker.Mask(a.Value.String()))
			}
			return a
		},
	}))
}
