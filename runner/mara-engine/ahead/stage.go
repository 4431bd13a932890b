package ahead

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"mara/projects/monitor"
)

// stage runs one program ahead, and serves the engine that comes for it.
type stage struct {
	*program
	gate  *gate
	first *host // has started the program
	port  string

	anew     func(reason error) // told when the program is started anew
	foreseen []func()           // ask what the engine will ask

	ran    chan struct{} // closed when the program has ended
	answer *pulumirpc.RunResponse
	err    error

	mu      sync.Mutex // guards what follows
	engine  string     // address
	taken   bool       // the engine has come for the program
	running sync.WaitGroup
	over    bool
	hosts   []*host // all but the first
	plain   *host   // for what is not about the program; nil until it is needed
}

// newStage starts a program. held is called when it waits, ended when it has ended before its turn, and anew when it is
// started again.
func newStage(ctx context.Context, p *program, held, ended func(), anew func(error)) (s *stage, err error) {
	s = &stage{program: p, anew: anew, ran: make(chan struct{})}
	methods := append(s.foreseenMethods(),
		monitor.Method("Handshake", s.handshake),
		monitor.Method("Run", s.runFor),
		monitor.Method("Cancel", s.cancel))
	if s.gate, err = newGate(p.run, func() { held(); go s.learn() }); err != nil {
		return nil, err
	}
	if s.first, err = startHost(ctx, p.host, p.run.GetPwd(), s.gate.engine, s.gate.say); err != nil {
		s.gate.close()
		return nil, err
	}
	own := proto.CloneOf(p.run)
	own.MonitorAddress, own.LoaderTarget, own.MapperTarget = s.gate.monitor, s.gate.loader, s.gate.loader
	go func() {
		s.answer, s.err = s.first.Run(context.Background(), own)
		close(s.ran)
		if !s.isTaken() {
			ended()
		}
	}()
	s.port, err = listen(context.Background(), pulumirpc.LanguageRuntime_ServiceDesc.ServiceName, methods, s.forward)
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// stream is the number by which an engine collates what the program prints; those of its own plugins are small.
const stream = 1 << 20

func line(text string) *pulumirpc.LogRequest {
	return &pulumirpc.LogRequest{Severity: pulumirpc.LogSeverity_INFO, Message: text, StreamId: stream}
}

// say passes on a line that the program has printed, or keeps it for later.
func (g *gate) say(text string) { _, _ = g.log(context.Background(), line(text)) } // an engine that is gone shows nothing

func (s *stage) isTaken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}

// waits reports whether the program still waits for its turn.
func (s *stage) waits() bool {
	select {
	case <-s.ran:
		return false
	default:
		return !s.isTaken()
	}
}

// handshake learns which engine has come.
func (s *stage) handshake(_ context.Context, request *pulumirpc.LanguageHandshakeRequest) (
	*pulumirpc.LanguageHandshakeResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.engine = request.GetEngineAddress()
	return &pulumirpc.LanguageHandshakeResponse{}, nil
}

// runFor runs the program for the engine: it lets the program that waits go on, or starts it anew.
func (s *stage) runFor(ctx context.Context, request *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	s.running.Add(1)
	defer s.running.Done()
	err := s.take(ctx, request)
	switch {
	case errors.Is(err, errDiffers):
		s.anew(err)
		return s.runAnew(ctx, request)
	case err != nil:
		s.first.end()
		return nil, err
	}
	select {
	case <-s.ran:
	case <-ctx.Done():
		s.first.end()
		return nil, ctx.Err()
	}
	s.first.end()            // so that all that the program has printed is told
	if !s.gate.used.Load() { // it has ended at the same moment
		s.anew(errors.New("it has asked nothing"))
		return s.runAnew(ctx, request)
	}
	return s.answer, s.err
}

// take lets the program go on for an engine.
func (s *stage) take(ctx context.Context, request *pulumirpc.RunRequest) error {
	s.mu.Lock()
	engine, again := s.engine, s.taken
	s.taken = true
	s.mu.Unlock()
	if again {
		return fmt.Errorf("%w: it has run", errDiffers)
	}
	select {
	case <-s.ran:
		s.first.end()
		return fmt.Errorf("%w: it has ended", errDiffers)
	default:
	}
	err := error(nil)
	if !isSame(s.run, request) {
		err = fmt.Errorf("%w: it is given something else", errDiffers)
	} else {
		err = s.gate.open(ctx, engine, request)
	}
	if err != nil {
		s.gate.close()
		s.first.end()
	}
	return err
}

// isSame reports whether two requests are the same but for the addresses of the engine.
func isSame(a, b *pulumirpc.RunRequest) bool {
	a, b = proto.CloneOf(a), proto.CloneOf(b)
	for _, r := range []*pulumirpc.RunRequest{a, b} {
		r.MonitorAddress, r.LoaderTarget, r.MapperTarget = "", "", ""
		slices.Sort(r.ConfigSecretKeys)
	}
	return proto.Equal(a, b)
}

// runAnew starts the program as the engine would have done.
func (s *stage) runAnew(ctx context.Context, request *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	h, err := s.start()
	if err != nil {
		return nil, err
	}
	defer h.end()
	defer context.AfterFunc(ctx, h.end)()
	return h.Run(ctx, request)
}

// start starts another language host for the engine.
func (s *stage) start() (*host, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.startLocked()
}

func (s *stage) startLocked() (*host, error) {
	if s.over {
		return nil, errors.New("the run is over")
	}
	conn, err := dial(s.engine)
	if err != nil {
		return nil, err
	}
	engine := pulumirpc.NewEngineClient(conn)
	h, err := startHost(context.Background(), s.host, s.run.GetPwd(), s.engine, func(text string) {
		_, _ = engine.Log(context.Background(), line(text)) // an engine that is gone shows nothing
	})
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	s.hosts = append(s.hosts, h)
	return h, nil
}

// aboutProgram are the methods that the host of the program may answer while the program waits.
var aboutProgram = []string{"GetRequiredPlugins", "GetProgramDependencies", "GetPluginInfo"}

// forward passes on all other calls: to the host of the program while it waits, else to one for the rest of the run.
func (s *stage) forward(_ any, call grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(call)
	name := method[strings.LastIndex(method, "/")+1:]
	if slices.Contains(aboutProgram, name) && s.waits() {
		return passOn(call, s.first.conn)
	}
	h, err := s.plainHost()
	if err != nil {
		return err
	}
	return passOn(call, h.conn)
}

// plainHost returns the host for what is not about the program that waits.
func (s *stage) plainHost() (h *host, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plain == nil {
		s.plain, err = s.startLocked()
	}
	return s.plain, err
}

// cancel does nothing: an engine says it at the end of each of the contexts in which it uses a language host, one of which
// ends before the program runs. A program ends when the engine no longer waits for it.
func (s *stage) cancel(context.Context, *emptypb.Empty) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, nil
}

// close ends all that the stage has started. A program that an engine has come for goes on until the engine is done with
// it, as it does beside an engine whose runner is gone.
func (s *stage) close() {
	if s.isTaken() {
		s.running.Wait()
	}
	s.mu.Lock()
	s.over = true
	hosts := append([]*host{s.first}, s.hosts...)
	s.mu.Unlock()
	s.gate.close()
	for _, h := range hosts {
		h.end()
	}
}
