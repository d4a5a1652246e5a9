package symbol

// scope is a function, or an inlined call within one.
type scope struct {
	parent   int32 // the scope around it, -1 for a function
	die      uint64
	lo       uint64 // lowest address; of a function: its entry
	hi       uint64 // highest end
	callFile uint64
	callLine int32
	callCol  int32
	entry    uint64 // of an inlined call: where it begins, 0 if that is not said
}

// unitCode is what a unit's functions and lines look like, read when first asked for.
type unitCode struct {
	u      *unit // of the entries: the split unit if there is one
	scopes []scope
	spans  spans // id: the innermost scope
	lines  *lineTable
	names  map[uint64]names // by entry
}

// walker reads the functions of a unit.
type walker struct {
	code  *unitCode
	valid func(uint64) bool
	spans []span
	stack []int32 // the scope around the entries of every open level
}

// parseScopes reads all functions and inlined calls of a unit.
func (code *unitCode) parseScopes(valid func(uint64) bool) {
	w := walker{code: code, valid: valid}
	u := code.u
	c := at(u.d.info[:u.end], u.first)
	var e die
	around := int32(-1)
	for u.read(&c, &e) {
		if e.tag == 0 {
			if len(w.stack) == 0 {
				break
			}
			around = w.stack[len(w.stack)-1]
			w.stack = w.stack[:len(w.stack)-1]
			continue
		}
		inner := around
		if e.tag == tagSubprogram || e.tag == tagInlined {
			inner = w.scope(&e, around)
		}
		if e.children {
			w.stack = append(w.stack, around)
			around = inner
		}
	}
	code.spans = newSpans(w.spans)
}

// scope adds the scope of an entry and returns it, or the one around it if the entry has no code.
func (w *walker) scope(e *die, around int32) int32 {
	u := w.code.u
	id := int32(len(w.code.scopes))
	s := scope{parent: around, die: e.off}
	if e.tag == tagSubprogram {
		s.parent = -1
	} else if around < 0 {
		return around
	}
	found := false
	u.ranges(e, func(lo, hi uint64) {
		if !w.valid(lo) || len(w.spans) >= maxRanges {
			return
		}
		if !found {
			s.lo = lo // a function's first range holds its entry
		}
		s.hi = max(s.hi, hi)
		found = true
		w.spans = append(w.spans, span{lo, hi, id})
	})
	if !found {
		return around
	}
	if a, ok := u.address(e.vals[hasEntry]); ok && w.valid(a) {
		if s.entry = a; s.parent < 0 {
			s.lo = a
		}
	}
	s.callFile = e.vals[hasCallFile].u
	s.callLine = int32(min(e.vals[hasCallLine].u, 1<<31-1))
	s.callCol = int32(min(e.vals[hasCallColumn].u, 1<<31-1))
	w.code.scopes = append(w.code.scopes, s)
	return id
}

// names are what an entry and those that it refers to say about a function.
type names struct {
	name, link string
	file       uint64 // of the declaration, by number of the unit fileOf
	line       int32
	fileOf     *unit
}

// name follows abstract origins and specifications. Results are kept.
func (code *unitCode) name(off uint64) names {
	n, ok := code.names[off]
	if !ok {
		n = readNames(code.u, off)
		code.names[off] = n
	}
	return n
}

func readNames(u *unit, off uint64) (n names) {
	var e die
	c := at(u.d.info[:u.end], off)
	if !u.read(&c, &e) {
		return n
	}
	const limit = 16 // hostile references go round in circles
	for range limit {
		n.add(u, &e)
		next := e.vals[hasOrigin]
		if next.form == 0 {
			next = e.vals[hasSpec]
		}
		if u = u.entry(next, &e); u == nil || !isFunction(&e) {
			break
		}
	}
	return n
}

func isFunction(e *die) bool { return e.tag == tagSubprogram || e.tag == tagInlined }

// add takes what the entry knows and is not yet known.
func (n *names) add(u *unit, e *die) {
	if v := e.vals[hasName]; n.name == "" && v.form != 0 {
		n.name = u.string(v)
	}
	if v := e.vals[hasLinkage]; n.link == "" && v.form != 0 {
		n.link = u.string(v)
	}
	if v := e.vals[hasDeclLine]; n.line == 0 && v.form != 0 {
		n.line = int32(min(v.u, 1<<31-1))
		n.file, n.fileOf = e.vals[hasDeclFile].u, u
	}
}
