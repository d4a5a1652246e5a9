package profile

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"
)

// metaField is one row of the table meta. Strings, integers and floats stand as
// such, the command as a JSON array.
type metaField struct {
	key  string
	col  func(*Meta, *env) column
	rank bool // stands there for ranks only
}

var metaFields = []metaField{
	{"tool", func(m *Meta, e *env) column { return text[string]{&m.Tool, e} }, false},
	{"collector", func(m *Meta, e *env) column { return text[string]{&m.Collector, e} }, false},
	{"model", func(m *Meta, e *env) column { return text[string]{&m.Model, e} }, false},
	{"machine", func(m *Meta, e *env) column { return text[string]{&m.Machine, e} }, false},
	{"command", func(m *Meta, e *env) column { return list{&m.Command, e} }, false},
	{"cores", func(m *Meta, e *env) column { return num[int]{&m.Cores} }, false},
	{"clock_unit", func(m *Meta, e *env) column { return text[string]{&m.ClockUnit, e} }, false},
	{"clock_hz", func(m *Meta, e *env) column { return real{&m.ClockHz} }, false},
	{"time_label", func(m *Meta, e *env) column { return num[Label]{&m.TimeLabel} }, false},
	{"count_label", func(m *Meta, e *env) column { return num[Label]{&m.CountLabel} }, false},
	{"node_time", func(m *Meta, e *env) column { return text[string]{&m.NodeTime, e} }, false},
	{"end_state", func(m *Meta, e *env) column { return text[string]{&m.EndState, e} }, false},
	{"exit_status", func(m *Meta, e *env) column { return num[int]{&m.ExitStatus} }, false},
	{"run_time", func(m *Meta, e *env) column { return num[uint64]{&m.RunTime} }, false},
	{"core_time", func(m *Meta, e *env) column { return num[uint64]{&m.CoreTime} }, false},
	{"complete", func(m *Meta, e *env) column { return truth{&m.Complete} }, false},
	{"resolved", func(m *Meta, e *env) column { return truth{&m.Resolved} }, false},
	{"launcher", func(m *Meta, e *env) column { return text[string]{&m.Launcher, e} }, true},
	{"rank", func(m *Meta, e *env) column { return num[int]{&m.Rank} }, true},
	{"ranks", func(m *Meta, e *env) column { return num[int]{&m.Ranks} }, true},
	{"host", func(m *Meta, e *env) column { return text[string]{&m.Host, e} }, true},
	{"job", func(m *Meta, e *env) column { return text[string]{&m.Job, e} }, true},
}

func findMeta(key string) (metaField, bool) {
	for _, f := range metaFields {
		if f.key == key {
			return f, true
		}
	}
	return metaField{}, false
}

// list is a list of strings, stored as a JSON array.
type list struct {
	p   *[]string
	env *env
}

func (c list) Value() (v driver.Value, err error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if *c.p == nil {
		return "[]", nil
	}
	err = enc.Encode(*c.p)
	return strings.TrimSuffix(b.String(), "\n"), err
}

func (c list) Scan(v any) error {
	s, ok := v.(string)
	if !ok {
		return fmt.Errorf("%s instead of text", kindOf(v))
	}
	if err := c.env.spend(len(s)); err != nil {
		return err
	}
	var l []string
	if err := json.Unmarshal([]byte(s), &l); err != nil {
		return fmt.Errorf("list of strings: %w", err)
	}
	if len(l) > 0 {
		*c.p = l
	}
	return nil
}

// truth is a truth value, stored as 0 or 1.
type truth struct{ p *bool }

func (c truth) Value() (driver.Value, error) {
	if *c.p {
		return int64(1), nil
	}
	return int64(0), nil
}

func (c truth) Scan(v any) error {
	if v != int64(0) && v != int64(1) {
		return fmt.Errorf("%v instead of 0 or 1", v)
	}
	*c.p = v == int64(1)
	return nil
}
