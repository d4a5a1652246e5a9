package profile

import (
	"os"
	"path/filepath"
	"testing"
)

// benchInstance is what a barrier program gives: every thread ran most edges.
func benchInstance(threads, edges, seq int) *Instance {
	in := &Instance{}
	for p := range threads {
		in.Parts = append(in.Parts, Part{Thread: ThreadID(p), Start: uint64(seq * 1000),
			Arrive: uint64(seq*1000 + p%7*100), Release: uint64(seq*1000 + 700), Entry: 0, Exit: 0})
	}
	in.Edges = make([]Count, 0, threads*edges)
	for e := range edges {
		for p := range threads {
			in.Edges = append(in.Edges, Count{Row: int32(e), Part: int32(p), N: uint64(e*7 + p%5 + seq%3 + 1)})
		}
	}
	return in
}

// benchWrite writes n instances and reports the time and the bytes for each.
func benchWrite(b *testing.B, threads, edges int) {
	path := filepath.Join(b.TempDir(), "lime.data")
	w, err := Create(path, Meta{})
	if err != nil {
		b.Fatal(err)
	}
	w.AddSection(Section{EndNode: None})
	for range threads {
		w.AddThread(Thread{Parent: None, Entry: None})
	}
	w.AddNode(Node{Image: None, Function: None})
	for range edges {
		w.AddEdge(Edge{From: 0, To: None})
	}
	n := 0
	for b.Loop() {
		if err := w.WriteInstance(benchInstance(threads, edges, n)); err != nil {
			b.Fatal(err)
		}
		n++
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	if st, err := os.Stat(path); err == nil {
		b.ReportMetric(float64(st.Size())/float64(n), "B/instance")
	}
}

func BenchmarkWriteTiny(b *testing.B)  { benchWrite(b, 8, 20) }
func BenchmarkWriteUsual(b *testing.B) { benchWrite(b, 64, 500) }
func BenchmarkWriteLarge(b *testing.B) { benchWrite(b, 64, 20000) }

func BenchmarkWriteTables(b *testing.B) {
	for b.Loop() {
		w, err := Create(filepath.Join(b.TempDir(), "lime.data"), Meta{})
		if err != nil {
			b.Fatal(err)
		}
		for i := range 100000 {
			n := w.AddNode(Node{Image: None, Function: None, Addr: uint64(i), LastAddr: uint64(i)})
			w.AddEdge(Edge{From: n, To: n})
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	path := filepath.Join(b.TempDir(), "lime.data")
	w, err := Create(path, Meta{})
	if err != nil {
		b.Fatal(err)
	}
	w.AddSection(Section{EndNode: None})
	for range 64 {
		w.AddThread(Thread{Parent: None, Entry: None})
	}
	w.AddNode(Node{Image: None, Function: None})
	for range 500 {
		w.AddEdge(Edge{From: 0, To: None})
	}
	for i := range 200 {
		if err := w.WriteInstance(benchInstance(64, 500, i)); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := readAll(path); err != nil {
			b.Fatal(err)
		}
	}
}
