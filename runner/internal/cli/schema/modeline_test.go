package schema

import "testing"

func TestModeline(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ releases, version, want string }{
		{"https://github.com/o/r/releases", "1.2.3", "# yaml-language-server: $schema=https://github.com/o/r/releases/download/v1.2.3/mara.schema.json\n"},
		{"https://github.com/o/r/releases/", "1.2.3-rc.1", "# yaml-language-server: $schema=https://github.com/o/r/releases/download/v1.2.3-rc.1/mara.schema.json\n"},
		{"", "1.2.3", ""},
		{"https://github.com/o/r/releases", "development", ""},
	} {
		if got := Modeline(tt.releases, tt.version); got != tt.want {
			t.Errorf("%s of %s: got %q, want %q", tt.version, tt.releases, got, tt.want)
		}
	}
}

func TestWithModeline(t *testing.T) {
	t.Parallel()
	const line = "# yaml-language-server: $schema=mara.schema.json"
	for _, tt := range []struct{ name, in, want string }{
		{"none", "projects:\n", line + "\nprojects:\n"},
		{"empty", "", line + "\n"},
		{"other line ends", "projects:\r\n", line + "\r\nprojects:\r\n"},
		{"the same", line + "\nprojects:\n", line + "\nprojects:\n"},
		{"another, below a comment", "# ours\n# yaml-language-server: $schema=https://x/y.json\r\nprojects:\n", "# ours\n" + line + "\r\nprojects:\n"},
		{"in a text", "a: |\n" + line + "\n", line + "\na: |\n" + line + "\n"},
	} {
		if got := WithModeline(tt.in, "mara.schema.json"); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
