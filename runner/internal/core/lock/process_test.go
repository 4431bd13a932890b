package lock_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"mara/runner/internal/core/lock"
)

// TestMain lets the test binary play other runners.
func TestMain(m *testing.M) {
	switch os.Getenv("LOCK_TEST_ROLE") {
	case "":
		os.Exit(m.Run())
	case "holder":
		hold(os.Getenv("LOCK_TEST_PATH"))
	case "counter":
		count(os.Getenv("LOCK_TEST_PATH"))
	}
}

// play starts the test binary in a role.
func play(t *testing.T, role, path string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "LOCK_TEST_ROLE="+role, "LOCK_TEST_PATH="+path)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	return c, bufio.NewScanner(out)
}

// acquireOutside returns Acquire in another process.
func acquireOutside(path, run string) *lock.Lock {
	o := lock.Options{Path: path, Owner: lock.Self("up", run, time.Now()), Wait: time.Minute}
	l, err := acquireBusily(context.Background(), o)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return l
}

// hold takes the lock and waits to be killed.
func hold(path string) {
	acquireOutside(path, "held")
	fmt.Println("held")
	select {}
}

// count adds one to a number in a file again and again, and says so each time.
// Without the lock others would overwrite what it adds.
func count(path string) {
	for {
		l := acquireOutside(path, "counter")
		number := path + ".number"
		text, _ := os.ReadFile(number)
		n, _ := strconv.Atoi(string(text))
		temporary := fmt.Sprintf("%s.%d", number, os.Getpid())
		err := errors.Join(os.WriteFile(temporary, []byte(strconv.Itoa(n+1)), 0o600), os.Rename(temporary, number))
		fmt.Println("added", err)
		if err := errors.Join(err, l.Release()); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}

func TestKilledOwnerIsTakenOver(t *testing.T) {
	t.Parallel()
	o := options(t)
	holder, out := play(t, "holder", o.Path)
	if !out.Scan() || out.Text() != "held" {
		t.Fatalf("got %q", out.Text())
	}
	_, err := lock.Acquire(t.Context(), o)
	var held *lock.HeldError
	if !errors.As(err, &held) || held.Owner.PID != holder.Process.Pid || held.Owner.Run != "held" {
		t.Fatalf("got %v", err)
	}
	if state, _, _ := lock.Inspect(o.Path); state != lock.Held {
		t.Errorf("while it runs: %s", state)
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	waitForState(t, o.Path, lock.Abandoned) // even before its parent has waited for it
	o.Wait = 10 * time.Second               // its last threads may not have ended
	l := mustAcquire(t, o)
	if l.Previous != held.Owner {
		t.Errorf("taken over from %+v", l.Previous)
	}
	mustRelease(t, l)
	expectGone(t, o.Path)
}

func TestBreakOfADeadOwner(t *testing.T) {
	t.Parallel()
	o := options(t)
	holder, out := play(t, "holder", o.Path)
	out.Scan()
	_ = holder.Process.Kill()
	_ = holder.Wait()
	if state, _, _ := lock.Inspect(o.Path); state != lock.Abandoned {
		t.Errorf("state %s", state)
	}
	if owner, err := lock.Break(o.Path); err != nil || owner.Run != "held" {
		t.Errorf("got %+v, %v", owner, err)
	}
	expectGone(t, o.Path)
}

func waitForState(t *testing.T, path string, want lock.State) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		state, _, err := lock.Inspect(path)
		if state == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("state %s, %v, want %s", state, err, want)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestOnlyOneProcess lets processes fight for the lock and kills one after the
// other: what they have added must all be there. A process may be killed after
// it has added and before it has said so, so there may be one more for each.
func TestOnlyOneProcess(t *testing.T) {
	t.Parallel()
	o := options(t)
	const processes, between = 10, 15
	added, ended := make(chan string), make(chan struct{})
	var counters []*exec.Cmd
	for range processes {
		c, out := play(t, "counter", o.Path)
		counters = append(counters, c)
		go func() {
			for out.Scan() {
				added <- out.Text()
			}
			ended <- struct{}{}
		}()
	}
	sum, running := 0, processes
	for running > 0 {
		select {
		case text := <-added:
			if text != "added <nil>" {
				t.Error(text)
			}
			if sum++; sum%between == 0 && sum/between <= processes {
				_ = counters[sum/between-1].Process.Kill()
			}
		case <-ended:
			running--
		}
	}
	o.Wait = 10 * time.Second // the last threads of the last process may not have ended
	l := mustAcquire(t, o)
	text, err := os.ReadFile(o.Path + ".number")
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < sum || n > sum+processes || sum < processes*between {
		t.Errorf("the number is %d, %d were added by %d processes, %v", n, sum, processes, err)
	}
	mustRelease(t, l)
	expectGone(t, o.Path)
}
