package session

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"mara/runner/internal/event"
)

// newLog is where --debug has it told what happens inside.
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

// logged is an engine whose commands are logged. Their environment, which has
// the passphrase, is not.
type logged struct {
	engine
	log *slog.Logger
	now func() time.Time
}

// Run implements auto.PulumiCommand.
func (l logged) Run(ctx context.Context, dir string, stdin io.Reader, stdout, stderr []io.Writer, env []string, args ...string) (string, string, int, error) {
	began := l.now()
	l.log.Debug("pulumi begins", "args", strings.Join(args, " "), "dir", dir)
	out, errs, code, err := l.engine.Run(ctx, dir, stdin, stdout, stderr, env, args...)
	l.log.Debug("pulumi ended", "command", commandName(args), "project", filepath.Base(dir), "exit", code, "took", l.now().Sub(began))
	return out, errs, code, err
}

// Unlock implements engine.
func (l logged) Unlock(ctx context.Context, passphrase, salt string) error {
	began := l.now()
	err := l.engine.Unlock(ctx, passphrase, salt)
	l.log.Debug("key derived", "took", l.now().Sub(began), "error", err)
	return err
}
