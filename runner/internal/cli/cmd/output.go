package cmd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// WriteJSON prints a document as indented JSON.
func WriteJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(document)
}

// Show prints a result as JSON if --output asks for it, or else as text.
func (i Invocation) Show(d Deps, document any, text string) error {
	if i.Output == "json" {
		return WriteJSON(d.Stdout, document)
	}
	_, err := io.WriteString(d.Stdout, text)
	return err
}

// OrDash returns text, or "-" if it is empty.
func OrDash(text string) string { return cmp.Or(text, "-") }

// Ago formats an age the way kubectl does.
func Ago(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds ago", int(max(d, 0).Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	}
	return fmt.Sprintf("%dd ago", int(d.Hours()/24))
}
