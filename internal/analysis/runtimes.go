package analysis

import (
	"path"
	"slices"
	"strings"

	"lime/internal/profile"
)

// runtimeRow is a runtime whose own code creates threads and tasks, and queues, steals and waits for them: by the starts of the
// names of its files and of its functions, as people write them.
type runtimeRow struct {
	name      string
	images    []string
	functions []string
}

// runtimeRows lists the runtimes. Of languages only what schedules is listed: their memory management and the like
// is work like any other.
func runtimeRows() []runtimeRow {
	return []runtimeRow{
		{"OpenMP (libgomp)", []string{"libgomp"}, []string{"GOMP_", "gomp_", "omp_"}},
		{"OpenMP (libomp)", []string{"libomp", "libiomp"}, []string{"__kmp", "kmp_"}},
		{"TBB", []string{"libtbb"}, []string{"tbb::"}},
		{"rayon", nil, []string{"rayon_core::", "<rayon_core::", "crossbeam_deque::", "crossbeam_epoch::", "<crossbeam_epoch::", "crossbeam_utils::"}},
		{"the Go scheduler", nil, []string{
			"runtime.newproc", "runtime.malg", "runtime.gfget", "runtime.gfput", "runtime.goexit", "runtime.gdestroy", // making and ending goroutines
			"runtime.schedule", "runtime.findRunnable", "runtime.findrunnable", "runtime.stealWork", "runtime.execute", "runtime.runq", "runtime.globrunq",
			"runtime.injectglist", "runtime.resetspinning", "runtime.wakep", "runtime.startm", "runtime.stopm", "runtime.mPark", "runtime.handoffp",
			"runtime.pidle", "runtime.mcall", "runtime.gogo", "runtime.casgstatus", "runtime.castogscanstatus",
			"runtime.gopark", "runtime.goready", "runtime.ready", "runtime.park_m", "runtime.goparkunlock", "runtime.Gosched", "runtime.gosched", "runtime.goschedImpl",
			"runtime.chansend", "runtime.chanrecv", "runtime.send", "runtime.recv", "runtime.selectgo", "runtime.selectnb", "runtime.acquireSudog", "runtime.releaseSudog",
			"runtime.sem", "runtime.notesleep", "runtime.notewakeup", "runtime.notetsleep", "runtime.futex", "runtime.lock", "runtime.unlock", "runtime.procyield",
			"runtime.osyield", "sync.(*Mutex)", "sync.(*RWMutex)", "sync.(*WaitGroup)", "sync.(*Cond)", "sync.runtime_", "internal/sync.(*Mutex)"}},
		{"threads and locks", []string{"libpthread"}, []string{
			"pthread_", "__pthread_", "___pthread_", "start_thread", "clone3", "__clone", "allocate_stack", "sem_wait", "sem_post", "sem_timedwait", "sem_trywait",
			"__new_sem", "__lll_", "__futex", "thrd_", "mtx_", "cnd_", "std::thread::", "std::mutex::", "std::condition_variable", "std::sync::", "<std::sync::",
			"std::sys::sync::", "std::sys::thread", "std::sys::pal::unix::thread", "std::__detail::__", "sched_yield", "__sched_yield"}},
	}
}

// languagePrefixes are the starts of functions of languages' libraries that are compiled into programs.
func languagePrefixes() []string {
	return []string{"runtime.", "runtime/", "internal/", "std::", "<std::", "core::", "<core::", "alloc::", "<alloc::", "__gnu_cxx::", "__rust", "_start", "__libc_"}
}

// layer is what a level of a call path belongs to.
type layer int

// The layers; those from 0 on are rows of runtimeRows.
const (
	layerOwn     layer = -1 // the program
	layerLibrary layer = -2 // the language's library or the system's, which works for whoever calls it
	layerForeign layer = -3 // any other library: work of its own, if a runtime calls it
)

// baseLibraries are the starts of names of libraries that runtimes are built on.
func baseLibraries() []string {
	return []string{"libc.", "libc-", "libm.", "libm-", "libmvec", "libdl", "librt.", "libpthread", "ld-", "libgcc_s", "libstdc++", "libc++", "libatomic", "libhwloc", "["}
}

// runtimes tells the levels of call paths apart.
type runtimes struct {
	tab    *profile.Tables
	rows   []runtimeRow
	images []layer // by image
	names  map[string]layer
}

func newRuntimes(tab *profile.Tables) *runtimes {
	r := &runtimes{tab: tab, rows: runtimeRows(), names: map[string]layer{}}
	for i := range tab.Images {
		r.images = append(r.images, r.image(tab.Images[i].Path))
	}
	return r
}

func (r *runtimes) image(file string) layer {
	for i := range r.rows {
		if startsWith(path.Base(file), r.rows[i].images) {
			return layer(i)
		}
	}
	switch {
	case !profile.LibraryImage(file):
		return layerOwn
	case startsWith(path.Base(file), baseLibraries()):
		return layerLibrary
	}
	return layerForeign
}

func (r *runtimes) function(name string) layer {
	l, ok := r.names[name]
	if !ok {
		l = r.find(name)
		r.names[name] = l
	}
	return l
}

func (r *runtimes) find(name string) layer {
	for i := range r.rows {
		if startsWith(name, r.rows[i].functions) {
			return layer(i)
		}
	}
	if startsWith(name, languagePrefixes()) {
		return layerLibrary
	}
	return layerOwn
}

func startsWith(s string, list []string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return strings.HasPrefix(s, p) })
}

// codeSite is the program's own code in which a sample was taken, or for which a runtime worked.
type codeSite struct {
	node  profile.NodeID // None if there is none in the path; then that of a library which worked on its own, if there is one
	frame int            // of the node's inlined frames, the innermost one that is the program's
	layer layer          // a row if a runtime's own code ran, else layerOwn
}

// site walks a call path from its innermost frame outwards to the first that is the program's own. If it meets code of a
// runtime before, that was at work; unless the runtime called another library (a thread of that library's, or a body of its regions): then that was.
func (r *runtimes) site(p profile.PathID) codeSite {
	s := codeSite{node: profile.None, layer: layerOwn}
	foreign := false
	for ; p >= 0; p = r.tab.Paths[p].Parent {
		v := r.tab.Paths[p].Node
		if v < 0 {
			continue
		}
		for i, l := range r.layers(v) {
			switch {
			case l >= 0 && s.layer < 0 && !foreign:
				s.layer = l
			case l == layerForeign && !foreign && s.layer < 0:
				s.node, s.frame, foreign = v, i, true
			case l == layerOwn:
				s.node, s.frame = v, i
				return s
			}
		}
	}
	return s
}

// layers lists the levels of a block, the innermost inlined function first.
func (r *runtimes) layers(v profile.NodeID) []layer {
	n := &r.tab.Nodes[v]
	image := layerOwn
	if n.Image >= 0 && int(n.Image) < len(r.images) {
		image = r.images[n.Image]
	}
	var out []layer
	add := func(name string) {
		l := r.function(name)
		if l < 0 && image != layerOwn { // what a library's file holds is no program's own
			l = image
		}
		out = append(out, l)
	}
	for i := range n.Frames {
		add(n.Frames[i].Function)
	}
	if len(out) == 0 {
		name := ""
		if n.Function >= 0 {
			name = r.tab.Functions[n.Function].Name
		}
		add(name)
	}
	return out
}
