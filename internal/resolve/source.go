package resolve

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lime/internal/origin"
	"lime/internal/profile"
	"lime/internal/safe"
)

const (
	maxLineText   = 1000    // bytes kept of a source line
	maxSourceSize = 1 << 28 // bytes read of a source file
	maxSourceLine = 1 << 20 // a longer line ends the reading of a file
)

// sources stores the text of all lines that frames name, with their context.
func (r *resolver) sources() {
	wanted, built := r.wantedLines(), r.builtOf()
	finder := newFinder(r)
	var missing []string
	for id := range r.t.Files {
		lines := wanted[profile.FileID(id)]
		if len(lines) == 0 {
			continue
		}
		f := &r.t.Files[id]
		path, ok := finder.find(f.Path)
		if !ok {
			if r.wanted[profile.FileID(id)] {
				missing = append(missing, f.Path)
			}
			continue
		}
		r.readSource(f, path, lines, built[profile.FileID(id)])
	}
	if len(missing) > 0 {
		r.note(NoteNoSource, examples(missing), uint64(len(missing)))
	}
}

// examples names some of many files.
func examples(paths []string) string {
	const few = 3
	if len(paths) <= few {
		return strings.Join(paths, ", ")
	}
	return strings.Join(paths[:few], ", ") + ", ..."
}

// wantedLines collects the lines that frames name.
func (r *resolver) wantedLines() map[profile.FileID]map[int32]bool {
	wanted := map[profile.FileID]map[int32]bool{}
	add := func(stacks ...[]profile.Frame) {
		for _, fs := range stacks {
			for _, f := range fs {
				if f.File == profile.None || f.Line <= 0 {
					continue
				}
				if wanted[f.File] == nil {
					wanted[f.File] = map[int32]bool{}
				}
				wanted[f.File][f.Line] = true
			}
		}
	}
	for i := range r.t.Nodes {
		add(r.t.Nodes[i].Frames, r.t.Nodes[i].First)
	}
	for i := range r.t.Events {
		add(r.t.Events[i].Frames)
	}
	for i := range r.t.WastePairs {
		add(r.t.WastePairs[i].First.Frames, r.t.WastePairs[i].Second.Frames)
	}
	for i := range r.t.LockWaits {
		add(r.t.LockWaits[i].At.Frames)
	}
	for i := range r.t.LockHolds {
		add(r.t.LockHolds[i].At.Frames)
	}
	for i := range r.t.Sections {
		add(r.t.Sections[i].Frames, r.t.Sections[i].Starts)
	}
	return wanted
}

// builtOf says when the newest program or library was built that has code of a file, by file.
func (r *resolver) builtOf() map[profile.FileID]time.Time {
	times := make([]time.Time, len(r.images))
	for i := range r.images {
		if r.images[i].bin == nil {
			continue
		}
		if st, err := os.Stat(r.t.Images[i].Path); err == nil {
			times[i] = st.ModTime()
		}
	}
	built := map[profile.FileID]time.Time{}
	for i := range r.t.Nodes {
		n := &r.t.Nodes[i]
		if n.Image < 0 || int(n.Image) >= len(times) {
			continue
		}
		for _, f := range n.Frames {
			if f.File != profile.None && times[n.Image].After(built[f.File]) {
				built[f.File] = times[n.Image]
			}
		}
	}
	return built
}

func (r *resolver) context() int32 {
	switch {
	case r.o.Context == 0:
		return DefaultContext
	case r.o.Context < 0:
		return 0
	}
	return int32(min(r.o.Context, 1000))
}

// readSource keeps the named lines of one file and those around them.
func (r *resolver) readSource(f *profile.File, path string, lines map[int32]bool, built time.Time) {
	src, err := safe.Open(path)
	if err != nil {
		return
	}
	defer src.Close()
	if st, err := src.Stat(); err == nil && !built.IsZero() && st.ModTime().After(built) {
		r.note(NoteSourceNewer, path, 1)
	}
	spans := lineSpans(lines, r.context())
	f.Lines = map[int32]string{}
	sc := bufio.NewScanner(&limited{src, maxSourceSize})
	sc.Buffer(nil, maxSourceLine)
	for n := int32(1); len(spans) > 0 && sc.Scan(); n++ {
		if n >= spans[0][0] {
			f.Lines[n] = clip(sc.Text())
		}
		if n == spans[0][1] {
			spans = spans[1:]
		}
	}
}

// lineSpans merges the lines with their context into spans that do not overlap.
func lineSpans(lines map[int32]bool, context int32) (out [][2]int32) {
	sorted := make([]int32, 0, len(lines))
	for n := range lines {
		sorted = append(sorted, n)
	}
	slices.Sort(sorted)
	for _, n := range sorted {
		lo, hi := max(1, n-context), n+min(context, 1<<31-1-n)
		if k := len(out); k > 0 && lo <= out[k-1][1]+1 {
			out[k-1][1] = hi
			continue
		}
		out = append(out, [2]int32{lo, hi})
	}
	return out
}

// clip shortens a line and makes it UTF-8.
func clip(s string) string {
	s = strings.TrimRight(s, "\r")
	if len(s) > maxLineText {
		s = s[:maxLineText]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// limited ends after n bytes.
type limited struct {
	f *os.File
	n int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.n <= 0 {
		return 0, errors.New("file too long")
	}
	n, err := l.f.Read(p)
	l.n -= int64(n)
	return n, err
}

// finder finds source files that are not where the debug information says.
type finder struct {
	dirs []string
}

func newFinder(r *resolver) *finder {
	f := &finder{dirs: slices.Clone(r.o.SourceDirs)}
	for i := range r.images {
		if r.images[i].bin == nil {
			continue
		}
		dir := filepath.Dir(r.t.Images[i].Path)
		if !origin.SystemDir(dir) {
			f.dirs = append(f.dirs, dir, filepath.Dir(dir))
		}
	}
	if wd, err := os.Getwd(); err == nil {
		f.dirs = append(f.dirs, wd)
	}
	return f
}

// find returns where a source file lies: as named, or under one of the directories with as
// many of its directories' names as possible.
func (f *finder) find(path string) (string, bool) {
	if filepath.IsAbs(path) && isFile(path) {
		return path, true
	}
	rest := strings.TrimPrefix(filepath.Clean(path), "/")
	for strings.HasPrefix(rest, "../") {
		rest = rest[len("../"):]
	}
	for rest != "" {
		for _, d := range f.dirs {
			if p := filepath.Join(d, rest); isFile(p) {
				return p, true
			}
		}
		_, after, ok := strings.Cut(rest, "/")
		if !ok {
			break
		}
		rest = after
	}
	return "", false
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}
