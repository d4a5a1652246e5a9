package profile

import (
	"fmt"
	"strconv"
	"strings"
)

// Message names a message between two ranks, by what both of them know of it.
type Message struct {
	Communicator string
	From, To     int64 // the ranks' numbers in the communicator
	Tag          int64
	N            uint64 // the how manieth of these, from 0
}

// Mail is what a rank sends and takes in a call in which it meets single others.
type Mail struct {
	Sent, Taken []Message
	Answered    bool // it goes on when what it has sent is received
}

// mailWord begins the word that stands for mail where a meeting has that of its communicator.
const mailWord = "mail"

// Meeting is the mail in the form that instances have.
func (m *Mail) Meeting() *Meeting {
	var b strings.Builder
	b.WriteString(mailWord)
	write := func(mark string, list []Message) {
		for _, x := range list {
			fmt.Fprintf(&b, " %s%d,%d,%d,%d,%s", mark, x.From, x.To, x.Tag, x.N, x.Communicator)
		}
	}
	sent := ">"
	if m.Answered {
		sent = "!"
	}
	write(sent, m.Sent)
	write("<", m.Taken)
	return &Meeting{Communicator: b.String()}
}

// Mail reads the mail of a meeting; nil if it is that of a communicator.
func (m *Meeting) Mail() *Mail {
	words := strings.Split(m.Communicator, " ")
	if words[0] != mailWord {
		return nil
	}
	mail := &Mail{}
	for _, w := range words[1:] {
		x, ok := readMessage(w)
		switch {
		case !ok: // nothing is known of it
		case w[0] == '<':
			mail.Taken = append(mail.Taken, x)
		default:
			mail.Sent, mail.Answered = append(mail.Sent, x), w[0] == '!'
		}
	}
	return mail
}

func readMessage(w string) (m Message, ok bool) {
	if w == "" || !strings.ContainsRune("<>!", rune(w[0])) {
		return m, false
	}
	const fields = 5
	f := strings.SplitN(w[1:], ",", fields)
	if len(f) < fields {
		return m, false
	}
	for i, to := range []*int64{&m.From, &m.To, &m.Tag} {
		n, err := strconv.ParseInt(f[i], 10, 64)
		if err != nil {
			return m, false
		}
		*to = n
	}
	n, err := strconv.ParseUint(f[3], 10, 64)
	m.N, m.Communicator = n, f[4]
	return m, err == nil
}
