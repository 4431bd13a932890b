// Package contain turns panics of functions that programs apply to outputs into
// errors. Pulumi calls such functions in goroutines of its own, where a panic
// would end the process, and with it all other programs that it runs.
package contain

import (
	"context"
	"fmt"
)

// Try returns fn with its panics as errors, for ApplyT.
func Try[T, R any](fn func(T) (R, error)) func(T) (R, error) {
	return func(value T) (result R, err error) {
		defer recoverTo(&err)
		return fn(value)
	}
}

// Value wraps a function like Try, without an error.
func Value[T, R any](fn func(T) R) func(T) (R, error) {
	return Try(func(value T) (R, error) { return fn(value), nil })
}

// TryContext wraps a function like Try, for ApplyTWithContext.
func TryContext[T, R any](fn func(context.Context, T) (R, error)) func(context.Context, T) (R, error) {
	return func(ctx context.Context, value T) (result R, err error) {
		defer recoverTo(&err)
		return fn(ctx, value)
	}
}

func recoverTo(err *error) {
	if caught := recover(); caught != nil {
		*err = fmt.Errorf("the program panicked: %v", caught)
	}
}
