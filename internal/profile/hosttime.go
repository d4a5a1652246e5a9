package profile

import (
	"database/sql"
	"encoding/binary"
	"fmt"
)

// HostTime is what a part took on the host, beside the profile's own clock: nanoseconds, with what
// the collector did meanwhile. Both are 0 where they were not measured.
type HostTime struct {
	CPU  uint64 // processor time
	Wall uint64 // from its start to its arrival, as the wall shows it
}

// hostTables came later than the rest: see later.
var hostTables = []tableSpec{
	{"host_time", `CREATE TABLE host_time(id INTEGER PRIMARY KEY, chance INTEGER, parts BLOB)`},
}

// onHost reports whether an instance has a row in the table.
func (in *Instance) onHost() bool {
	for i := range in.Parts {
		if in.Parts[i].Host != (HostTime{}) {
			return true
		}
	}
	return in.Chance > 0
}

func appendHostTimes(b []byte, ps []Part) []byte {
	for i := range ps {
		b = binary.AppendUvarint(b, ps[i].Host.CPU)
		b = binary.AppendUvarint(b, ps[i].Host.Wall)
	}
	return b
}

func parseHostTimes(payload []byte, ps []Part, room *budget) error {
	d := &decoder{b: payload, room: room}
	for i := range ps {
		ps[i].Host = HostTime{CPU: d.uvarint(), Wall: d.uvarint()}
	}
	return d.end()
}

// insertHostTimes inserts the rows of those instances of a list that have one.
func (in *inserter) insertHostTimes(p *packer, first int, list []*Instance) error {
	for i, x := range list {
		if !x.onHost() {
			continue
		}
		p.payload = appendHostTimes(p.payload[:0], x.Parts)
		if err := in.insert("host_time", int64(first+i), int64(x.Chance), p.pack(p.payload)); err != nil {
			return fmt.Errorf("host times of instance %d: %w", first+i, err)
		}
	}
	return nil
}

// hostRow is what a query for instances reads of the table beside each: nothing if it has no row there.
type hostRow struct {
	chance sql.NullInt64
	parts  []byte
}

// whole is the query for all of the instances that a condition names, behind some first columns. A
// query of its own for each one's host times would take a fifth of the time of a report.
func (r *Reader) whole(first, condition string) string {
	host, from := "NULL, NULL", "instance"
	if r.onHost {
		host, from = "host_time.chance, host_time.parts", "instance LEFT JOIN host_time ON host_time.id = instance.id"
	}
	return "SELECT " + first + "instance.id, threads, longest, work, instance.parts, edges, events, costs, times, " + host +
		" FROM " + from + " " + condition
}

// take fills in what an instance took on the host, if that is known.
func (h *hostRow) take(in *Instance, size int64) error {
	if !h.chance.Valid {
		return nil
	}
	room := newBudget(size)
	payload, err := unpack(h.parts, room)
	if err == nil {
		err = parseHostTimes(payload, in.Parts, room)
	}
	if err != nil {
		return fmt.Errorf("host times: %w", err)
	}
	in.Chance = uint64(h.chance.Int64)
	return nil
}

// prepareHostTimes finds out whether there are any.
func (r *Reader) prepareHostTimes(absent bool) error {
	if absent {
		return nil
	}
	return r.db.QueryRow("SELECT EXISTS(SELECT 1 FROM host_time)").Scan(&r.onHost)
}

// copyHostTimes copies the rows as they are.
func (r *Reader) copyHostTimes(in *inserter) error {
	if !r.onHost {
		return nil
	}
	rows, err := r.db.Query("SELECT id, chance, parts FROM host_time ORDER BY id")
	if err != nil {
		return err
	}
	defer rows.Close()
	var raw [3]any
	for rows.Next() {
		if err := rows.Scan(&raw[0], &raw[1], &raw[2]); err != nil {
			return err
		}
		if err := in.insert("host_time", raw[:]...); err != nil {
			return err
		}
	}
	return rows.Err()
}
