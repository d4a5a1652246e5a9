package ledger

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"lime/internal/profile"
)

// Section accounts for the imbalance of all instances of one section. It reads them one after the
// other, works on several at once, and adds them up in their order, so that the result does not
// depend on the number of workers.
func Section(src profile.Source, id profile.SectionID, opts Options) (*Account, error) {
	return New(src).Section(id, opts)
}

// Ledger makes the accounts of one profile's sections; what they have in common is computed once.
type Ledger struct {
	src    profile.Source
	meta   *profile.Meta
	tab    *profile.Tables
	guide  *guide
	placed placed
	slabs  sync.Pool // of *[]float64: the rows of instances that have been entered

	Runtime func(profile.NodeID) bool // tells a runtime's own code from the program's; nil = not known
}

// New returns the ledger of a profile.
func New(src profile.Source) *Ledger {
	tab := src.Tables()
	return &Ledger{src: src, meta: src.Meta(), tab: tab, guide: newGuide(tab), placed: placements(tab)}
}

// Section is the account of one section.
func (l *Ledger) Section(id profile.SectionID, opts Options) (*Account, error) {
	if id < 0 || int(id) >= len(l.tab.Sections) {
		return nil, fmt.Errorf("ledger: section %d of %d", id, len(l.tab.Sections))
	}
	b, err := l.booked(id, opts.Workers)
	if err != nil {
		return nil, fmt.Errorf("ledger: section %d: %w", id, err)
	}
	return b.close(opts), nil
}

// booked is the book of a section with all its instances, its rows brought home and netted.
func (l *Ledger) booked(id profile.SectionID, workers int) (*book, error) {
	b := newBook(l, id)
	err := l.each(id, workers, func(r *result) error {
		b.enter(r)
		return nil
	})
	b.arrange()
	return b, err
}

type job struct {
	inst *profile.Instance
	done chan outcome
}

type outcome struct {
	r   *result
	err error
}

// each accounts for every instance of a section and hands the results over in their order.
func (l *Ledger) each(id profile.SectionID, workers int, take func(*result) error) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	jobs, order := make(chan job), make(chan job, workers)
	for range workers {
		go l.work(jobs)
	}
	read := make(chan error, 1)
	go func() {
		read <- l.read(ctx, id, jobs, order)
	}()
	for j := range order {
		o := <-j.done
		if o.err == nil && o.r != nil {
			o.err = take(o.r)
			l.recycle(o.r)
		}
		if o.err != nil {
			cancel()
			for range order { // let the reader end
			}
			<-read
			return o.err
		}
	}
	return <-read
}

// read hands the instances to the workers, and the same jobs in order to the taker.
func (l *Ledger) read(ctx context.Context, id profile.SectionID, jobs, order chan<- job) error {
	defer close(order)
	defer close(jobs)
	for inst, err := range l.src.Instances(id) {
		if err != nil {
			return err
		}
		j := job{inst, make(chan outcome, 1)}
		select {
		case <-ctx.Done():
			return nil
		case order <- j:
		}
		jobs <- j
	}
	return nil
}

func (l *Ledger) work(jobs <-chan job) {
	var mem scratch
	for j := range jobs {
		r, err := l.instance(j.inst, &mem)
		j.done <- outcome{r, err}
	}
}

// instance accounts for one instance; one without threads has no account.
func (l *Ledger) instance(inst *profile.Instance, mem *scratch) (*result, error) {
	if len(inst.Parts) == 0 {
		return nil, nil
	}
	for i := range inst.Parts {
		if p := &inst.Parts[i]; p.Arrive < p.Start {
			return nil, fmt.Errorf("instance %d: thread %d arrives at %d, before its start at %d", inst.Seq, p.Thread, p.Arrive, p.Start)
		}
	}
	return l.account(inst, mem)
}
