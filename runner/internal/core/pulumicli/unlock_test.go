package pulumicli

import "testing"

// TestUnlock: a worker gets the keys of whoever has a command for it, once.
func TestUnlock(t *testing.T) {
	t.Parallel()
	one := newTestPool(t)
	two := one.Beside()
	two.Unlock("c", []byte("3"))
	for _, step := range []struct {
		do   func()
		pool *Pool
		want string
	}{
		{func() {}, one, ", given 0"},
		{func() { one.Unlock("a", []byte("1")) }, one, "a=1, given 1"},
		{func() {}, one, "a=1, given 1"},
		{func() { one.Unlock("b", []byte("2")) }, one, "a=1 b=2, given 2"},
		{func() {}, two, "c=3, given 3"},
		{func() {}, one, "a=1 b=2, given 4"},
		{func() { one.Unlock("a", []byte("9")) }, one, "b=2 a=9, given 5"},
	} {
		step.do()
		if got, _, _, err := run(t, step.pool, "keys"); err != nil || got != step.want {
			t.Errorf("got %q, %v, want %q", got, err, step.want)
		}
	}
	if n := two.Started(); n != 1 {
		t.Errorf("%d workers were started", n)
	}
}
