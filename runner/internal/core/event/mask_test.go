package event_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unicode"

	"mara/runner/internal/core/event"
)

func TestMask(t *testing.T) {
	t.Parallel()
	const password = `s3cr"et&pass`
	auth := base64.StdEncoding.EncodeToString([]byte("admin:hunter2hunter2:x"))
	key := "-----BEGIN KEY-----\n" + strings.Repeat("Ab3/", 12) + "\n-----END KEY-----\n"
	kubeconfig := "server: https://127.0.0.1:6443/with/a/very/long/path\ntoken: " + strings.Repeat("tok", 15) + "\n"
	tests := map[string]struct {
		secrets  []string
		in, want string
	}{
		"nothing known":         {in: "hello", want: "hello"},
		"plain":                 {secrets: []string{"hunter2hunter2"}, in: "password=hunter2hunter2!", want: "password=[secret]!"},
		"every time":            {secrets: []string{"hunter2"}, in: "hunter2 hunter2", want: "[secret] [secret]"},
		"too short":             {secrets: []string{"true", "", "dev12"}, in: "true dev12", want: "true dev12"},
		"longest first":         {secrets: []string{"hunter2", "hunter2hunter3"}, in: "hunter2hunter3 hunter2", want: "[secret] [secret]"},
		"overlapping":           {secrets: []string{"hunter2-and", "and-another-one"}, in: "hunter2-and-another-one.", want: "[secret]."},
		"overlapping itself":    {secrets: []string{"aaaaaa"}, in: "aaaaaaaaab", want: "[secret]b"},
		"surrounding space":     {secrets: []string{" hunter2\n"}, in: "<hunter2>", want: "<[secret]>"},
		"in JSON":               {secrets: []string{password}, in: fmt.Sprintf("%q", password), want: `"[secret]"`},
		"in a query":            {secrets: []string{password}, in: "https://x?p=" + url.QueryEscape(password), want: "https://x?p=[secret]"},
		"hex":                   {secrets: []string{"hunter2"}, in: "0x" + hex.EncodeToString([]byte("a:hunter2;")), want: "0x613a[secret]3b"},
		"hex in capitals":       {secrets: []string{"hünter2"}, in: strings.ToUpper(hex.EncodeToString([]byte("hünter2"))), want: "[secret]"},
		"base64":                {secrets: []string{"hunter2"}, in: base64.StdEncoding.EncodeToString([]byte("hunter2")), want: "[secret]"},
		"base64 without filler": {secrets: []string{"hunter2"}, in: base64.RawURLEncoding.EncodeToString([]byte("hunter2")), want: "[secret]"},
		"base64 with a name":    {secrets: []string{"hunter2hunter2"}, in: auth, want: "YWRtaW46[secret]6eA=="},
		"line of a key":         {secrets: []string{key}, in: "bad line " + strings.Repeat("Ab3/", 12) + ".", want: "bad line [secret]."},
		"words of a key stay":   {secrets: []string{key}, in: "-----BEGIN KEY-----", want: "-----BEGIN KEY-----"},
		"token of a kubeconfig": {secrets: []string{kubeconfig}, in: "Bearer " + strings.Repeat("tok", 15), want: "Bearer [secret]"},
		"its address stays":     {secrets: []string{kubeconfig}, in: "dial https://127.0.0.1:6443/with/a/very/long/path", want: "dial https://127.0.0.1:6443/with/a/very/long/path"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := event.NewMasker(tt.secrets...).Mask(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestMaskBase64AtEveryOffset(t *testing.T) {
	t.Parallel()
	const secret = "correct horse battery"
	m := event.NewMasker(secret)
	for before := range 7 {
		for after := range 4 {
			text := strings.Repeat("b", before) + secret + strings.Repeat("a", after)
			in := base64.StdEncoding.EncodeToString([]byte(text))
			got := m.Mask(in)
			if !strings.Contains(got, event.Masked) || len(got)-len(event.Masked) > len(in)-24 {
				t.Errorf("%d before, %d after: %q stays %q", before, after, in, got)
			}
		}
	}
}

func TestMaskEventCoversEveryFreeText(t *testing.T) {
	t.Parallel()
	const secret = "hunter2hunter2"
	// Names of the catalogue and words of closed sets are what a stream is read by.
	names := map[string]bool{
		"Run": true, "Type": true, "Project": true, "Title": true, "Operation": true, "Provider": true, "Stack": true,
		"Action": true, "Status": true, "Severity": true, "Hook": true, "Result": true, "Ran": true, "Undeclared": true,
	}
	var e event.Event
	e.Resource = event.Resource{Type: secret, Name: secret}
	e.Properties = []string{"data." + secret}
	v := reflect.ValueOf(&e).Elem()
	for i := range v.NumField() {
		if v.Field(i).Kind() == reflect.String && !names[v.Type().Field(i).Name] {
			v.Field(i).SetString("has " + secret)
		}
	}
	line, err := event.Marshal(event.NewMasker(secret).Event(e))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(line), secret) {
		t.Errorf("a field is not masked: %s", line)
	}
}

func TestNilMasker(t *testing.T) {
	t.Parallel()
	var m *event.Masker
	if got := m.Event(event.Event{Message: m.Mask("hello")}).Message; got != "hello" {
		t.Errorf("got %q", got)
	}
}

func TestMaskerIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	var m event.Masker
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			secret := fmt.Sprintf("secret-number-%d", i)
			m.Add(secret)
			if got := m.Mask(secret); got != event.Masked {
				t.Errorf("got %q", got)
			}
		})
	}
	wg.Wait()
}

// FuzzMask: not one byte of a secret stays, whatever is around it and however it
// is encoded, and nothing else goes.
func FuzzMask(f *testing.F) {
	f.Add("hunter2hunter2", "and-another-one", "password=", " ", "\n")
	f.Add("aaaaaa", "aaaaaaaa", "aa", "", "b")
	f.Add("[secret]", "secret", "[", "]", "[secret]")
	f.Add("pass\"w<rd>", "p&ss?/ w\\rd", "{\"a\": \"", "\", \"b\": ", "}")
	f.Add(" \nABCDEF\r\n", "ABCDEF\x00", "\xff", "\xfe", "é")
	f.Fuzz(func(t *testing.T, secret, other, before, between, after string) {
		m := event.NewMasker(secret, other)
		text := before + secret + between + other + after
		for _, known := range []string{secret, other} {
			forms := []string{strings.TrimSpace(known)}
			if len(forms[0]) < 6 {
				continue
			}
			texts := []string{text}
			for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
				forms = append(forms, encoding.EncodeToString([]byte(known)))
				texts = append(texts, before+encoding.EncodeToString([]byte(known))+after)
			}
			for _, form := range forms {
				for _, text := range texts {
					checkHidden(t, text, m.Mask(text), form)
				}
			}
		}
		plain := strings.Map(func(r rune) rune { return 'あ' + r%64 }, text)
		if got := event.NewMasker(ascii(secret), ascii(other)).Mask(plain); got != plain {
			t.Errorf("without a secret in it, %q became %q", plain, got)
		}
	})
}

// checkHidden holds that masking has taken every byte of every occurrence of a
// form away, and has put nothing but masks into the text.
func checkHidden(t *testing.T, text, masked, form string) {
	t.Helper()
	covered, end := 0, 0
	for from := 0; ; from++ {
		i := strings.Index(text[from:], form)
		if i < 0 {
			break
		}
		from += i
		covered += from + len(form) - max(end, from)
		end = from + len(form)
	}
	stays, total := 0, len(text)
	for piece := range strings.SplitSeq(masked, event.Masked) {
		i := strings.Index(text, piece)
		if i < 0 || strings.Contains(piece, form) {
			t.Fatalf("%q became %q, with %q in it", text, masked, piece)
		}
		text = text[i+len(piece):]
		stays += len(piece)
	}
	if stays > total-covered {
		t.Errorf("%q still has a part of %q", masked, form)
	}
}

// ascii returns the ASCII characters of a text.
func ascii(text string) string {
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII {
			return -1
		}
		return r
	}, text)
}

func BenchmarkMask(b *testing.B) {
	m := event.NewMasker("hunter2hunter2", "correct horse battery", strings.Repeat("k", 64))
	text := strings.Repeat("creating kubernetes:core/v1:Secret something long; ", 20)
	for b.Loop() {
		m.Mask(text)
	}
}
