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
	var id, threads, longest, work int64
	var raw [5]sql.RawBytes // taken apart before the next row comes
	var host hostRow
	if err := rows.Scan(&id, &threads, &longest, &work,
		&raw[0], &raw[1], &raw[2], &raw[3], &raw[4], &host.chance, &host.parts); err != nil {
		return err
	}
	if id != want {
		return sql.ErrNoRows
	}
	var blobs [5][]byte
	for i := range raw {
		blobs[i] = raw[i]
	}
	return r.complete(in, id, blobs, host, [3]int64{threads, longest, work})
}
