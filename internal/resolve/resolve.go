// Package resolve fills a profile with what its addresses mean: functions, inlined
// frames, source positions, and the text of the source lines that they name. After
// it, reports need neither the program nor its sources. It may import binfile,
// symbol, x86, graph, profile, safe and unit; it must not know collectors, analysis or output. What
// cannot be found becomes a note of the profile, not an error.
package resolve

import (
	"fmt"
	"path/filepath"
	"slices"

	"lime/internal/binfile"
	"lime/internal/origin"
	"lime/internal/profile"
	"lime/internal/symbol"
)

// Options say where to look and how much to keep.
type Options struct {
	DebugDirs  []string               // roots of separate debug files; nil: the system's
	SourceDirs []string               // where sources may lie besides where the debug information says
	AllFrames  bool                   // keep what the standard library inlined into the program's lines
	NamesOnly  func(path string) bool // of which images the functions are enough, where their lines stand in a separate file; nil: of none
	Context    int                    // source lines kept before and after a named one; 0: DefaultContext, less: none
}

// DefaultContext is the number of source lines kept on either side of a named one.
const DefaultContext = 5

// Codes of the notes that this package writes.
const (
	NoteImageMissing = "image-missing" // the program or library cannot be read
	NoteImageChanged = "image-changed" // it was built anew since the run
	NoteNoDebugInfo  = "no-debug-info" // functions only, no lines
	NoteSplitMissing = "split-missing" // files with split debug information (.dwo) that were not found
	NoteNoSource     = "no-source"     // source files that were not found
	NoteSourceNewer  = "source-newer"  // a source file was changed after the program was built
)

var noteCodes = []string{NoteImageMissing, NoteImageChanged, NoteNoDebugInfo, NoteSplitMissing, NoteNoSource,
	NoteSourceNewer, NoteStaleLine}

// File resolves a profile's file in place.
func File(path string, o Options) error { return Copy(path, path, o) }

// Copy resolves the profile from into the file to, which may be the same.
func Copy(from, to string, o Options) error {
	r, err := profile.Open(from)
	if err != nil {
		return err
	}
	return r.Rewrite(to, edit(r, o))
}

// Editor is a profile whose tables can be changed in memory: a profile.Profile, or a
// profile.Reader.
type Editor interface {
	profile.Source
	Edit(func(*profile.Meta, *profile.Tables) error) error
}

// Memory resolves a profile in memory; a file that it was read from stays as it is.
func Memory(p Editor, o Options) error { return p.Edit(edit(p, o)) }

func edit(src profile.Source, o Options) func(*profile.Meta, *profile.Tables) error {
	return func(m *profile.Meta, t *profile.Tables) error {
		trimmed, ofOne := resolveTables(m, t, o)
		if err := inlinedBarriers(src, t, trimmed); err != nil {
			return err
		}
		if err := regionLines(src, t); err != nil {
			return err
		}
		mergeByLine(t, ofOne)
		return nil
	}
}

// mergeByLine makes one section of those of one kind that end on the same source line, in the same
// chain of inlined calls: compilers copy a call, and people see one line. A barrier behind what one
// thread does alone is no copy of one that is not.
func mergeByLine(t *profile.Tables, ofOne map[profile.SectionID]bool) {
	id := profile.SectionID(-1)
	t.MergeSections(func(s *profile.Section) string {
		id++
		if len(s.Frames) == 0 || s.Frames[0].Line == 0 {
			return ""
		}
		key := fmt.Sprint(s.Kind, ofOne[id])
		for _, f := range s.Frames {
			key += fmt.Sprintf(" %d:%d", f.File, f.Line)
		}
		return key
	})
}

// resolveTables resolves a profile's tables, without merging sections. Rows with an address in a
// readable image get new functions and frames; others keep what they have. To do it twice changes
// nothing. It returns the nodes from whose frames library code was dropped, and the barriers that end
// what one thread did alone.
func resolveTables(m *profile.Meta, t *profile.Tables, o Options) (trimmed map[profile.NodeID]bool, ofOne map[profile.SectionID]bool) {
	m.Notes = slices.DeleteFunc(m.Notes, func(n profile.Note) bool { return slices.Contains(noteCodes, n.Code) })
	r := newResolver(m, t, o)
	defer r.close()
	r.functions()
	r.nodes()
	r.staleLines()
	r.events()
	r.waste()
	r.locks()
	r.sections()
	ofOne = singles(r)
	r.sources()
	r.imageNotes()
	r.stale.note()
	m.Resolved = true
	return r.trimmed, ofOne
}

type resolver struct {
	m      *profile.Meta
	t      *profile.Tables
	o      Options
	images []image
	files  map[string]profile.FileID
	wanted map[profile.FileID]bool // files not only named by system libraries, whose text nobody misses
	funcs  map[funcKey]profile.FunctionID
	places map[placeKey]location
	// trimmed are the nodes from whose frames library code was dropped.
	trimmed map[profile.NodeID]bool
	stale   *stale // nil until all blocks are known
}

// image is an ELF file of the profile, opened when first needed.
type image struct {
	tried bool
	bin   *binfile.File
	table *symbol.Table
	uses  uint64
}

type funcKey struct {
	image profile.ImageID
	entry uint64
}

type placeKey struct {
	image profile.ImageID
	addr  uint64
}

type location struct {
	fn      profile.FunctionID
	frames  []profile.Frame
	entries []uint64 // where the frames' inlined calls begin, 0 = not known
	trimmed bool     // frames of inlined library code were dropped
}

func newResolver(m *profile.Meta, t *profile.Tables, o Options) *resolver {
	r := &resolver{m: m, t: t, o: o, images: make([]image, len(t.Images)), files: map[string]profile.FileID{},
		wanted: map[profile.FileID]bool{},
		funcs:  map[funcKey]profile.FunctionID{}, places: map[placeKey]location{}, trimmed: map[profile.NodeID]bool{}}
	for i := range t.Files {
		if _, ok := r.files[t.Files[i].Path]; !ok {
			r.files[t.Files[i].Path] = profile.FileID(i)
		}
	}
	for i := range t.Functions {
		f := &t.Functions[i]
		if f.Image != profile.None {
			r.funcs[funcKey{f.Image, f.Entry}] = profile.FunctionID(i)
		}
	}
	return r
}

func (r *resolver) close() {
	for _, im := range r.images {
		if im.table != nil {
			im.table.Close()
		}
		if im.bin != nil {
			im.bin.Close()
		}
	}
}

func (r *resolver) note(code, text string, n uint64) {
	r.m.Notes = append(r.m.Notes, profile.Note{Code: code, Text: text, N: n})
}

// image returns the table of an image, nil if there is none.
func (r *resolver) image(id profile.ImageID) *symbol.Table {
	im := &r.images[id]
	im.uses++
	if !im.tried {
		im.tried = true
		r.open(id, im)
	}
	return im.table
}

func (r *resolver) open(id profile.ImageID, im *image) {
	row := &r.t.Images[id]
	if !filepath.IsAbs(row.Path) && (row.Path == "" || row.Path[0] == '[') {
		return // anonymous code, the vdso
	}
	bin, err := binfile.Open(row.Path)
	if err != nil {
		r.note(NoteImageMissing, err.Error(), 1)
		return
	}
	im.bin = bin
	if row.BuildID != "" && bin.BuildID != row.BuildID {
		r.note(NoteImageChanged, fmt.Sprintf("%s: build id was %s, is %s", row.Path, row.BuildID, bin.BuildID), 1)
		return
	}
	row.BuildID = bin.BuildID
	im.table = symbol.Open(bin, symbol.Options{DebugDirs: r.o.DebugDirs, NamesOnly: r.o.NamesOnly != nil && r.o.NamesOnly(row.Path)})
}

// imageNotes says which images named functions only, and of which parts were missing.
func (r *resolver) imageNotes() {
	for i := range r.images {
		im := &r.images[i]
		if im.table == nil {
			continue
		}
		if !im.table.HasLines() {
			r.note(NoteNoDebugInfo, r.t.Images[i].Path, im.uses)
		}
		if missing := im.table.MissingSplit(); len(missing) > 0 {
			r.note(NoteSplitMissing, examples(missing), uint64(len(missing)))
		}
	}
}

// imageOf returns the image around a run-time address.
func (r *resolver) imageOf(addr uint64) profile.ImageID {
	for i := range r.t.Images {
		if im := &r.t.Images[i]; addr >= im.Lo && addr < im.Hi {
			return profile.ImageID(i)
		}
	}
	return profile.None
}

// at resolves a run-time address; ok is false if nothing is known about it.
func (r *resolver) at(image profile.ImageID, addr uint64) (location, bool) {
	loc, ok := r.raw(image, addr)
	if ok && r.stale != nil {
		if image == profile.None {
			image = r.imageOf(addr)
		}
		loc = r.stale.repair(image, addr, loc)
	}
	return loc, ok
}

// raw is what the debug information says.
func (r *resolver) raw(image profile.ImageID, addr uint64) (location, bool) {
	if image == profile.None {
		image = r.imageOf(addr)
	}
	if image == profile.None || addr == 0 {
		return location{}, false
	}
	k := placeKey{image, addr}
	if loc, ok := r.places[k]; ok {
		return loc, loc.frames != nil
	}
	var loc location
	t := r.image(image)
	if t != nil {
		loc = r.convert(image, t.Lookup(addr-r.t.Images[image].Base))
	}
	if t == nil || t.HasLines() { // where there are none a place is found as fast as it is remembered
		r.places[k] = loc
	}
	return loc, loc.frames != nil
}

func (r *resolver) convert(image profile.ImageID, l symbol.Location) location {
	own := r.ownFrames(l.Frames)
	loc := location{fn: r.function(image, l.Func), trimmed: len(own) < len(l.Frames),
		frames: make([]profile.Frame, 0, len(own)), entries: make([]uint64, 0, len(own))}
	for _, f := range own {
		begin := f.Entry
		if begin != 0 {
			begin += r.t.Images[image].Base
		}
		loc.entries = append(loc.entries, begin)
		loc.frames = append(loc.frames, profile.Frame{File: r.file(image, f.File), Line: f.Line, Column: f.Column, Offset: f.Offset, Function: f.Function})
	}
	return loc
}

// file returns the row of a source file that an image names.
func (r *resolver) file(image profile.ImageID, path string) profile.FileID {
	if path == "" {
		return profile.None
	}
	id, ok := r.files[path]
	if !ok {
		id = r.addFile(path)
		r.files[path] = id
	}
	if !origin.SystemDir(filepath.Dir(r.t.Images[image].Path)) {
		r.wanted[id] = true
	}
	return id
}

// addFile adds a row under the path's shortest form, unless a link in it changes its meaning.
func (r *resolver) addFile(path string) profile.FileID {
	short := filepath.Clean(path)
	if isFile(path) && !isFile(short) {
		short = path
	}
	id, ok := r.files[short]
	if !ok {
		id = r.t.AddFile(profile.File{Path: short})
		r.files[short] = id
	}
	return id
}

// function returns the row of a function, filled in.
func (r *resolver) function(image profile.ImageID, f symbol.Func) profile.FunctionID {
	row := profile.Function{Image: image, Name: f.Name, Link: f.Link, Entry: f.Entry + r.t.Images[image].Base,
		File: r.file(image, f.File), Line: f.Line}
	k := funcKey{image, row.Entry}
	id, ok := r.funcs[k]
	if !ok {
		id = r.t.AddFunction(row)
		r.funcs[k] = id
	}
	r.t.Functions[id] = row
	return id
}

// functions fills in the rows that the collector made of entries only.
func (r *resolver) functions() {
	for i := range r.t.Functions {
		f := &r.t.Functions[i]
		if f.Image == profile.None {
			f.Image = r.imageOf(f.Entry)
			if f.Image == profile.None {
				continue
			}
			r.funcs[funcKey{f.Image, f.Entry}] = profile.FunctionID(i)
		}
		r.at(f.Image, f.Entry)
	}
}

func (r *resolver) nodes() {
	for i := range r.t.Nodes {
		n := &r.t.Nodes[i]
		if n.LastAddr == 0 {
			n.LastAddr = n.Addr
		}
		if n.Image == profile.None {
			n.Image = r.imageOf(n.Addr)
		}
		if loc, ok := r.at(n.Image, n.LastAddr); ok {
			n.Function, n.Frames = loc.fn, loc.frames
			if loc.trimmed {
				r.trimmed[profile.NodeID(i)] = true
			}
		}
		n.First = r.firstLines(n)
	}
	r.outerLoops()
	r.wrappers()
}

// firstLines are the frames of a node's first instruction; none where only the function is known,
// which the node's frames tell already: they would be half of a large program's names.
func (r *resolver) firstLines(n *profile.Node) []profile.Frame {
	if n.Image != profile.None && r.images[n.Image].table != nil && !r.images[n.Image].table.HasLines() {
		return nil
	}
	loc, ok := r.at(n.Image, n.Addr)
	if !ok || len(loc.frames) == 1 && loc.frames[0].Line == 0 {
		return nil
	}
	return loc.frames
}

func (r *resolver) events() {
	for i := range r.t.Events {
		e := &r.t.Events[i]
		if loc, ok := r.at(profile.None, e.Addr); ok {
			e.Frames = loc.frames
		} else if e.Node != profile.None && e.Addr == 0 {
			e.Frames = r.t.Nodes[e.Node].Frames
		}
		e.Detail = r.detail(e.Detail)
	}
}

// sections names the call that ends a section. EndAddr may be the call's address or
// the one behind it.
func (r *resolver) sections() {
	calls := r.callsBefore()
	for i := range r.t.Sections {
		s := &r.t.Sections[i]
		addr := s.EndAddr
		if s.EndNode != profile.None {
			addr = r.t.Nodes[s.EndNode].LastAddr
		} else if call := calls[addr]; call != 0 {
			addr = call
		}
		if loc, ok := r.at(profile.None, addr); ok {
			s.Frames = loc.frames
		}
	}
}

// callsBefore returns the last instruction of the block before an address, for those addresses that
// end a section of which no block is known and that are no last instruction themselves; 0: there is
// no such block.
func (r *resolver) callsBefore() map[uint64]uint64 {
	before := map[uint64]uint64{}
	for i := range r.t.Sections {
		if s := &r.t.Sections[i]; s.EndNode == profile.None {
			before[s.EndAddr] = 0
		}
	}
	if len(before) == 0 {
		return nil
	}
	for i := range r.t.Nodes {
		n := &r.t.Nodes[i]
		behind := n.Addr + uint64(n.Size)
		if _, ok := before[behind]; ok {
			before[behind] = n.LastAddr
		}
	}
	for i := range r.t.Nodes {
		delete(before, r.t.Nodes[i].LastAddr)
	}
	return before
}
