package journal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/apitype"
	"github.com/pulumi/pulumi/sdk/v3/go/common/tokens"
)

// cutOff returns a disk with an operation that was cut off in the middle, with its state before.
func cutOff(t *testing.T) (*disk, content) {
	t.Helper()
	c := before(t, "a", "b", "c")
	d := &disk{left: 12}
	d.state, _ = compact(c.versioned)
	o := newOperation(d, c, pace{atOnce: true})
	_ = o.run()
	_ = o.Close()
	if len(d.epochs) != 1 {
		t.Fatalf("%d journals", len(d.epochs))
	}
	return d, c
}

func (d *disk) only() *stored {
	for _, j := range d.epochs {
		return j
	}
	return nil
}

// TestTorn: a record that was cut off at any byte ends a journal, and those before it count.
func TestTorn(t *testing.T) {
	t.Parallel()
	d, _ := cutOff(t)
	files := *d.only()
	whole, begun, err := parse(files)
	if err != nil || !begun || whole.records != len(files.records) {
		t.Fatalf("%d records of %d, %t, %v", whole.records, len(files.records), begun, err)
	}
	last := files.records[len(files.records)-1]
	for length := range len(last) - 1 {
		torn := files
		torn.records = append(append([][]byte(nil), files.records[:len(files.records)-1]...), last[:length])
		j, begun, err := parse(torn)
		if err != nil || !begun || j.records != whole.records-1 {
			t.Fatalf("cut off at %d: %d records, %t, %v", length, j.records, begun, err)
		}
		if _, err := replay(j); err != nil {
			t.Fatalf("cut off at %d: %v", length, err)
		}
	}
	missing := files
	missing.records = append(append([][]byte(nil), files.records[0]), files.records[2:]...)
	if j, _, err := parse(missing); err != nil || j.records == 0 {
		t.Errorf("a record is missing: %v", err)
	}
}

// TestJudge: what is done about a journal depends on the state beside it.
func TestJudge(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*testing.T, *disk, content)
		want   string // "replay", "drop" or an error
	}{
		{"cut off", func(*testing.T, *disk, content) {}, "replay"},
		{"before its first state", func(t *testing.T, d *disk, c content) { d.set(t, c) }, "replay"},
		{"before its first record", func(t *testing.T, d *disk, c content) {
			d.set(t, c)
			d.only().records = nil
		}, "drop"},
		{"its first record is torn", func(t *testing.T, d *disk, c content) {
			d.set(t, c)
			d.only().records = [][]byte{d.only().records[0][:100]}
		}, "drop"},
		{"never relied on", func(t *testing.T, d *disk, _ content) {
			d.set(t, before(t, "a", "other"))
			d.only().records = d.only().records[:1]
		}, "drop"},
		{"of another version", func(_ *testing.T, d *disk, _ content) {
			d.only().records[0] = reencode(d.only().records[0], func(r *record) { r.Header.Version = 2 })
		}, "use a newer one"},
		{"the base is damaged", func(_ *testing.T, d *disk, _ content) { d.only().others[baseName] = []byte("{}") }, "damaged"},
		{"the base is gone", func(_ *testing.T, d *disk, _ content) { delete(d.only().others, baseName) }, "damaged"},
		{"another has written a whole state", func(t *testing.T, d *disk, _ content) {
			d.set(t, before(t, "a", "other"))
		}, "something else has written"},
		{"another has written a fenced state", func(t *testing.T, d *disk, _ content) {
			c := before(t, "a", "other")
			fence(testStack, c.checkpoint.Latest, d.only().epoch)
			changed, err := encodeDeployment(testStack, apitype.TypedDeployment{Deployment: c.checkpoint.Latest, Version: 3})
			if err != nil {
				t.Fatal(err)
			}
			d.set(t, changed)
		}, "something else has written"},
		{"the journal is gone", func(_ *testing.T, d *disk, _ content) { d.epochs = nil }, "which is gone"},
		{"its beginning is gone", func(_ *testing.T, d *disk, _ content) { d.only().records = nil }, "whose beginning is gone"},
		{"another journal that was begun", func(_ *testing.T, d *disk, _ content) {
			other := *d.only()
			other.epoch = "another"
			d.epochs["another"] = &other
		}, "something else"},
		{"another that was not begun", func(_ *testing.T, d *disk, _ content) { d.epoch("another") }, "replay"},
		{"taken over, but not removed", func(t *testing.T, d *disk, _ content) {
			c := before(t, "a", "result")
			d.set(t, c)
			d.only().others[recoveryName], _ = record{Checkpoint: c.digest, Last: true}.encode()
		}, "drop"},
		{"a takeover was cut off", func(_ *testing.T, d *disk, _ content) {
			d.only().others[recoveryName], _ = record{Checkpoint: "x", Last: true}.encode()
		}, "replay"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d, c := cutOff(t)
			test.change(t, d, c)
			now, err := decodeContent(d.state)
			if err != nil {
				t.Fatal(err)
			}
			journals, _ := d.list(t.Context())
			found, err := judge(testStack, journals, now)
			got := fmt.Sprint(err)
			switch {
			case err == nil && found.replay != nil:
				got = "replay"
			case err == nil && len(found.drop) == 1:
				got = "drop"
			}
			if !strings.Contains(got, test.want) {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func (d *disk) set(t *testing.T, c content) {
	t.Helper()
	text, err := compact(c.versioned)
	if err != nil {
		t.Fatal(err)
	}
	d.state = text
}

func reencode(line []byte, change func(*record)) []byte {
	r, _ := decodeRecord(line)
	change(&r)
	line, _ = r.encode()
	return line
}

// TestStates: a state has the same digest however it is stored, and shows whether it is fenced.
func TestStates(t *testing.T) {
	t.Parallel()
	c := before(t, "a<b>&")
	text, err := compact(c.versioned)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := decodeContent(text); err != nil || again.digest != c.digest || again.fencedBy() != "" {
		t.Errorf("%v, %v", again, err)
	}
	base, sum, err := c.asBase()
	if again, decodeErr := decodeContent(base); err != nil || decodeErr != nil || again.digest != sum || sum != c.digest {
		t.Errorf("as a base: %v, %v, %s of %s", err, decodeErr, sum, c.digest)
	}
	fence(testStack, c.checkpoint.Latest, "e1")
	if c.fencedBy() != "e1" {
		t.Errorf("fenced by %q", c.fencedBy())
	}
	empty, err := decodeContent([]byte(`{"version":3,"checkpoint":{"stack":"organization/p/dev","latest":null}}`))
	if err != nil || empty.fencedBy() != "" {
		t.Errorf("a new stack: %v, %v", empty, err)
	}
	if d, err := empty.deployment(); err != nil || d == nil {
		t.Errorf("a new stack: %v, %v", d, err)
	}
	for _, broken := range []string{"", "{", `{"version":9,"checkpoint":{}}`} {
		if _, err := decodeContent([]byte(broken)); err == nil {
			t.Errorf("%q is a state", broken)
		}
	}
}

// TestFence: a state with a fence has more than the root of its stack, for Pulumi removes stacks that have no more. Without
// the fence it has what it had.
func TestFence(t *testing.T) {
	t.Parallel()
	root := apitype.ResourceV3{Type: tokens.RootStackType, URN: "urn:pulumi:dev::p::pulumi:pulumi:Stack::p-dev"}
	other := apitype.ResourceV3{Type: "test:index:Thing", URN: urnOf("a"), Custom: true, ID: "id"}
	for _, test := range []struct {
		resources []apitype.ResourceV3
		fenced    int
	}{
		{nil, 1},
		{[]apitype.ResourceV3{root}, 2},
		{[]apitype.ResourceV3{other}, 1},
		{[]apitype.ResourceV3{root, other}, 2},
	} {
		d := &apitype.DeploymentV3{Resources: test.resources}
		fence(testStack, d, "e1")
		if len(d.Resources) != test.fenced {
			t.Errorf("%d resources are %d behind a fence", len(test.resources), len(d.Resources))
		}
		for _, r := range d.Resources {
			if !r.URN.IsValid() {
				t.Errorf("the URN %q", r.URN)
			}
		}
		unfence(d)
		if len(d.Resources) != len(test.resources) || isFence(d.Manifest.Magic) || d.Metadata.IntegrityErrorMetadata != nil {
			t.Errorf("%d resources are %d in the end", len(test.resources), len(d.Resources))
		}
	}
}
