package callgrind

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Dump is what one thread did, up to one dump.
type Dump struct {
	File   string // it was read from
	Cmd    string
	Part   int
	Thread int
	Events []string // names of the costs; Costs and the like are indexed alike
	Instrs map[Key]*Instr
}

// Key is an instruction of an object.
type Key struct {
	Object string
	Addr   uint64
}

// Instr is what an instruction did.
type Instr struct {
	Key
	Function string
	File     string // of the line, which may be inlined from another file
	Line     int
	Costs    []uint64
	Jumps    []Jump
	Calls    []Call
}

// Jump is a jump that was taken.
type Jump struct {
	To          uint64
	Conditional bool
	Taken       uint64
	Executed    uint64 // conditional ones
}

// Call is a call, or a jump into another function.
type Call struct {
	To    Key
	Count uint64
}

// Bounds: of a line of the file, of the number of kinds of cost, of addresses
// and of counts, so that sums stay within 64 bits.
const (
	maxLine  = 1 << 20
	maxCosts = 64
	maxAddr  = 1 << 48
	maxCount = 1 << 60
)

// ErrFormat marks a file that is no output of callgrind, or a damaged one.
var ErrFormat = errors.New("not the output of callgrind")

// parser reads one file.
type parser struct {
	name  string
	line  int
	dumps []*Dump
	cur   *Dump

	names [3]map[int]string // compressed names: objects, files, functions
	here  where             // of the costs
	pos   position
	// target of the call or jump that comes next
	object, function string
	pending          *Call // its inclusive cost comes on the next line
	jump             *pendingJump
	instr, lines     bool // positions that the file has
}

type where struct{ object, file, function string }

type position struct {
	addr uint64
	line int64
}

type pendingJump struct{ Jump }

// Spaces of compressed names.
const (
	objects = iota
	files
	functions
)

// Parse reads the dumps in a file; name is for errors.
func Parse(r io.Reader, name string) ([]*Dump, error) {
	p := &parser{name: name, lines: true}
	for i := range p.names {
		p.names[i] = map[int]string{}
	}
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLine)
	for s.Scan() {
		p.line++
		if err := p.parse(strings.TrimRight(s.Text(), " \t\r")); err != nil {
			return nil, p.wrap(err)
		}
	}
	if err := s.Err(); err != nil {
		return nil, p.wrap(err)
	}
	return p.dumps, p.check()
}

func (p *parser) wrap(err error) error { return fmt.Errorf("%s:%d: %w", p.name, max(p.line, 1), err) }

// check refuses files that hold nothing to analyse.
func (p *parser) check() error {
	switch {
	case len(p.dumps) == 0:
		return fmt.Errorf("%s: %w: no 'events:' line; write it with --separate-threads=yes --dump-instr=yes "+
			"--collect-jumps=yes", p.name, ErrFormat)
	case p.pending != nil || p.jump != nil:
		return p.wrap(fmt.Errorf("%w: cut off after a call or jump", ErrFormat))
	case !p.instr:
		return fmt.Errorf("%s: it has no instructions; write it with --dump-instr=yes --collect-jumps=yes", p.name)
	}
	return nil
}

// parse reads one line.
func (p *parser) parse(s string) error {
	if s == "" || s[0] == '#' {
		return nil
	}
	if c := s[0]; c >= '0' && c <= '9' || c == '+' || c == '-' || c == '*' {
		return p.costs(s)
	}
	if key, value, ok := strings.Cut(s, "="); ok && !strings.Contains(key, ":") {
		return p.assign(key, value)
	}
	if key, value, ok := strings.Cut(s, ":"); ok {
		return p.header(key, strings.TrimSpace(value))
	}
	return fmt.Errorf("%w: %q", ErrFormat, short(s))
}

func short(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}

// header reads "key: value".
func (p *parser) header(key, value string) error {
	switch key {
	case "version", "creator", "pid", "cmd", "part", "thread", "desc", "positions", "events":
		d := p.dump()
		return p.headerOf(d, key, value)
	case "summary", "totals", "target", "ob":
		return nil
	}
	return nil // keys of later versions
}

// dump returns the dump that headers belong to: a new one after costs.
func (p *parser) dump() *Dump {
	if p.cur == nil || p.cur.Events != nil {
		p.cur = &Dump{File: p.name, Instrs: map[Key]*Instr{}}
		if n := len(p.dumps); n > 0 {
			last := p.dumps[n-1]
			p.cur.Cmd, p.cur.Part, p.cur.Thread = last.Cmd, last.Part, last.Thread
		}
	}
	return p.cur
}

func (p *parser) headerOf(d *Dump, key, value string) (err error) {
	switch key {
	case "cmd":
		d.Cmd = value
	case "part":
		d.Part, err = number(value)
	case "thread":
		d.Thread, err = number(value)
	case "positions":
		p.instr, p.lines = strings.Contains(value, "instr"), strings.Contains(value, "line")
	case "events":
		d.Events = strings.Fields(value)
		if len(d.Events) == 0 || len(d.Events) > maxCosts {
			return fmt.Errorf("%w: %d kinds of events", ErrFormat, len(d.Events))
		}
		p.dumps = append(p.dumps, d)
		p.pos, p.here = position{}, where{}
	}
	return err
}

func number(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%w: number %q", ErrFormat, short(s))
	}
	return int(n), nil
}

// assign reads "key=value".
func (p *parser) assign(key, value string) (err error) {
	switch key {
	case "ob":
		p.here.object, err = p.nameOf(objects, value)
	case "fl", "fi", "fe":
		p.here.file, err = p.nameOf(files, value)
	case "fn":
		p.here.function, err = p.nameOf(functions, value)
		p.object, p.function = "", ""
	case "cob", "job":
		p.object, err = p.nameOf(objects, value)
	case "cfi", "cfl", "jfi":
		_, err = p.nameOf(files, value)
	case "cfn":
		p.function, err = p.nameOf(functions, value)
	case "jfn":
		_, err = p.nameOf(functions, value)
	case "calls":
		return p.call(value)
	case "jump", "jcnd":
		return p.readJump(key == "jcnd", value)
	default:
		return fmt.Errorf("%w: %q", ErrFormat, short(key))
	}
	return err
}

// nameOf resolves "(7) name", "(7)" or "name".
func (p *parser) nameOf(space int, value string) (string, error) {
	if !strings.HasPrefix(value, "(") {
		return value, nil
	}
	id, name, ok := strings.Cut(value[1:], ")")
	n, err := number(id)
	if !ok || err != nil {
		return "", fmt.Errorf("%w: name %q", ErrFormat, short(value))
	}
	if name = strings.TrimSpace(name); name != "" {
		p.names[space][n] = name
		return name, nil
	}
	if name, ok = p.names[space][n]; !ok {
		return "", fmt.Errorf("%w: name (%d) was not given before", ErrFormat, n)
	}
	return name, nil
}

// call reads "calls=COUNT TARGET"; the inclusive cost comes next.
func (p *parser) call(value string) error {
	words := strings.Fields(value)
	if len(words) < 1 {
		return fmt.Errorf("%w: calls without a number", ErrFormat)
	}
	count, err := unsigned(words[0])
	if err != nil {
		return err
	}
	to, err := p.target(words[1:])
	if err != nil {
		return err
	}
	object := p.object
	if object == "" {
		object = p.here.object
	}
	p.pending = &Call{To: Key{object, to}, Count: count}
	p.object, p.function = "", ""
	return nil
}

// readJump reads "jump=COUNT TARGET" or "jcnd=TAKEN/EXECUTED TARGET".
func (p *parser) readJump(conditional bool, value string) error {
	words := strings.Fields(value)
	if len(words) < 2 {
		return fmt.Errorf("%w: jump %q", ErrFormat, short(value))
	}
	j := Jump{Conditional: conditional}
	taken, executed, _ := strings.Cut(words[0], "/")
	var err error
	if j.Taken, err = unsigned(taken); err != nil {
		return err
	}
	if conditional {
		if j.Executed, err = unsigned(executed); err != nil {
			return err
		}
	}
	if j.To, err = p.target(words[1:]); err != nil {
		return err
	}
	p.jump = &pendingJump{j}
	return nil
}

// target reads the address of a target, relative to where we are; its line is
// of no interest.
func (p *parser) target(words []string) (uint64, error) {
	if !p.instr {
		return 0, nil
	}
	if len(words) == 0 {
		return 0, fmt.Errorf("%w: a target without an address", ErrFormat)
	}
	return address(p.pos.addr, words[0])
}

// costs reads a line of positions and costs.
func (p *parser) costs(s string) error {
	if p.cur == nil || p.cur.Events == nil {
		return fmt.Errorf("%w: costs before the 'events:' line", ErrFormat)
	}
	words := strings.Fields(s)
	rest, err := p.position(words)
	if err != nil {
		return err
	}
	if p.jump != nil {
		p.at().addJump(p.jump.Jump)
		p.jump = nil
		return nil
	}
	values, err := p.values(rest)
	if err != nil {
		return err
	}
	if p.pending != nil { // values are the callee's
		p.at().addCall(*p.pending)
		p.pending = nil
		return nil
	}
	return p.at().addCosts(values, len(p.cur.Events))
}

// position moves to the line's position, and returns the words after it.
func (p *parser) position(words []string) (rest []string, err error) {
	want := 0
	if p.instr {
		want++
	}
	if p.lines {
		want++
	}
	if len(words) < want {
		return nil, fmt.Errorf("%w: a line of costs without its position", ErrFormat)
	}
	if p.instr {
		if p.pos.addr, err = address(p.pos.addr, words[0]); err != nil {
			return nil, err
		}
	}
	if p.lines {
		n, err := address(uint64(p.pos.line), words[want-1])
		if err != nil {
			return nil, err
		}
		p.pos.line = int64(n)
	}
	return words[want:], nil
}

// at returns the instruction at the position.
func (p *parser) at() *Instr {
	key := Key{p.here.object, p.pos.addr}
	in := p.cur.Instrs[key]
	if in == nil {
		in = &Instr{Key: key, Function: p.here.function, File: p.here.file}
		if p.pos.line > 0 && p.pos.line <= math.MaxInt32 {
			in.Line = int(p.pos.line)
		}
		p.cur.Instrs[key] = in
	}
	return in
}

func (p *parser) values(words []string) ([]uint64, error) {
	if len(words) > len(p.cur.Events) {
		return nil, fmt.Errorf("%w: %d costs for %d kinds of events", ErrFormat, len(words), len(p.cur.Events))
	}
	out := make([]uint64, len(words))
	for i, w := range words {
		n, err := unsigned(w)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

func (in *Instr) addCosts(values []uint64, n int) error {
	if in.Costs == nil {
		in.Costs = make([]uint64, n)
	}
	for i, v := range values {
		if i >= len(in.Costs) || in.Costs[i]+v > maxCount {
			return fmt.Errorf("%w: costs too large", ErrFormat)
		}
		in.Costs[i] += v
	}
	return nil
}

func (in *Instr) addJump(j Jump) {
	for i := range in.Jumps {
		if k := &in.Jumps[i]; k.To == j.To && k.Conditional == j.Conditional {
			k.Taken, k.Executed = saturate(k.Taken, j.Taken), saturate(k.Executed, j.Executed)
			return
		}
	}
	in.Jumps = append(in.Jumps, j)
}

func (in *Instr) addCall(c Call) {
	for i := range in.Calls {
		if k := &in.Calls[i]; k.To == c.To {
			k.Count = saturate(k.Count, c.Count)
			return
		}
	}
	in.Calls = append(in.Calls, c)
}

// saturate adds counts, and stays at the largest there may be.
func saturate(a, b uint64) uint64 { return min(min(a, maxCount)+min(b, maxCount), maxCount) }

// unsigned reads a count.
func unsigned(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil || n > maxCount {
		return 0, fmt.Errorf("%w: count %q", ErrFormat, short(s))
	}
	return n, nil
}

// address reads a position: 0x1f, 31, +4, -4, or * for the same as before.
func address(base uint64, s string) (uint64, error) {
	if s == "*" {
		return base, nil
	}
	digits := strings.TrimLeft(s, "+-")
	n, err := strconv.ParseUint(digits, 0, 63)
	if err != nil || len(s)-len(digits) > 1 || n > maxAddr || base+n > 2*maxAddr {
		return 0, fmt.Errorf("%w: position %q", ErrFormat, short(s))
	}
	switch s[0] {
	case '+':
		return base + n, nil
	case '-':
		if n > base {
			return 0, fmt.Errorf("%w: position %q leads below 0", ErrFormat, short(s))
		}
		return base - n, nil
	}
	return n, nil
}
