package symbol

import (
	"path/filepath"
	"slices"

	"lime/internal/binfile"
)

// readSections reads the debug sections of a file; suffix is ".dwo" for split ones.
func readSections(f *binfile.File, suffix string) sections {
	get := func(name string) []byte {
		b, _, err := f.Section(".debug_" + name + suffix)
		if err != nil && suffix == "" {
			b, _, err = f.Section(".zdebug_" + name)
		}
		if err != nil {
			return nil
		}
		return b
	}
	return sections{info: get("info"), abbrev: get("abbrev"), str: get("str"), lineStr: get("line_str"), strOffsets: get("str_offsets"),
		addr: get("addr"), ranges: get("ranges"), rnglists: get("rnglists"), line: get("line")}
}

// loadDWARF reads the list of units with their addresses.
func (t *Table) loadDWARF(from *binfile.File) {
	d := &dwarf{sections: readSections(from, "")}
	if alt, err := from.OpenAlt(t.opts.DebugDirs); err == nil {
		t.files = append(t.files, alt)
		d.alt = &dwarf{sections: readSections(alt, "")}
		d.alt.parseUnits()
	}
	d.parseUnits()
	if len(d.units) == 0 {
		return
	}
	t.dwarf, t.code = d, make([]*unitCode, len(d.units))
	var all []span
	for i, u := range d.units {
		all = t.unitSpans(all, i, u)
	}
	t.units = newSpans(all)
}

// unitSpans appends the addresses of a unit: as its entry says them, else those of its lines.
func (t *Table) unitSpans(all []span, i int, u *unit) []span {
	had := len(all)
	u.ranges(&u.root, func(lo, hi uint64) {
		if t.valid(lo) && len(all) < maxRanges {
			all = append(all, span{lo, hi, int32(i)})
		}
	})
	if len(all) > had || u.root.vals[hasStmtList].form == 0 || u.root.tag == tagPartialUnit {
		return all
	}
	for _, s := range t.lineTable(u).seqs.pieces {
		all = append(all, span{s.lo, s.hi, int32(i)})
	}
	return all
}

// lineTable returns the line table of a unit; units may share one.
func (t *Table) lineTable(u *unit) *lineTable {
	v := u.root.vals[hasStmtList]
	if v.form == 0 {
		return &lineTable{}
	}
	l := t.lines[v.u]
	if l == nil {
		l = u.parseLines(v.u, u.string(u.root.vals[hasCompDir]), t.valid)
		t.lines[v.u] = l
	}
	return l
}

// unit reads a unit's functions and lines when they are first needed.
func (t *Table) unit(id int32) *unitCode {
	if t.code[id] == nil {
		u := t.dwarf.units[id]
		code := &unitCode{u: t.splitUnit(u), lines: t.lineTable(u), names: map[uint64]names{}}
		code.parseScopes(t.valid)
		t.code[id] = code
	}
	return t.code[id]
}

// splitUnit returns the unit of the .dwo file that a skeleton names, or the unit itself.
func (t *Table) splitUnit(u *unit) *unit {
	name := u.string(u.root.vals[hasDWOName])
	if name == "" {
		return u
	}
	path := join(u.string(u.root.vals[hasCompDir]), name)
	f, err := binfile.Open(path)
	if err != nil {
		path = filepath.Join(filepath.Dir(t.bin.Path), filepath.Base(name))
		f, err = binfile.Open(path)
	}
	if err != nil {
		t.missing = append(t.missing, path)
		return u
	}
	defer f.Close()
	d := &dwarf{sections: readSections(f, ".dwo"), split: true}
	d.addr = u.d.addr
	if u.version < 5 {
		d.sections.ranges = u.d.sections.ranges
	}
	d.parseUnits()
	for _, s := range d.units {
		if s.root.tag == tagCompileUnit {
			return s.graft(u)
		}
	}
	return u
}

// graft gives a split unit what stands in its skeleton.
func (s *unit) graft(skeleton *unit) *unit {
	s.addrBase, s.low = skeleton.addrBase, skeleton.low
	if s.version < 5 {
		s.rangeBase = skeleton.rangeBase
	}
	return s
}

// MissingSplit returns the .dwo files that were looked for and not found.
func (t *Table) MissingSplit() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.missing)
}
