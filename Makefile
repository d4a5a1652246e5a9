# lime: build, demo and checks. Every target installs what it needs where it may
# (Debian or Ubuntu, as root), and otherwise names it.

GO      ?= go
# Non-PIE, at 0x70000000: the low addresses belong to the program that is measured.
LDFLAGS := -T 0x70000000 -E main.entry
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GODIRS  := cmd internal workloads

export CGO_ENABLED = 0

.PHONY: all build install release demo test check check-long bench lint fmt man web clean

all: build

build:
	@scripts/need go
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/lime ./cmd/lime

# The program with man pages and completions: make install PREFIX=$HOME/.local; packagers set DESTDIR.
PREFIX  ?= /usr/local
DESTDIR ?=
share   := $(DESTDIR)$(PREFIX)/share

install: build
	install -D -m 755 bin/lime $(DESTDIR)$(PREFIX)/bin/lime
	install -D -m 644 include/lime.h $(DESTDIR)$(PREFIX)/include/lime.h
	rm -rf bin/man && bin/lime man --dir bin/man
	install -d $(share)/man/man1 && install -m 644 bin/man/*.1 $(share)/man/man1
	install -d $(share)/bash-completion/completions $(share)/zsh/site-functions $(share)/fish/vendor_completions.d
	bin/lime completion bash >$(share)/bash-completion/completions/lime
	bin/lime completion zsh >$(share)/zsh/site-functions/_lime
	bin/lime completion fish >$(share)/fish/vendor_completions.d/lime.fish

# A static binary, packages, checksums and what it is built of, in bin/release.
release:
	scripts/release

demo: build
	@scripts/demo

# Twenty minutes on two idle cores, besides what is installed before. The limit, for each package, is there to
# end what hangs, not what is slow: a busy machine may take many times as long.
test: check
	@scripts/need --optional --tests
	$(GO) test -timeout 75m ./...

check:
	@scripts/need go
	@bad=$$(gofmt -l $(GODIRS) | grep -v /testdata/); [ -z "$$bad" ] || { echo "gofmt needed: $$bad" >&2; exit 1; }
	$(GO) vet ./...

# The long versions of the same tests: more programs, more instructions, more seeds; the race detector; real programs
# beside their native runs; the release, twice; and a newcomer's two commands on a machine that has nothing (as root on
# Debian).
check-long: check build
	@scripts/need --optional --tests --long
	LIME_LONG=1 $(GO) test -timeout 4h -count=1 ./...
	scripts/race
	scripts/programs --install
	scripts/waste-beside --install
	scripts/release --check
	scripts/fresh

bench: build
	@scripts/bench

lint:
	$(GO) run $(STATICCHECK) ./...

fmt:
	gofmt -w $(GODIRS)

# The page of 'lime view': internal/view/web/dist and licences.txt from web/src and the libraries that package-lock.json pins. What it makes is
# kept with the sources, so that nothing else needs npm; .ci/run holds the two together.
web:
	@scripts/need npm
	cd internal/view/web && npm ci --silent --ignore-scripts && npm run --silent build && node licences.mjs

man: build
	bin/lime man --dir bin/man

clean:
	rm -rf bin
