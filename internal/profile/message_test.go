package profile

import (
	"reflect"
	"testing"
)

// Mail is a meeting, and back.
func TestMailIsAMeeting(t *testing.T) {
	for _, m := range []Mail{
		{},
		{Sent: []Message{{"world", 0, 3, 7, 12}}},
		{Sent: []Message{{"world/2:1", 0, 3, -1, 1 << 63}}, Taken: []Message{{"world", 3, 0, 7, 0}, {"a,b", 1, 2, 3, 4}}, Answered: true},
	} {
		got := m.Meeting().Mail()
		if got == nil || !reflect.DeepEqual(*got, m) {
			t.Errorf("%+v: %+v", m, got)
		}
	}
	for _, word := range []string{"", "world", "world/2:1", "mailbox"} {
		if got := (&Meeting{Communicator: word}).Mail(); got != nil {
			t.Errorf("%q: %+v", word, got)
		}
	}
	if got := (&Meeting{Communicator: "mail ? >1 >1,2,3,4 <x,2,3,4,w <1,2,3,4,w"}).Mail(); len(got.Sent) != 0 || len(got.Taken) != 1 {
		t.Errorf("what cannot be read is no message: %+v", got)
	}
}
