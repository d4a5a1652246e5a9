package symbol

import (
	"cmp"
	"debug/gosym"
	"slices"

	"lime/internal/binfile"
)

// goTable is the line table that every Go program carries, even if it is stripped.
type goTable struct{ t *gosym.Table }

// openGo returns nil if the image has no such table, or a damaged one.
func openGo(bin *binfile.File) (g *goTable) {
	defer func() {
		if recover() != nil {
			g = nil
		}
	}()
	data, text, err := bin.GoTable()
	if err != nil {
		return nil
	}
	t, err := gosym.NewTable(nil, gosym.NewLineTable(data, text))
	if err != nil || len(t.Funcs) == 0 {
		return nil
	}
	return &goTable{t}
}

// GoFunctions lists the functions of a Go program by the table that even a stripped one has, in the
// order of their addresses; nil if there is none.
func GoFunctions(bin *binfile.File) (list []binfile.Symbol) {
	g := openGo(bin)
	if g == nil {
		return nil
	}
	for _, f := range g.t.Funcs {
		list = append(list, binfile.Symbol{Name: f.Name, Addr: f.Entry, Size: f.End - f.Entry, Kind: binfile.SymFunc})
	}
	slices.SortFunc(list, func(a, b binfile.Symbol) int { return cmp.Compare(a.Addr, b.Addr) })
	return list
}

// lookup answers for a nil table too.
func (g *goTable) lookup(pc uint64) (loc Location, ok bool) {
	if g == nil {
		return loc, false
	}
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	file, line, fn := g.t.PCToLine(pc)
	if fn == nil {
		return loc, false
	}
	loc.Func = Func{Name: fn.Name, Link: fn.Name, Entry: fn.Entry}
	if line < 0 { // between the function's code and the next one's
		file, line = "", 0
	}
	loc.Frames = []Frame{{Function: fn.Name, File: file, Line: int32(line)}}
	return loc, true
}
