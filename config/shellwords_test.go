package config

import "testing"

func TestShellSyntax(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"./smoke.sh && ./other.sh": "&&", "a || b": "||", "a | b": "|", "a ; b": ";", "a; b": ";", "a > out": ">", "a >out": ">out",
		"a >> out": ">>", "a 2>&1": "2>&1", "a 2> /dev/null": "2>", "a < in": "<", "a &": "&", "./x $HOME": "$HOME", "./x ${HOME}/y": "${HOME}",
		`./x "$HOME"`: "$HOME", "./x $(date)": "$(date)", "./x `date`": "`", "a\nb": "a second line", "a\n\nb\n": "a second line",
		"FOO=1 ./x": "FOO=1", "cd app": "cd", "cd app && ./x": "cd", "ls ~/x": "~/", "sh -c 'a' && b": "&&", `"my tool" && b`: "&&",
	} {
		if got := shellSyntax(text, false); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{
		"", "./smoke.sh", "./smoke.sh --url http://x/?a=1&b=2", "sh -c 'a && b > c; d $X'", `sh -c "a && b $X"`, `bash -euc "a | b"`, "./x 'a && b'",
		`./x "a; b"`, "go test -run A|B", "grep foo$ file", "echo 5", `./x \$HOME`, "pip install x>=1.0", "./x a=b", "a.sh\n", "./x '$HOME'", "./x a;b", "psql -c 'select 1;'",
		"./x --filter >=3", "./x ${{", "./x C:\\dir",
	} {
		if got := shellSyntax(text, false); got != "" {
			t.Errorf("%q: got %q", text, got)
		}
	}
	if got := shellSyntax("./migrate --to $(VERSION)", true); got != "" {
		t.Errorf("Kubernetes replaces it: %q", got)
	}
	if got := shellSyntax("./migrate --to $VERSION", true); got != "$VERSION" {
		t.Errorf("got %q", got)
	}
}
