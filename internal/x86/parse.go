package x86

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// parseTable parses the rows of a table; an error names table and row.
func parseTable(t table) ([]row, error) {
	var rows []row
	for line := range strings.Lines(t.rows) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		rs, err := parseRow(line, t.mixed)
		if err != nil {
			return nil, fmt.Errorf("x86: %s: row %q: %w", t.name, line, err)
		}
		rows = append(rows, rs...)
	}
	return rows, nil
}

// parseRow parses one line. A line for the legacy and a VEX-like encoding gives
// two rows, since the names differ.
func parseRow(line string, mixed bool) ([]row, error) {
	r := row{source: line, encs: 1 << classLegacy, pp: -1}
	rest := line
	if body, page, ok := strings.Cut(rest, "#"); ok {
		rest, r.page = body, strings.TrimSpace(page)
	}
	body, attrs, _ := strings.Cut(rest, ";")
	f := strings.Fields(body)
	if mixed {
		r.encs = 0
		for _, c := range f[0] {
			r.encs |= 1 << classLetters[c]
		}
		f = f[1:]
	}
	if len(f) < 2 {
		return nil, fmt.Errorf("no key and name")
	}
	if err := r.parseKey(f[0]); err != nil {
		return nil, err
	}
	r.name = f[1]
	if r.page == "" {
		r.page = strings.ToUpper(r.name)
	}
	for _, o := range f[2:] {
		if err := r.parseOperand(o); err != nil {
			return nil, err
		}
	}
	for _, a := range strings.Fields(attrs) {
		if err := r.parseAttr(a); err != nil {
			return nil, err
		}
	}
	return r.split(), nil
}

// split separates the legacy form from the others, which have a v in front.
func (r row) split() []row {
	const legacy = 1 << classLegacy
	if r.encs&legacy == 0 || r.encs == legacy {
		return []row{r}
	}
	l, v := r, r
	l.encs = legacy
	v.encs &^= legacy
	v.name = "v" + r.name
	if v.attr&attrVVVV != 0 { // the first source is vvvv, not the destination
		v.ops[0].access = writeOnly(v.ops[0].access)
	}
	v.ownSource()
	return []row{l, v}
}

// ownSource: with a first source in vvvv, the vector form does not read its destination as the
// legacy form does.
func (r *row) ownSource() {
	ops := r.ops[:r.nops]
	if !slices.ContainsFunc(ops, func(o operand) bool { return o.kind == 'H' }) {
		return
	}
	for i := range ops {
		if ops[i].kind == 'V' && ops[i].access&accWrite != 0 {
			ops[i].access = accWrite
		}
	}
}

func writeOnly(a access) access {
	if a&accWrite != 0 {
		return accWrite
	}
	return a
}

func (r *row) parseKey(key string) error {
	parts := strings.Split(key, ".")
	if i := strings.Index("np 66 f3 f2 ", parts[0]+" "); i >= 0 && len(parts) > 1 && len(parts[1]) > 1 && isHex(parts[1][:2]) {
		r.pp = int8(i / 3)
		parts = parts[1:]
	}
	if err := r.parseOpcode(parts[0]); err != nil {
		return err
	}
	for _, p := range parts[1:] {
		if len(p) != 2 {
			return fmt.Errorf("key part %q", p)
		}
		v := uint16(p[1] - '0')
		switch p[0] {
		case 'w':
			r.need(selW, 1, v)
		case 'l':
			r.need(selL, 3, v)
		case 'b':
			r.need(selB, 1, v)
		default:
			return fmt.Errorf("key part %q", p)
		}
	}
	return nil
}

func isHex(s string) bool {
	_, err := strconv.ParseUint(s, 16, 8)
	return err == nil
}

// parseOpcode parses opcode[-opcode][/reg][m|r[rm]].
func (r *row) parseOpcode(s string) error {
	if len(s) < 2 || !isHex(s[:2]) {
		return fmt.Errorf("opcode %q", s)
	}
	lo, _ := strconv.ParseUint(s[:2], 16, 8)
	r.first, r.last = uint8(lo), uint8(lo)
	s = s[2:]
	if len(s) >= 3 && s[0] == '-' {
		hi, err := strconv.ParseUint(s[1:3], 16, 8)
		if err != nil || hi < lo {
			return fmt.Errorf("opcode range %q", s)
		}
		r.last, s = uint8(hi), s[3:]
	}
	if len(s) >= 2 && s[0] == '/' {
		r.need(selReg, 7, uint16(s[1]-'0'))
		r.attr |= attrModRM
		s = s[2:]
	}
	return r.parseMod(s)
}

func (r *row) parseMod(s string) error {
	switch {
	case s == "":
		return nil
	case s == "m":
		r.need(selMod3, 1, 0)
	case s[0] == 'r':
		r.need(selMod3, 1, 1)
		if len(s) == 2 {
			r.need(selRM, 7, uint16(s[1]-'0'))
		}
	default:
		return fmt.Errorf("after the opcode: %q", s)
	}
	r.attr |= attrModRM
	return nil
}

func (r *row) need(shift, mask, v uint16) {
	r.mask |= mask << shift
	r.want |= v << shift
}

func (r *row) parseOperand(s string) error {
	o := operand{access: accRead}
	switch s[0] {
	case '=':
		o.access, s = accWrite, s[1:]
	case '+':
		o.access, s = accRead|accWrite, s[1:]
	}
	if int(r.nops) == maxOps || s == "" {
		return fmt.Errorf("operand %q", s)
	}
	o.kind, s = s[0], s[1:]
	if s == "0" {
		o.access = 0
	}
	if err := o.parseSizes(s); err != nil {
		return err
	}
	r.place(&o, s)
	r.ops[r.nops] = o
	r.nops++
	return nil
}

// place notes what the kind of an operand asks of the encoding.
func (r *row) place(o *operand, s string) {
	switch o.kind {
	case 'R', 'U', 'N':
		if r.attr&attrControl == 0 {
			r.need(selMod3, 1, 1)
		}
	case 'M', 'X':
		r.need(selMod3, 1, 0)
	case 'j':
		if strings.HasSuffix(s, "r") {
			r.need(selMod3, 1, 1)
		} else if strings.HasSuffix(s, "m") {
			r.need(selMod3, 1, 0)
		}
	}
	if strings.IndexByte("EFRMGVWUXPQNkjS", o.kind) >= 0 {
		r.attr |= attrModRM
	}
	switch o.kind {
	case 'H', 'B', 'i', 'T':
		r.attr |= attrVVVV
	}
	switch o.kind {
	case 'X':
		r.attr |= attrVSIB
	case 'P', 'Q', 'N':
		r.attr |= attrMMX
	case 'V', 'W', 'U', 'H', 'L':
		r.attr |= attrSSE
	}
}

// parseSizes parses one size, or the sizes of the register and memory forms. A
// register form is at least as wide, and only its width decides whether a write
// is partial, so that the pair is kept as one: the memory size and, in the kind,
// F for a general register written in full.
func (o *operand) parseSizes(s string) error {
	switch {
	case s == "":
		return nil
	case s == "0a":
		o.size = sizeState
		return nil
	case s[0] >= '0' && s[0] <= '9':
		n, err := strconv.Atoi(s)
		o.size = size(n)
		return err
	}
	last := s[len(s)-1]
	if len(s) == 2 && o.kind == 'E' {
		o.kind = 'F'
	} else {
		last = s[0]
	}
	sz, ok := sizeLetters[last]
	if !ok {
		return fmt.Errorf("size %q", s)
	}
	o.size = sz
	return nil
}

func (r *row) parseAttr(a string) error {
	if v, ok := attrNames[a]; ok {
		r.attr |= v
		if v == attrControl {
			r.mask &^= 1 << selMod3
			r.want &^= 1 << selMod3
		}
		return nil
	}
	if n, ok := strings.CutPrefix(a, "bc"); ok {
		r.bcast = bcastByW
		if n != "" {
			r.bcast = n[0] - '0'
		}
		return nil
	}
	k, v, ok := strings.Cut(a, "=")
	if !ok {
		return fmt.Errorf("attribute %q", a)
	}
	return r.parseValue(k, v)
}

func (r *row) parseValue(k, v string) (err error) {
	ok := true
	switch k {
	case "r":
		r.reads, err = parseRegs(v)
	case "w":
		r.writes, err = parseRegs(v)
	case "t":
		r.flagsRead, err = parseFlags(v)
	case "f":
		r.flagsWrite, err = parseFlags(v)
	case "br":
		r.branch, ok = branchNames[v]
	case "sp":
		r.special, ok = specialNames[v]
	default:
		ok = false
	}
	if !ok {
		return fmt.Errorf("attribute %s=%s", k, v)
	}
	return err
}

func parseRegs(s string) (set RegSet, err error) {
	for _, n := range strings.Split(s, ",") {
		g, ok := regNames[n]
		if !ok {
			return 0, fmt.Errorf("register %q", n)
		}
		set = set.With(g)
	}
	return set, nil
}

func parseFlags(s string) (set Flags, err error) {
	for _, c := range s {
		f, ok := flagLetters[c]
		if !ok {
			return 0, fmt.Errorf("flag %q", c)
		}
		set |= f
	}
	return set, nil
}
