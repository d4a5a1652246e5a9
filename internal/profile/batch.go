package profile

import (
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strings"
)

// batchSize is how many instances one query reads: enough that asking costs little beside reading,
// and few enough that what is read ahead takes little memory.
const batchSize = 16

// batchCondition names the instances with the ids that it is given, in their order.
var batchCondition = "WHERE instance.id IN (?" + strings.Repeat(",?", batchSize-1) + ") ORDER BY instance.id"

// Instances yields the instances of a section. Some are read ahead: whoever takes them may read
// others meanwhile, as no query is open then.
func (r *Reader) Instances(s SectionID) iter.Seq2[*Instance, error] {
	return func(yield func(*Instance, error) bool) {
		n := r.InstanceCount(s)
		for first := 0; first < n; first += batchSize {
			list, err := r.batch(s, first, min(n, first+batchSize))
			for _, in := range list {
				if !yield(in, nil) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// batch reads the instances from first to last; with an error come those before it.
func (r *Reader) batch(s SectionID, first, last int) (list []*Instance, err error) {
	if r.pages != nil {
		return r.pageBatch(s, first, last)
	}
	if r.meeting != nil { // which is a query of its own for each
		for seq := first; seq < last; seq++ {
			in, err := r.Instance(s, seq)
			if err != nil {
				return list, err
			}
			list = append(list, in)
		}
		return list, nil
	}
	ids := make([]any, batchSize)
	for i := range ids {
		ids[i] = int64(-1)
		if first+i < last {
			ids[i] = r.ids[s][first+i]
		}
	}
	seq := first
	rows, err := r.several.Query(ids...)
	for err == nil && rows.Next() {
		in := &Instance{Section: s, Seq: seq}
		if err = r.batchRow(in, rows, ids[seq-first].(int64)); err == nil {
			list = append(list, in)
			seq++
		}
	}
	if rows != nil {
		err = errors.Join(err, rows.Err(), rows.Close())
	}
	if err == nil && seq < last {
		err = sql.ErrNoRows
	}
	if err != nil {
		err = fmt.Errorf("profile %s: section %d, instance %d: %w", r.path, s, seq, err)
	}
	return list, err
}

func (r *Reader) batchRow(in *Instance, rows *sql.Rows, want int64) error {
	var id int64
	var row instanceRow
	var raw [5]sql.RawBytes // taken apart before the next row comes
	if err := rows.Scan(&id, &row.sums[0], &row.sums[1], &row.sums[2],
		&raw[0], &raw[1], &raw[2], &raw[3], &raw[4], &row.host.chance, &row.host.parts); err != nil {
		return err
	}
	if id != want {
		return sql.ErrNoRows
	}
	for i := range raw {
		row.blobs[i] = raw[i]
	}
	return r.complete(in, &row)
}

// pageBatch is batch from the file's pages.
func (r *Reader) pageBatch(s SectionID, first, last int) (list []*Instance, err error) {
	seq := first
	err = r.pages.with(func(c *cursor) error {
		for ; seq < last; seq++ {
			in := &Instance{Section: s, Seq: seq}
			if err := r.pick(c, in); err != nil {
				return err
			}
			list = append(list, in)
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("profile %s: section %d, instance %d: %w", r.path, s, seq, err)
	}
	return list, err
}
