// Command manyranks writes synthetic profiles of the ranks of one run, for the benchmark of
// docs/ranks.md:
//
//	go run ./scripts/manyranks -ranks 4096 -events 2000 DIR
//
// Each rank has so many events (edges of a control-flow graph) in each of its instances; a tenth of
// them differ from rank to rank, and one explains the time. The files of the program lie at another
// address in each process.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"sync"

	"lime/internal/profile"
	"lime/internal/ranks"
)

func main() {
	n := flag.Int("ranks", 4096, "ranks")
	events := flag.Int("events", 2000, "events of each")
	meetings := flag.Int("meetings", 4, "collective operations")
	flag.Parse()
	dir := flag.Arg(0)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		log.Fatal(err)
	}
	work := make(chan int)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for r := range work {
				if err := write(ranks.FileOf(dir, r), r, *n, *events, *meetings); err != nil {
					log.Fatal(err)
				}
			}
		})
	}
	for r := range *n {
		work <- r
	}
	close(work)
	all.Wait()
}

// write writes the profile of one rank.
func write(path string, rank, of, events, meetings int) error {
	base := 0x55550000_0000 + uint64(rank)<<20
	w, err := profile.Create(path, profile.Meta{Tool: "manyranks", Collector: "simulate", Model: "count",
		Command: []string{"./app"}, Cores: 1, ClockUnit: "instructions",
		NodeTime: "visits", EndState: "exited", Complete: true, Resolved: true,
		RankInfo: profile.RankInfo{Launcher: "manyranks", Rank: rank, Ranks: of, Host: "host", Job: "1"}})
	if err != nil {
		return err
	}
	rows(w, base, events)
	clock := uint64(0)
	for k := range meetings {
		in := &profile.Instance{Meeting: &profile.Meeting{Communicator: "world", N: uint64(k)}}
		t := uint64(0)
		for e := range events {
			c := uint64(1000 + e)
			switch {
			case e == 7:
				c = uint64(100_000 + 100*rank) // what makes the ranks uneven
			case e%10 == 0:
				c += uint64((rank * (e + 1)) % 17)
			}
			t += c
			in.Edges = append(in.Edges, profile.Count{Row: int32(e), N: c})
		}
		in.Parts = []profile.Part{{Start: clock, Arrive: clock + t, Release: clock + t, Entry: 0, Exit: profile.NodeID(events / 2)}}
		clock += t
		if err := w.WriteInstance(in); err != nil {
			return err
		}
	}
	return w.Close()
}

// rows are the tables: a chain of blocks, each of which may also go back to itself.
func rows(w *profile.Writer, base uint64, events int) {
	im := w.AddImage(profile.Image{Path: "/bin/app", BuildID: "ab", Base: base, Lo: base, Hi: base + 1<<20})
	file := w.AddFile(profile.File{Path: "/src/app.c"})
	fn := w.AddFunction(profile.Function{Image: im, Name: "main", Link: "main", Entry: base, File: file, Line: 1})
	for i := range events/2 + 1 {
		at := []profile.Frame{{File: file, Line: int32(i + 1), Function: "main"}}
		addr := base + uint64(16*i)
		w.AddNode(profile.Node{Image: im, Addr: addr, Size: 16, Instrs: 1, LastAddr: addr + 12, Kind: profile.EndCond,
			Function: fn, Frames: at, First: at})
	}
	for i := range events / 2 {
		w.AddEdge(profile.Edge{From: profile.NodeID(i), To: profile.NodeID(i), Kind: profile.EdgeTaken})
		w.AddEdge(profile.Edge{From: profile.NodeID(i), To: profile.NodeID(i + 1), Kind: profile.EdgeFall})
	}
	w.AddSection(profile.Section{Kind: profile.SectionMeeting, EndAddr: base + 8*uint64(events),
		EndNode: profile.NodeID(events / 2), Frames: []profile.Frame{{File: file, Line: int32(events), Function: "main"}}})
	w.AddThread(profile.Thread{Name: fmt.Sprint("app"), Parent: profile.None, Entry: fn})
}
