package view

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// guard decides who is let in. See the package's comment for the rules.
type guard struct {
	token  string
	cookie string          // its name
	name   string          // under which the server was told to listen; may be ""
	posts  map[string]bool // what does something, and is asked for by POST only: nothing, unless the user allowed it
}

// newGuard draws a token. host is what --listen named.
func newGuard(host string) *guard {
	g := &guard{token: rand.Text(), name: strings.ToLower(host), posts: map[string]bool{}}
	sum := sha256.Sum256([]byte(g.token))
	g.cookie = "lime-" + hex.EncodeToString(sum[:6])
	return g
}

// check returns why a request is refused; nil if it is not.
func (g *guard) check(r *http.Request) *Problem {
	switch {
	case g.posts[r.URL.Path] && r.Method != http.MethodPost:
		return &Problem{http.StatusMethodNotAllowed, "This does something: it wants POST."}
	case !g.posts[r.URL.Path] && r.Method != http.MethodGet && r.Method != http.MethodHead:
		return &Problem{http.StatusMethodNotAllowed, "lime view only shows: GET and HEAD are all that it knows here."}
	case !g.host(r.Host):
		return refuse("This server does not answer to the name %q. Use the address that lime view printed.", cut(r.Host))
	case !sameOrigin(r):
		return refuse("This request comes from another site.")
	case !g.known(r):
		return refuse("The token is missing or wrong. Open the address that lime view printed: it ends with ?token=…")
	}
	return nil
}

func refuse(format string, args ...any) *Problem {
	return &Problem{http.StatusForbidden, fmt.Sprintf(format, args...)}
}

func cut(s string) string { return s[:min(len(s), 80)] }

// host tells whether a Host header is one under which nobody else can make a browser send requests
// here: an IP address, localhost, or the name that --listen gave. Any port may stand in it: people
// forward ports.
func (g *guard) host(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return name == "localhost" || g.name != "" && name == g.name
}

// sameOrigin tells whether a request comes from this page, or from no page at all.
func sameOrigin(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !strings.EqualFold(u.Host, r.Host) {
			return false
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return true
	}
	return r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.URL.Path == "/" // a link to the page
}

// known tells whether a request has the token.
func (g *guard) known(r *http.Request) bool {
	if c, err := r.Cookie(g.cookie); err == nil && g.same(c.Value) {
		return true
	}
	if t, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && g.same(t) {
		return true
	}
	return g.same(r.URL.Query().Get("token"))
}

func (g *guard) same(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(g.token)) == 1
}

// policy is the Content-Security-Policy of all answers.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri " +
	"'none'; form-action 'none'; frame-ancestors 'none'"

// headers sets what every answer carries.
func headers(h http.Header) {
	for k, v := range map[string]string{
		"Content-Security-Policy":      policy,
		"X-Content-Type-Options":       "nosniff",
		"Referrer-Policy":              "no-referrer",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Cache-Control":                "no-store",
	} {
		h.Set(k, v)
	}
}
