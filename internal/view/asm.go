// Instructions beside the source.

package view

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"lime/internal/profile"
)

// Assembler reads the instructions of a profile's blocks from the program's binaries, where the
// user allowed it: this package opens none.
type Assembler interface {
	Block(p int, v profile.NodeID) ([]Instruction, error)
}

// Instruction is an instruction of a block.
type Instruction struct {
	Addr string `json:"addr"`
	Text string `json:"text"`
	File string `json:"-"`
	Line int    `json:"line"`         // of the file that was asked for; 0 if it is of another or of none
	Of   string `json:"of,omitempty"` // the place, if it is in another file
}

// Assembly is the code of the functions in which a line has instructions.
type Assembly struct {
	Functions []string   `json:"functions"`
	Blocks    []AsmBlock `json:"blocks"` // by address
	More      int        `json:"more,omitempty"`
	Read      int        `json:"read"`
	Of        int        `json:"of"`
}

// AsmBlock is a basic block: its instructions run equally often.
type AsmBlock struct {
	Code   []Instruction `json:"code"`
	Share  float64       `json:"share"` // of the time
	Min    float64       `json:"min"`   // runs of the thread that ran it least
	Max    float64       `json:"max"`
	Failed string        `json:"failed,omitempty"` // why there are no instructions
}

// mostBlocks is how many blocks an answer has: about 64 kB.
const mostBlocks = 150

// AllowBinaries lets the page show instructions.
func (s *Server) AllowBinaries(a Assembler) { s.api.Load().asm = a }

func answerAsm(a *API, r *Run, q *query) (any, error) {
	if a.asm == nil {
		return nil, refuse("Instructions stand in the program's binaries, not in the profile: start lime view with --binaries to have them read.")
	}
	t := r.tables()
	if len(t.Files) == 0 {
		return nil, missing("the profile names no source file")
	}
	f, line, s := q.whole("f", 0, len(t.Files)-1, 0), q.whole("l", 1, 1<<30, 1), q.sectionOrAll(r)
	p := q.whole("p", 0, len(a.runs)-1, 0)
	if q.err != nil {
		return nil, q.err
	}
	nodes := blocksOf(t, profile.FileID(f), int32(line))
	if len(nodes) == 0 {
		return nil, missing("no instruction that ran is of line %d", line)
	}
	out := &Assembly{Functions: functionNames(t, nodes), Blocks: []AsmBlock{}}
	nodes, out.More = nearest(t, nodes, profile.FileID(f), int32(line))
	sums, err := r.blockSums(nodes, s)
	if err != nil {
		return nil, err
	}
	out.Read, out.Of = sums.read, sums.of
	for i, v := range nodes {
		if i > 0 && t.Nodes[nodes[i-1]].Addr == t.Nodes[v].Addr {
			continue // the same code, met in another way: its sums are with the first's
		}
		out.Blocks = append(out.Blocks, a.asmBlock(p, v, sums, t.Files[f].Path))
	}
	return out, nil
}

func (a *API) asmBlock(p int, v profile.NodeID, sums *blockSums, path string) AsmBlock {
	b := AsmBlock{Code: []Instruction{}, Share: ratio(sums.time[v], sums.total)}
	if runs := sums.runs[v]; len(runs) > 0 {
		b.Min, b.Max = slices.Min(runs), slices.Max(runs)
	}
	code, err := a.asm.Block(p, v)
	if err != nil {
		b.Failed = err.Error()
	}
	for _, i := range code {
		if i.File != path && filepath.Base(i.File) != filepath.Base(path) {
			if i.File != "" {
				i.Of = fmt.Sprintf("%s:%d", filepath.Base(i.File), i.Line)
			}
			i.Line = 0
		}
		b.Code = append(b.Code, i)
	}
	return b
}

// isOn tells whether a block begins or ends on a line, at any level of inlining.
func isOn(n *profile.Node, file profile.FileID, line int32) bool {
	on := func(f profile.Frame) bool { return f.File == file && f.Line == line }
	return slices.ContainsFunc(n.Frames, on) || slices.ContainsFunc(n.First, on)
}

// blocksOf returns the blocks of the functions that have one on a line, by address.
func blocksOf(t *profile.Tables, file profile.FileID, line int32) []profile.NodeID {
	in := map[profile.FunctionID]bool{}
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Function >= 0 && isOn(n, file, line) {
			in[n.Function] = true
		}
	}
	var out []profile.NodeID
	for i := range t.Nodes {
		if n := &t.Nodes[i]; in[n.Function] && n.Size > 0 {
			out = append(out, profile.NodeID(i))
		}
	}
	slices.SortFunc(out, func(a, b profile.NodeID) int {
		return cmp.Or(cmp.Compare(t.Nodes[a].Addr, t.Nodes[b].Addr), cmp.Compare(a, b))
	})
	return out
}

func functionNames(t *profile.Tables, nodes []profile.NodeID) []string {
	out := []string{}
	for _, v := range nodes {
		if name := t.Functions[t.Nodes[v].Function].Name; !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// nearest leaves as many blocks as fit, around the first one on the line.
func nearest(t *profile.Tables, nodes []profile.NodeID, file profile.FileID, line int32) (kept []profile.NodeID, more int) {
	if len(nodes) <= mostBlocks {
		return nodes, 0
	}
	at := slices.IndexFunc(nodes, func(v profile.NodeID) bool { return isOn(&t.Nodes[v], file, line) })
	from := max(0, min(at-mostBlocks/4, len(nodes)-mostBlocks))
	return nodes[from : from+mostBlocks], len(nodes) - mostBlocks
}

// blockSums are sums over instances by block.
type blockSums struct {
	time     map[profile.NodeID]float64
	runs     map[profile.NodeID][]float64 // by thread that took part
	total    float64                      // of all blocks
	read, of int
}

// blockSums adds up how often blocks ran, and the time that they took.
func (r *Run) blockSums(nodes []profile.NodeID, section int) (*blockSums, error) {
	t := r.tables()
	out := &blockSums{time: map[profile.NodeID]float64{}, runs: map[profile.NodeID][]float64{}}
	wanted, first := map[profile.NodeID][]float64{}, map[profile.NodeID]profile.NodeID{}
	for i, v := range nodes {
		first[v] = v
		if i > 0 && t.Nodes[nodes[i-1]].Addr == t.Nodes[v].Addr {
			first[v] = first[nodes[i-1]]
			wanted[v] = wanted[first[v]]
			continue
		}
		wanted[v] = make([]float64, len(t.Threads))
	}
	took := make([]bool, len(t.Threads))
	stored := r.src.Meta().NodeTime == "stored"
	spend := func(v profile.NodeID, time float64) {
		out.total += time
		if f, ok := first[v]; ok {
			out.time[f] += time
		}
	}
	p := &picked{Source: r.src, section: section}
	for s := range t.Sections {
		for in, err := range p.Instances(profile.SectionID(s)) {
			if err != nil {
				return nil, err
			}
			for i := range in.Parts {
				took[in.Parts[i].Thread] = true
			}
			for _, c := range in.Edges {
				e := &t.Edges[c.Row]
				v := leaves(e)
				if v < 0 || !visits(e) {
					continue
				}
				if runs := wanted[v]; runs != nil {
					runs[in.Parts[c.Part].Thread] += float64(c.N)
				}
				if !stored {
					spend(v, float64(c.N)*float64(t.Nodes[v].Instrs))
				}
			}
			for _, c := range in.Times {
				spend(profile.NodeID(c.Row), float64(c.N))
			}
		}
	}
	out.read, out.of = p.read, p.of
	for v, runs := range wanted {
		for thread, n := range runs {
			if took[thread] {
				out.runs[v] = append(out.runs[v], n)
			}
		}
	}
	return out, nil
}
