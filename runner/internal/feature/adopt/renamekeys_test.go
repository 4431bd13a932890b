package adopt

import "testing"

func TestRenameKeys(t *testing.T) {
	t.Parallel()
	const before = "# net: ours\nencryptionsalt: v1:a\nconfig:\n  # net:cidr is big\n  net:cidr: 10.0.0.0/8 # net:cidr\n  \"net:b\": net:c\n  network:d: 1\n  net: x\n"
	const want = "# net: ours\nencryptionsalt: v1:a\nconfig:\n  # net:cidr is big\n  vpc:cidr: 10.0.0.0/8 # net:cidr\n  \"vpc:b\": net:c\n  network:d: 1\n  net: x\n"
	if got := renameKeys(before, "net", "vpc"); got != want {
		t.Errorf("got\n%s", got)
	}
}
