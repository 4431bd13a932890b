package ahead

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"sync"

	"mara/runner/internal/core/pulumicli/wire"
)

// Serve starts the program that the first request names, and serves it until no more requests come. enter makes the
// directory and the environment of a request those of this process.
func Serve(requests io.Reader, replies io.Writer, enter func(dir string, env []string) error) error {
	decoder, encoder := json.NewDecoder(requests), json.NewEncoder(replies)
	var mu sync.Mutex // guards encoder
	tell := func(news wire.AheadNews) {
		mu.Lock()
		defer mu.Unlock()
		_ = encoder.Encode(news) // if the runner is gone, no more requests come
	}
	var request wire.Ahead
	if err := decoder.Decode(&request); err != nil {
		return err
	}
	orders := make(chan wire.AheadOrder)
	ctx, end := context.WithCancel(context.Background())
	go func() {
		defer close(orders)
		defer end()
		for {
			var order wire.AheadOrder
			if decoder.Decode(&order) != nil {
				return
			}
			orders <- order
		}
	}()
	early := make(chan wire.AheadNews, 3) // what the program does before the runner knows where it is
	s, err := begin(ctx, request, enter, early)
	if err != nil {
		tell(wire.AheadNews{Refused: err.Error()})
		<-ctx.Done() // the runner ends it
		return nil
	}
	defer s.close()
	_, text, _ := strings.Cut(s.port, ":")
	port, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	tell(wire.AheadNews{Serves: &wire.AheadServes{Runtime: s.runtime, Port: port}})
	go func() {
		for news := range early {
			tell(news)
		}
	}()
	for range orders {
		waits := s.waits()
		tell(wire.AheadNews{Waits: &waits})
	}
	return nil
}

func begin(ctx context.Context, request wire.Ahead, enter func(dir string, env []string) error, early chan<- wire.AheadNews) (*stage, error) {
	if err := enter(request.Dir, request.Env); err != nil {
		return nil, err
	}
	p, err := prepare(ctx, request)
	if err != nil {
		return nil, err
	}
	if p.isAttached() {
		return nil, errAttached
	}
	return newStage(ctx, p, func() { early <- wire.AheadNews{Ready: true} }, func() { early <- wire.AheadNews{Ended: true} },
		func(reason error) { early <- wire.AheadNews{Anew: reason.Error()} })
}
