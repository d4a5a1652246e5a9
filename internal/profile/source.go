package profile

import (
	"errors"
	"iter"
)

// ErrNoPaths is what reports and exports of call paths return for a profile without any.
var ErrNoPaths = errors.New("the profile holds no call paths: record them with 'lime record'")

// Source is a profile to read: a file (Reader) or one in memory (Profile).
// What it hands out must not be changed. Its methods may be called from several
// goroutines at once, and several iterations may run at the same time.
type Source interface {
	Meta() *Meta
	Tables() *Tables
	// Instances yields the section's instances in the order of Seq. After an error it stops.
	Instances(SectionID) iter.Seq2[*Instance, error]
	InstanceCount(SectionID) int
}

// Sink takes a profile from a collector: a file (Writer) or one in memory (Profile).
// Rows may refer only to rows added before, except for what the resolver fills in.
type Sink interface {
	AddImage(Image) ImageID
	AddFile(File) FileID
	AddFunction(Function) FunctionID
	AddNode(Node) NodeID
	AddEdge(Edge) EdgeID
	AddKind(EventKind) int32
	AddEvent(Event) EventID
	AddSection(Section) SectionID
	AddThread(Thread) ThreadID
	AddPath(PathNode) PathID
	AddPathSample(PathSample)
	AddWasteTotal(WasteTotal)
	AddWastePair(WastePair)
	AddLock(Lock) LockID
	AddLockWait(LockWait)
	AddLockHold(LockHold)
	AddAccount(Accounted)
	AddTrace(Trace)
	// SetThread replaces a thread's row, when its end is known.
	SetThread(ThreadID, Thread)
	// SetEventDetail replaces the detail of an event, when more of them have been seen.
	SetEventDetail(EventID, string)
	// WriteInstance sets the instance's Seq, sorts its counts, and stores it. The caller
	// must not change it afterwards.
	WriteInstance(*Instance) error
	// UpdateMeta replaces the description of the run.
	UpdateMeta(Meta) error
}

// Tables are the profile's tables, indexed by id.
type Tables struct {
	Images      []Image
	Files       []File
	Functions   []Function
	Nodes       []Node
	Edges       []Edge
	Kinds       []EventKind
	Events      []Event
	Sections    []Section
	Threads     []Thread
	Paths       []PathNode
	PathSamples []PathSample
	WasteTotals []WasteTotal
	Accounts    []Accounted
	Traces      []Trace
	WastePairs  []WastePair
	Locks       []Lock
	LockWaits   []LockWait
	LockHolds   []LockHold

	merged []SectionID // new id by old one, nil if none changed; see MergeSections
}

// add appends a row and returns its id.
func add[ID ~int32, Row any](rows *[]Row, r Row) ID {
	*rows = append(*rows, r)
	return ID(len(*rows) - 1)
}

// AddImage appends an image.
func (t *Tables) AddImage(r Image) ImageID { return add[ImageID](&t.Images, r) }

// AddFile appends a source file.
func (t *Tables) AddFile(r File) FileID { return add[FileID](&t.Files, r) }

// AddFunction appends a function.
func (t *Tables) AddFunction(r Function) FunctionID { return add[FunctionID](&t.Functions, r) }

// AddNode appends a node.
func (t *Tables) AddNode(r Node) NodeID { return add[NodeID](&t.Nodes, r) }

// AddEdge appends an edge.
func (t *Tables) AddEdge(r Edge) EdgeID { return add[EdgeID](&t.Edges, r) }

// AddKind appends a kind of event.
func (t *Tables) AddKind(r EventKind) int32 { return add[int32](&t.Kinds, r) }

// AddEvent appends an event.
func (t *Tables) AddEvent(r Event) EventID { return add[EventID](&t.Events, r) }

// AddSection appends a section.
func (t *Tables) AddSection(r Section) SectionID { return add[SectionID](&t.Sections, r) }

// AddThread appends a thread.
func (t *Tables) AddThread(r Thread) ThreadID { return add[ThreadID](&t.Threads, r) }

// AddPath appends a node of the call-path tree.
func (t *Tables) AddPath(r PathNode) PathID { return add[PathID](&t.Paths, r) }

// AddPathSample appends a metric of a call path.
func (t *Tables) AddPathSample(r PathSample) { t.PathSamples = append(t.PathSamples, r) }

// SetEventDetail replaces the detail of an event.
func (t *Tables) SetEventDetail(id EventID, detail string) { t.Events[id].Detail = detail }

// SetThread replaces the row of a thread.
func (t *Tables) SetThread(id ThreadID, r Thread) { t.Threads[id] = r }
