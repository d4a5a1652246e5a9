package profile

// Accounted is what became of some of the instructions that a thread executed: they are counted in
// its sections, or they are not, for a reason. A thread's rows add up to what it executed, which is
// the row "executed".
type Accounted struct {
	Thread ThreadID // None: all those that have no row of their own, such as goroutines
	What   string   // one of the names below
	Instrs uint64
}

// What became of instructions.
const (
	Executed      = "executed"      // all that the thread executed
	InSections    = "in-sections"   // counted in a section
	OutLoop       = "waiting-loop"  // in rounds of loops in which it was proved to wait
	OutCall       = "waiting-call"  // inside of calls that wait, or that look for work
	OutRuntime    = "runtime"       // in a runtime, on the way into the program's own code or back into it
	OutIdle       = "without-work"  // a runtime's thread that had no work
	OutRegion     = "outside"       // outside of what was measured
	OutNoSection  = "no-section"    // at work, in no section
	Unaccountable = "unaccounted"   // none of these: must not be
	accountTable  = "instr_account" // came later than the rest: see later
)

var accountTables = []tableSpec{
	{accountTable, `CREATE TABLE instr_account(id INTEGER PRIMARY KEY, thread INTEGER, what TEXT, instrs INTEGER)`},
}

var accountRows = rowSpec[Accounted]{accountTable, func(r *Accounted, e *env) []column {
	return []column{num[ThreadID]{&r.Thread}, text[string]{&r.What, e}, num[uint64]{&r.Instrs}}
}}

var accountText = textRow[Accounted]{"account", Accounted{Thread: None}, func(r *Accounted) []textField {
	return []textField{id("thread", &r.Thread), str("what", &r.What), dec("instrs", &r.Instrs, 0)}
}}

// checkAccount validates the account of instructions.
func (t *Tables) checkAccount(at, n extent) error {
	return checkRows(accountTable, at.accounts, t.Accounts, func(r *refs, _ int, x *Accounted) {
		r.to("thread", int32(x.Thread), n.threads)
		r.that(x.What != "", "it does not say what became of the instructions")
	})
}

// AddAccount appends what became of some of a thread's instructions.
func (t *Tables) AddAccount(r Accounted) { t.Accounts = append(t.Accounts, r) }

// AddAccount appends a row to be written with the next transaction.
func (w *Writer) AddAccount(r Accounted) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next.tables.AddAccount(r)
}

// Account sums the rows of all threads.
func (t *Tables) Account() map[string]uint64 {
	sums := map[string]uint64{}
	for i := range t.Accounts {
		sums[t.Accounts[i].What] += t.Accounts[i].Instrs
	}
	return sums
}
