package event

import (
	"io"
	"log/slog"
)

// DebugLog returns the log that --debug writes, with secrets masked.
func (m *Masker) DebugLog(w io.Writer, on bool) *slog.Logger {
	if !on {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr { // before quoting, which would hide a secret from the masker
			if kind := a.Value.Kind(); kind == slog.KindString || kind == slog.KindAny {
				a.Value = slog.StringValue(m.Mask(a.Value.String()))
			}
			return a
		},
	}))
}
