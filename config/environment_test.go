package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseEnvironment(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     []Variable
	}{
		{"empty file", "", nil},
		{"comments only", "# one\n\n  # two", nil},
		{"plain", "A=1\nB=two words\n", []Variable{{"A", "1", 1}, {"B", "two words", 2}}},
		{"no trailing newline", "A=1\nB=2", []Variable{{"A", "1", 1}, {"B", "2", 2}}},
		{"windows line ends", "A=1\r\nB=\"2\"\r\n", []Variable{{"A", "1", 1}, {"B", "2", 2}}},
		{"byte order mark", "\uFEFFA=1\n", []Variable{{"A", "1", 1}}},
		{"export", "export A=1\nexport\tB='2'\nexportC=3", []Variable{{"A", "1", 1}, {"B", "2", 2}, {"exportC", "3", 3}}},
		{"spaces around", "  A = 1  \n", []Variable{{"A", "1", 1}}},
		{"percent", "A=100%\nB=%s%20%(x)s", []Variable{{"A", "100%", 1}, {"B", "%s%20%(x)s", 2}}},
		{"equals and colon in the value", "A=s3://b?x=y:z", []Variable{{"A", "s3://b?x=y:z", 1}}},
		{"double quotes", `A="a b" # c`, []Variable{{"A", "a b", 1}}},
		{"single quotes keep everything", `A='$x \n # %'`, []Variable{{"A", `$x \n # %`, 1}}},
		{"quotes in quotes", `A="it's"` + "\n" + `B='say "x"'` + "\n" + `C="a\"b"`, []Variable{{"A", "it's", 1}, {"B", `say "x"`, 2}, {"C", `a"b`, 3}}},
		{"escapes in double quotes", `A="a\nb\\c"`, []Variable{{"A", "a\nb\\c", 1}}},
		{"several lines", "A=\"x\ny\"\nB=3", []Variable{{"A", "x\ny", 1}, {"B", "3", 3}}},
		{"hash inside a word", "A=a#b\nB=#c", []Variable{{"A", "a#b", 1}, {"B", "#c", 2}}},
		{"comment after a value", "A=a # b # c", []Variable{{"A", "a", 1}}},
		{"comment instead of a value", "A= # not yet\nB=", []Variable{{"A", "", 1}, {"B", "", 2}}},
		{"reference to a line above", "A=1\nB=$A-${A}\nC=\"${A}!\"", []Variable{{"A", "1", 1}, {"B", "1-1", 2}, {"C", "1!", 3}}},
		{"dollar that refers to nothing", `A=5$` + "\n" + `B=a\$HOME`, []Variable{{"A", "5$", 1}, {"B", "a$HOME", 2}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseEnvironment("environment", []byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Variables()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseEnvironmentRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"no equals sign", "A=1\nPULUMI_STACK dev\n", "f:2: has no =; write NAME=value"},
		{"yaml", "A: 1", "f:1: has no =; write NAME=value"},
		{"an access token", "A=1\nPULUMI_ACCESS_TOKEN=pul-x", "f:2: PULUMI_ACCESS_TOKEN is a token that everybody"},
		{"no name", "=1", "f:1: does not start with a variable name"},
		{"name with a space", "A B=1", "f:1: does not start with a variable name"},
		{"name with an umlaut", "Ä=1", "f:1: does not start with a variable name"},
		{"twice", "A=1\nB=2\nA=3", "f:3: A is set a second time; the first time is line 1"},
		{"open quote", "A=\"x\nB=1", "f:1: A has no closing quote"},
		{"backslash at the end", "A='x\\'\nB=1", "f:1: A has no closing quote: a quote after a backslash does not count; write a value that ends with a backslash without quotes"},
		{"text after the quote", `A="x"y`, "f:1: A has text after the closing quote"},
		{"quote before the end", `A="x\""`, "f:1: A has a quote where it cannot be read"},
		{"lost backslash", `A="C:\temp"`, "f:1: A has a backslash that escapes nothing"},
		{"unknown reference", "A=pa$WORD", "f:1: A has a $ that refers to no line above"},
		{"reference to a line below", "A=$B\nB=1", "f:1: A has a $"},
		{"positional parameter", "A=x$5y", "f:1: A has a $"},
		{"command", "A=$(date)", "f:1: A has a $"},
		{"default value", "B=1\nA=${B:-x}", "f:2: A has a $"},
		{"reference in small letters", "a=1\nB=$a", "f:2: B refers to a; only names in capitals"},
		{"latin 1", "A=p\xe4ss", "f: is not a text file in UTF-8"},
		{"zero byte", "A=\x00", "f: is not a text file in UTF-8"},
		{"old mac line ends", "A=1\rB=2", "f:1: has a carriage return inside the line"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseEnvironment("f", []byte(tt.in))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestParseEnvironmentReportsEverything(t *testing.T) {
	t.Parallel()
	right, err := ParseEnvironment("f", []byte("A\nB=\"\nC=$X\nPULUMI_STACK=dev"))
	want := "3 problems in the configuration:\n" +
		"  f:1: has no =; write NAME=value\n" +
		"  f:2: B has no closing quote\n" +
		"  f:3: C has a $ that refers to no line above; put the value in single quotes to keep the $"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if diff := cmp.Diff([]Variable{{Name: "PULUMI_STACK", Value: "dev", Line: 4}}, right.Variables()); diff != "" {
		t.Errorf("the lines that are right (-want +got):\n%s", diff)
	}
}

func TestReadEnvironment(t *testing.T) {
	t.Parallel()
	root := newRoot(t, nil)
	if got, err := ReadEnvironment(root); err != nil || len(got.Variables()) != 0 {
		t.Errorf("missing file: got %v, %v", got, err)
	}
	write(t, root, EnvironmentFile, "A=1")
	if got, err := ReadEnvironment(root); err != nil || len(got.Variables()) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	directory := newRoot(t, nil)
	if err := os.Mkdir(filepath.Join(directory, EnvironmentFile), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := ReadEnvironment(directory)
	if err == nil || err.Error() != "config/pulumi/environment: is a directory" {
		t.Errorf("unreadable: %v", err)
	}
}

func TestSourcesLookup(t *testing.T) {
	t.Parallel()
	file, err := ParseEnvironment(EnvironmentFile, []byte("A=file\nEMPTY=\n"))
	if err != nil {
		t.Fatal(err)
	}
	sources := Sources{File: file, Process: []string{"A=process", "B=old", "B=process", "EMPTY=process", "C=", "=x"}}
	fromProcess := func(name string) Value {
		return Value{Text: "process", Origin: Origin{Source: FromProcess, Name: name}}
	}
	fromFile := Value{Text: "file", Origin: Origin{Source: FromFile, Name: "A", File: EnvironmentFile, Line: 1}}
	tests := []struct {
		name  string
		names []string
		want  Value
	}{
		{"the file wins", []string{"A"}, fromFile},
		{"the file wins by any name", []string{"B", "A"}, fromFile},
		{"the last of the process wins", []string{"B"}, fromProcess("B")},
		{"empty in the file counts as not set", []string{"EMPTY"}, fromProcess("EMPTY")},
		{"empty in the process counts as not set", []string{"C"}, Value{}},
		{"nowhere", []string{"D"}, Value{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, sources.Lookup(tt.names...)); diff != "" {
				t.Error(diff)
			}
		})
	}
	merged := map[string]string{"A": "file", "B": "process", "C": "", "EMPTY": ""}
	if diff := cmp.Diff(merged, file.Merge(sources.Process)); diff != "" {
		t.Error(diff)
	}
}

// FuzzParseEnvironment holds four promises for any file: no panic, no value in an
// error, each variable is in its line, and a quoted value comes out as it went
// in.
func FuzzParseEnvironment(f *testing.F) {
	for _, seed := range []string{"A=1", "export B='x'\r\n", "A=\"x\ny\"", "A=$A\n#", `C="\"`, "\uFEFFA= # x"} {
		f.Add(seed, "p$ss#%")
	}
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "\n", `\n`, "\r", `\r`)
	f.Fuzz(func(t *testing.T, text, value string) {
		const marker = "s3cr3tvalue"
		_, err := ParseEnvironment("f", []byte(text+"\nSECRET="+marker+"\nBAD="+marker+"$NOWHERE"+marker))
		if err != nil && strings.Contains(err.Error(), marker) {
			t.Errorf("the error shows a value: %v", err)
		}
		if file, err := ParseEnvironment("f", []byte(text)); err == nil {
			lines := strings.Split(text, "\n")
			for _, v := range file.Variables() {
				if v.Line > len(lines) || !strings.Contains(lines[v.Line-1], v.Name) {
					t.Errorf("in %q, %s is not in line %d", text, v.Name, v.Line)
				}
			}
		}
		if strings.ToValidUTF8(value, "") != value || strings.Contains(value, "\x00") {
			return
		}
		if !strings.HasPrefix(value, `"`) && !strings.HasSuffix(value, `"`) && !strings.HasSuffix(value, `\`) {
			checkQuoted(t, `"`+escape.Replace(value)+`"`, value)
		}
		if !strings.ContainsAny(value, "'\r") && !strings.HasSuffix(value, `\`) && !strings.HasPrefix(value, `\"`) && !strings.HasSuffix(value, `\"`) {
			checkQuoted(t, "'"+value+"'", value)
		}
	})
}

// checkQuoted reads a value in quotes.
func checkQuoted(t *testing.T, quoted, want string) {
	t.Helper()
	got, err := ParseEnvironment("f", []byte("A="+quoted))
	if err != nil {
		t.Fatal(err)
	}
	if v := got.Variables()[0].Value; v != want {
		t.Errorf("%s is read as %q, want %q", quoted, v, want)
	}
}

// newRoot makes a root with these files.
func newRoot(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, Directory, "secrets"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		write(t, root, name, content)
	}
	return root
}

func write(t *testing.T, root, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
