package profile

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
)

// textHeader is the first line of a profile in text; those of format 1, which has no offsets, are
// read, too.
const (
	textHeader  = textWord + "2"
	textHeader1 = textWord + "1"
)

// WriteText writes a profile as text, line by line, for people and tests; docs/profile-format.md
// has the rules. ReadText reads it back.
func WriteText(to io.Writer, s Source) error {
	w := textWriter{bufio.NewWriter(to)}
	fmt.Fprintln(w, textHeader)
	w.meta(s.Meta())
	w.tables(s.Tables())
	for id := range s.Tables().Sections {
		for in, err := range s.Instances(SectionID(id)) {
			if err != nil {
				return err
			}
			w.instance(in)
		}
	}
	return w.Flush()
}

type textWriter struct{ *bufio.Writer }

func (w textWriter) fields(fs []textField) {
	for _, f := range fs {
		for _, v := range f.get() {
			fmt.Fprintf(w, " %s=%s", f.key, v)
		}
	}
	w.WriteByte('\n')
}

func writeRows[Row any](w textWriter, spec textRow[Row], rows []Row) {
	for i := range rows {
		w.WriteString(spec.word)
		w.WriteByte(' ')
		w.WriteString(strconv.Itoa(i))
		w.fields(spec.fields(&rows[i]))
	}
}

// writeLines writes rows that nothing refers to, and that have no number.
func writeLines[Row any](w textWriter, spec textRow[Row], rows []Row) {
	for i := range rows {
		w.WriteString(spec.word)
		w.fields(spec.fields(&rows[i]))
	}
}

// meta writes a line per field, which reads and compares better than one long line.
func (w textWriter) meta(m *Meta) {
	for _, f := range metaText.fields(m) {
		if len(f.get()) > 0 {
			w.WriteString(metaText.word)
			w.fields([]textField{f})
		}
	}
	for i := range m.Notes {
		w.WriteString(noteText.word)
		w.fields(noteText.fields(&m.Notes[i]))
	}
}

func (w textWriter) tables(t *Tables) {
	writeRows(w, imageText, t.Images)
	for i := range t.Files {
		fmt.Fprintf(w, "%s %d", fileText.word, i)
		w.fields(fileText.fields(&t.Files[i]))
		for _, n := range sortedKeys(t.Files[i].Lines) {
			w.WriteString(lineText.word)
			w.fields(lineText.fields(&sourceLine{FileID(i), n, t.Files[i].Lines[n]}))
		}
	}
	writeRows(w, functionText, t.Functions)
	writeRows(w, nodeText, t.Nodes)
	writeRows(w, edgeText, t.Edges)
	writeRows(w, kindText, t.Kinds)
	writeRows(w, eventText, t.Events)
	writeRows(w, sectionText, t.Sections)
	writeRows(w, threadText, t.Threads)
	writeRows(w, pathText, t.Paths)
	writeLines(w, sampleText, t.PathSamples)
	writeLines(w, wasteTotalText, t.WasteTotals)
	writeLines(w, wastePairText, t.WastePairs)
	writeLines(w, accountText, t.Accounts)
	writeLines(w, traceText, t.Traces)
	writeRows(w, lockText, t.Locks)
	writeLines(w, lockWaitText, t.LockWaits)
	writeLines(w, lockHoldText, t.LockHolds)
}

func (w textWriter) instance(in *Instance) {
	w.WriteString(instanceText.word)
	w.fields(instanceText.fields(in))
	for i := range in.Parts {
		w.WriteString(partText.word)
		w.fields(partText.fields(&in.Parts[i]))
	}
	for i, m := range in.matrices() {
		for _, row := range splitRows(*m) {
			fmt.Fprintf(w, "%s %d", matrixNames[i], row[0].Row)
			w.cells(row, len(in.Parts))
		}
	}
}

// cells writes a row as a value for every part if most parts have one, else as part:value.
func (w textWriter) cells(row []Count, parts int) {
	if 2*len(row) <= parts {
		for _, c := range row {
			fmt.Fprintf(w, " %d:%d", c.Part, c.N)
		}
		w.WriteByte('\n')
		return
	}
	next := int32(0)
	for _, c := range row {
		for ; next < c.Part; next++ {
			w.WriteString(" 0")
		}
		fmt.Fprintf(w, " %d", c.N)
		next++
	}
	w.WriteByte('\n')
}
