package event

import (
	"sync"
	"time"
)

// Emitter takes events from any number of goroutines and hands them, in the
// order in which they came, to its sinks from a single one.
//
// It never drops an event and never makes the sender wait: a terminal that is
// held with Ctrl-S must not hold up a deployment. What is not yet delivered is
// kept in memory. A sink may itself emit; its event comes after those already
// waiting.
type Emitter struct {
	run    string
	masker *Masker
	now    func() time.Time
	sinks  []Sink
	done   chan struct{} // closed when everything is delivered

	mu      sync.Mutex
	wake    *sync.Cond // signals that queue or closing changed
	queue   []Event    // guarded by mu
	closing bool       // guarded by mu; ends when the queue is empty
	closed  bool       // guarded by mu
}

// EmitterOptions are the inputs of NewEmitter.
type EmitterOptions struct {
	// Run is the id that every event carries.
	Run string
	// Masker hides secrets in free text; nil hides nothing.
	Masker *Masker
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Sinks receive every event, each in the given order.
	Sinks []Sink
}

// NewEmitter starts an emitter. The caller must Close it.
func NewEmitter(o EmitterOptions) *Emitter {
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &Emitter{run: o.Run, masker: o.Masker, now: o.Now, sinks: o.Sinks, done: make(chan struct{})}
	m.wake = sync.NewCond(&m.mu)
	go m.deliver()
	return m
}

// Emit stamps the event with the run's id and, if it has none, the time,
// removes escape sequences and secrets from its free text, and queues it. After
// Close it does nothing: the run is over.
func (m *Emitter) Emit(e Event) {
	e = m.masker.Event(e.withTexts(clean))
	e.Run = m.run
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	if e.Time.IsZero() {
		e.Time = m.now().UTC() // under the lock, so that times never run backwards
	}
	m.queue = append(m.queue, e)
	m.wake.Signal()
}

// Close delivers what is waiting, including what sinks emit meanwhile, and
// returns when the last event has been handed over. It may be called again.
func (m *Emitter) Close() {
	m.mu.Lock()
	m.closing = true
	m.wake.Signal()
	m.mu.Unlock()
	<-m.done
}

// deliver hands events to the sinks until the emitter is closed and drained.
func (m *Emitter) deliver() {
	defer close(m.done)
	for batch := m.next(); batch != nil; batch = m.next() {
		for _, e := range batch {
			for _, s := range m.sinks {
				s.Emit(e)
			}
		}
	}
}

// next waits for events and takes all of them. It returns nil when the emitter
// is closed and nothing is left.
func (m *Emitter) next() []Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.queue) == 0 && !m.closing {
		m.wake.Wait()
	}
	batch := m.queue
	m.queue = nil
	if len(batch) == 0 {
		m.closed = true
		return nil
	}
	return batch
}
