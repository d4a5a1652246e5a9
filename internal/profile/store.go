package profile

import (
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// openDB opens a SQLite file with URI parameters (mode, immutable, _pragma).
func openDB(path, params string) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	u := url.URL{Scheme: "file", Path: abs, RawQuery: params}
	return sql.Open("sqlite", u.String())
}

// createSchema fills an empty database with the format's tables.
func createSchema(db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	stmts := []string{
		fmt.Sprintf("PRAGMA application_id=%d", applicationID),
		fmt.Sprintf("PRAGMA user_version=%d", FormatVersion),
	}
	for _, t := range schema {
		stmts = append(stmts, t.create)
	}
	stmts = append(stmts, enumRows("label", labelNames), enumRows("node_kind", nodeKindNames), enumRows("edge_kind", edgeKindNames))
	for _, s := range stmts {
		if _, err := tx.Exec(s); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func enumRows(table string, names []string) string {
	rows := make([]string, len(names))
	for i, n := range names {
		rows[i] = fmt.Sprintf("(%d,'%s')", i, n)
	}
	return "INSERT INTO " + table + " VALUES " + strings.Join(rows, ",")
}

// statement is what one prepared statement inserts: a number of rows of a table.
type statement struct {
	table string
	rows  int
}

// statements are prepared once for all transactions: to parse one of many rows takes longer than to
// run it.
type statements struct {
	kept  map[statement]*sql.Stmt
	asked map[statement]string // by the last transaction, which prepared them for itself
}

func newStatements() *statements {
	return &statements{kept: map[statement]*sql.Stmt{}, asked: map[statement]string{}}
}

// prepare keeps what was asked for. The database has one connection, so that no transaction may be
// open.
func (s *statements) prepare(db *sql.DB) error {
	for key, query := range s.asked {
		st, err := db.Prepare(query)
		if err != nil {
			return err
		}
		s.kept[key] = st
	}
	clear(s.asked)
	return nil
}

// inserter inserts rows within one transaction.
type inserter struct {
	tx    *sql.Tx
	env   *env
	known *statements
	stmts map[statement]*sql.Stmt
	args  []any
}

func newInserter(tx *sql.Tx, e *env, known *statements) *inserter {
	return &inserter{tx: tx, env: e, known: known, stmts: map[statement]*sql.Stmt{}}
}

func (in *inserter) insert(table string, args ...any) error { return in.insertMany(table, 1, args) }

// insertMany inserts n rows, whose columns follow one another.
func (in *inserter) insertMany(table string, n int, args []any) error {
	key := statement{table, n}
	st := in.stmts[key]
	if st == nil {
		var err error
		if st, err = in.prepare(key, len(args)/n); err != nil {
			return err
		}
		in.stmts[key] = st
	}
	_, err := st.Exec(args...)
	return err
}

func (in *inserter) prepare(key statement, columns int) (*sql.Stmt, error) {
	if st := in.known.kept[key]; st != nil {
		return in.tx.Stmt(st), nil
	}
	row := "(?" + strings.Repeat(",?", columns-1) + ")"
	query := "INSERT OR REPLACE INTO " + key.table + " VALUES" + row + strings.Repeat(","+row, key.rows-1)
	in.known.asked[key] = query
	return in.tx.Prepare(query)
}

// insertRows inserts rows whose ids count up from first.
func insertRows[Row any](in *inserter, spec rowSpec[Row], first int, rows []Row) error {
	for len(rows) > 0 {
		n := atOnce(len(rows))
		if err := insertBatch(in, spec, first, rows[:n]); err != nil {
			return err
		}
		first, rows = first+n, rows[n:]
	}
	return nil
}

// rowsAtOnce is how many rows one statement inserts, if there are as many: running a statement
// costs more than a row.
const rowsAtOnce = 32

// atOnce is how many of the rows that are left the next statement inserts.
func atOnce(left int) int {
	if left >= rowsAtOnce {
		return rowsAtOnce
	}
	return 1
}

func insertRow[Row any](in *inserter, spec rowSpec[Row], id int, r *Row) error {
	return insertBatch(in, spec, id, []Row{*r})
}

func insertBatch[Row any](in *inserter, spec rowSpec[Row], id int, rows []Row) error {
	in.args = in.args[:0]
	for i := range rows {
		in.args = append(in.args, int64(id+i))
		for _, c := range spec.cols(&rows[i], in.env) {
			in.args = append(in.args, c)
		}
	}
	if err := in.insertMany(spec.table, len(rows), in.args); err != nil {
		return fmt.Errorf("%s %d to %d: %w", spec.table, id, id+len(rows)-1, err)
	}
	return nil
}

// insertMeta replaces the description of the run.
func (in *inserter) insertMeta(m *Meta) error {
	for _, f := range metaFields {
		if f.only != nil && !f.only(m) {
			continue
		}
		if err := in.insert("meta", f.key, f.col(m, in.env)); err != nil {
			return err
		}
	}
	if _, err := in.tx.Exec("DELETE FROM note"); err != nil {
		return err
	}
	return insertRows(in, noteRows, 0, m.Notes)
}

// insertLines inserts the text of source lines in the order of their numbers.
func (in *inserter) insertLines(first int, files []File) error {
	for i, f := range files {
		for _, n := range sortedKeys(f.Lines) {
			if err := in.insert("source_line", int64(first+i), int64(n), f.Lines[n]); err != nil {
				return err
			}
		}
	}
	return nil
}

// extent is a number of rows for every table: how many there are, or the ids of the next ones.
type extent struct {
	images, files, functions, nodes, edges, kinds, events, sections, threads, paths, samples int
	wasteTotals, wastePairs, accounts, traces, locks, lockWaits, lockHolds                   int
}

func (f *extent) advance(t *Tables) {
	f.images += len(t.Images)
	f.files += len(t.Files)
	f.functions += len(t.Functions)
	f.nodes += len(t.Nodes)
	f.edges += len(t.Edges)
	f.kinds += len(t.Kinds)
	f.events += len(t.Events)
	f.sections += len(t.Sections)
	f.threads += len(t.Threads)
	f.paths += len(t.Paths)
	f.samples += len(t.PathSamples)
	f.wasteTotals += len(t.WasteTotals)
	f.wastePairs += len(t.WastePairs)
	f.accounts += len(t.Accounts)
	f.traces += len(t.Traces)
	f.locks += len(t.Locks)
	f.lockWaits += len(t.LockWaits)
	f.lockHolds += len(t.LockHolds)
}

// insertTables inserts rows whose ids start at at.
func (in *inserter) insertTables(t *Tables, at extent) error {
	for _, step := range []func() error{
		func() error { return insertRows(in, imageRows, at.images, t.Images) },
		func() error { return insertRows(in, fileRows, at.files, t.Files) },
		func() error { return in.insertLines(at.files, t.Files) },
		func() error { return insertRows(in, functionRows, at.functions, t.Functions) },
		func() error { return in.insertNodes(t.Nodes) },
		func() error { return in.insertEdges(t.Edges) },
		func() error { return insertRows(in, kindRows, at.kinds, t.Kinds) },
		func() error { return insertRows(in, eventRows, at.events, t.Events) },
		func() error { return insertRows(in, sectionRows, at.sections, t.Sections) },
		func() error { return insertRows(in, threadRows, at.threads, t.Threads) },
		func() error { return insertRows(in, pathRows, at.paths, t.Paths) },
		func() error { return insertRows(in, sampleRows, at.samples, t.PathSamples) },
		func() error { return insertRows(in, wasteTotalRows, at.wasteTotals, t.WasteTotals) },
		func() error { return insertRows(in, wastePairRows, at.wastePairs, t.WastePairs) },
		func() error { return insertRows(in, accountRows, at.accounts, t.Accounts) },
		func() error { return insertRows(in, traceRows, at.traces, t.Traces) },
		func() error { return insertRows(in, lockRows, at.locks, t.Locks) },
		func() error { return insertRows(in, lockWaitRows, at.lockWaits, t.LockWaits) },
		func() error { return insertRows(in, lockHoldRows, at.lockHolds, t.LockHolds) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// insertInstances packs and inserts instances whose ids count up from first: first those without
// counts, most of a recording's, for which there is less to say.
func (in *inserter) insertInstances(p *packer, first int, list []*Instance) error {
	var bare, full []int
	for i, x := range list {
		if x.bare() {
			bare = append(bare, i)
		} else {
			full = append(full, i)
		}
	}
	if err := in.insertSome(p, bareInstance, first, list, bare); err != nil {
		return err
	}
	if err := in.insertSome(p, "instance", first, list, full); err != nil {
		return err
	}
	if err := in.insertMeetings(p, first, list); err != nil {
		return err
	}
	return in.insertHostTimes(p, first, list)
}

// bareInstance is the table with the columns that an instance without counts has.
const bareInstance = "instance(id,section,seq,threads,longest,work,parts)"

// insertSome inserts those instances of a list that are chosen.
func (in *inserter) insertSome(p *packer, table string, first int, list []*Instance, chosen []int) error {
	for len(chosen) > 0 {
		n := atOnce(len(chosen))
		in.args = in.args[:0]
		for _, i := range chosen[:n] {
			in.args = p.appendInstance(in.args, first+i, list[i])
			if table != bareInstance {
				in.args = p.appendCounts(in.args, list[i])
			}
		}
		if err := in.insertMany(table, n, in.args); err != nil {
			return fmt.Errorf("instance %d to %d: %w", first+chosen[0], first+chosen[n-1], err)
		}
		chosen = chosen[n:]
	}
	return nil
}

// appendInstance appends the columns of an instance, but for its counts.
func (p *packer) appendInstance(args []any, id int, x *Instance) []any {
	longest, work := x.longest(), uint64(0)
	for i := range x.Parts {
		work += x.Parts[i].Time()
	}
	args = append(args, int64(id), int64(x.Section), int64(x.Seq), int64(len(x.Parts)), int64(longest), int64(work))
	p.payload = appendParts(p.payload[:0], x.Parts)
	return append(args, p.pack(p.payload))
}

func (p *packer) appendCounts(args []any, x *Instance) []any {
	for _, m := range x.matrices() {
		p.payload = appendMatrix(p.payload[:0], *m)
		args = append(args, p.pack(p.payload))
	}
	return args
}

// bare reports whether the instance has no counts.
func (in *Instance) bare() bool {
	return len(in.Edges)+len(in.Events)+len(in.Costs)+len(in.Times) == 0
}

func (in *Instance) longest() (t uint64) {
	for i := range in.Parts {
		t = max(t, in.Parts[i].Time())
	}
	return t
}
