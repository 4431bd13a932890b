package event

import (
	"testing"
	"time"

	"mara/projects/model/operation"
)

// TestStanding: what a run has done, has cut off and has not begun is said in one sentence, also where its last events are missing.
func TestStanding(t *testing.T) {
	t.Parallel()
	projects := []Project{{Name: "net"}, {Name: "db"}, {Name: "shop"}, {Name: "mail"}}
	at := time.Unix(1, 0)
	finished := func(name string, result Result) Event {
		return Event{Type: StepFinished, Time: at, Project: name, Result: result}
	}
	started := func(name string) Event { return Event{Type: StepStarted, Time: at, Project: name} }
	did := func(name string, action Action) Event {
		return Event{Type: StepProgress, Project: name, Action: action, Status: ActionDone}
	}
	for name, test := range map[string]struct {
		operation operation.Operation
		events    []Event
		want      string
	}{
		"nothing began": {operation.Up, nil, "0 of 4 projects done, 4 never began"},
		"killed": {operation.Up, []Event{started("net"), finished("net", Succeeded), started("db"), did("db", Create), did("db", Create),
			did("db", Same), started("shop")}, "1 of 4 projects done, 2 cut off in the middle (db, shop; 2 resources made), 1 never began"},
		"killed while it destroyed": {operation.Destroy, []Event{started("mail"), did("mail", Delete)},
			"0 of 4 projects done, 1 cut off in the middle (mail; 1 resource deleted), 3 never began"},
		"a failure": {operation.Up, []Event{started("net"), did("net", Update), finished("net", Failed), finished("db", Cancelled),
			finished("shop", Skipped), finished("mail", Skipped)}, "0 of 4 projects done, 1 failed (net), 3 never began"},
		"interrupted": {operation.Up, []Event{started("net"), did("net", Update), did("net", Create), finished("net", Cancelled)},
			"0 of 4 projects done, 1 cut off in the middle (net; 2 resources changed), 3 never began"},
		"unchanged": {operation.Up, []Event{started("net"), {Type: StepFinished, Project: "net", Result: Skipped, Unchanged: "run"}, started("db")},
			"1 of 4 projects done, 1 cut off in the middle (db), 2 never began"},
		"a preview changes nothing": {operation.Preview, []Event{started("net"), did("net", Create)},
			"0 of 4 projects done, 1 cut off in the middle (net), 3 never began"},
	} {
		var s Summary
		s.Apply(Event{Type: RunStarted, Time: at, Operation: test.operation, Projects: projects})
		for _, e := range test.events {
			s.Apply(e)
		}
		if got := s.Standing().String(); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, test.want)
		}
	}
}
