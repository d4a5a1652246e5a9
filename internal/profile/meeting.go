package profile

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// Meeting says what an instance ends with, if that is a call in which processes meet: which
// collective operation of which communicator. The instances of different ranks with the same
// meeting are one instance of the whole run.
type Meeting struct {
	Communicator string // the same word in all its ranks: "world", "world/2:1", ...; "" if it is not known
	N            uint64 // the how manieth collective operation of the communicator, from 0
}

// Rank is the rank that a thread of a merged profile belongs to, as its name has it.
func (t *Thread) Rank() (rank int, ok bool) {
	n, err := fmt.Sscanf(t.Name, "rank %d", &rank)
	return rank, n == 1 && err == nil
}

// MeetRole says who waits for whom in a meeting.
type MeetRole uint8

// The roles.
const (
	MeetAll   MeetRole = iota // goes on when all have come: a barrier, an all-to-all
	MeetFeeds                 // goes on at once; others wait for it: the root of a broadcast
	MeetWaits                 // waits for those who feed, nobody for it
)

var meetRoleNames = []string{MeetAll: "all", MeetFeeds: "feeds", MeetWaits: "waits"}

// String returns "all", "feeds" or "waits".
func (r MeetRole) String() string { return name(meetRoleNames, r) }

// Feeds reports whether others wait for who has the role.
func (r MeetRole) Feeds() bool { return r != MeetWaits }

// Waits reports whether who has the role waits for others.
func (r MeetRole) Waits() bool { return r != MeetFeeds }

// meetingTables came later than the rest: see later.
var meetingTables = []tableSpec{
	{"meeting", `CREATE TABLE meeting(id INTEGER PRIMARY KEY, communicator TEXT, n INTEGER, parts BLOB)`},
}

// appendMeets appends the roles of the parts in a meeting, and how early they had done their share;
// nothing if all have the role all and did it when they arrived.
func appendMeets(b []byte, ps []Part) []byte {
	plain := true
	for i := range ps {
		plain = plain && ps[i].Meets == MeetAll && ps[i].Early == 0
	}
	if plain {
		return b
	}
	for i := range ps {
		b = binary.AppendUvarint(b, uint64(ps[i].Meets))
		b = binary.AppendUvarint(b, ps[i].Early)
	}
	return b
}

func parseMeets(payload []byte, ps []Part, room *budget) error {
	if len(payload) == 0 {
		return nil
	}
	d := &decoder{b: payload, room: room}
	for i := range ps {
		role := d.uvarint()
		if role > uint64(MeetWaits) {
			return fmt.Errorf("part %d has role %d in a meeting, which is unknown", i, role)
		}
		ps[i].Meets, ps[i].Early = MeetRole(role), d.uvarint()
	}
	return d.end()
}

// insertMeetings inserts the rows of those instances of a list that have one.
func (in *inserter) insertMeetings(p *packer, first int, list []*Instance) error {
	for i, x := range list {
		if x.Meeting == nil {
			continue
		}
		p.payload = appendMeets(p.payload[:0], x.Parts)
		if err := in.insert("meeting", int64(first+i), x.Meeting.Communicator, int64(x.Meeting.N), p.pack(p.payload)); err != nil {
			return fmt.Errorf("meeting of instance %d: %w", first+i, err)
		}
	}
	return nil
}

// meetingRow is what the table says of an instance, if it has a row there.
type meetingRow struct {
	there bool
	word  string
	n     int64
	parts []byte
}

// meetingOf asks the database for an instance's row.
func (r *Reader) meetingOf(id int64) (m meetingRow, err error) {
	if r.meeting == nil {
		return m, nil
	}
	rows, err := r.meeting.Query(id)
	if err != nil {
		return m, err
	}
	defer rows.Close()
	if rows.Next() {
		m.there = true
		if err := rows.Scan(&m.word, &m.n, &m.parts); err != nil {
			return m, fmt.Errorf("meeting: %w", err)
		}
	}
	return m, rows.Err()
}

// take fills in an instance's meeting, if it has one.
func (m *meetingRow) take(in *Instance, size int64) error {
	if !m.there {
		return nil
	}
	room := newBudget(size)
	payload, err := unpack(m.parts, room)
	if err == nil {
		err = parseMeets(payload, in.Parts, room)
	}
	if err != nil {
		return fmt.Errorf("meeting: %w", err)
	}
	in.Meeting = &Meeting{m.word, uint64(m.n)}
	return nil
}

// prepareMeetings finds out whether there are any.
func (r *Reader) prepareMeetings(absent bool) error {
	if absent {
		return nil
	}
	var any bool
	err := r.db.QueryRow("SELECT EXISTS(SELECT 1 FROM meeting)").Scan(&any)
	if err != nil || !any {
		return err
	}
	r.meeting, err = r.db.Prepare("SELECT communicator, n, parts FROM meeting WHERE id=?")
	return err
}

// copyMeetings copies the rows as they are.
func (r *Reader) copyMeetings(in *inserter) error {
	if r.meeting == nil {
		return nil
	}
	rows, err := r.db.Query("SELECT id, communicator, n, parts FROM meeting ORDER BY id")
	if err != nil {
		return err
	}
	defer rows.Close()
	var raw [4]any
	for rows.Next() {
		if err := rows.Scan(&raw[0], &raw[1], &raw[2], &raw[3]); err != nil {
			return err
		}
		if err := in.insert("meeting", raw[:]...); err != nil {
			return err
		}
	}
	return rows.Err()
}

// meetingField is a meeting in text: "world":3.
func meetingField(p **Meeting) textField {
	return textField{"meeting", func() []string {
		if *p == nil {
			return nil
		}
		return []string{strconv.Quote((*p).Communicator) + ":" + strconv.FormatUint((*p).N, 10)}
	}, func(s string) error {
		i := strings.LastIndexByte(s, ':')
		if i < 0 {
			return fmt.Errorf("%s is no \"COMMUNICATOR\":NUMBER", s)
		}
		var m Meeting
		var err error
		if m.Communicator, err = unquote(s[:i]); err == nil {
			err = parseInt(s[i+1:], &m.N)
		}
		*p = &m
		return err
	}}
}
