package cli_test

import (
	"fmt"
	"strings"

	"mara/runner/internal/cli/cmd"
	"mara/runner/internal/cli/help"
)

// manuals returns the manual pages, by the name of their file: one about the
// program and one for each command.
func manuals(all []page) map[string]string {
	files := map[string]string{cmd.Program + ".1": programManual(all)}
	for _, p := range all {
		addManuals(files, p)
	}
	return files
}

func addManuals(files map[string]string, p page) {
	files[manualName(p)+".1"] = p.manual()
	for _, part := range p.parts {
		addManuals(files, part)
	}
}

func manualName(p page) string { return cmd.Program + "-" + strings.ReplaceAll(p.path, " ", "-") }

// roff collects a manual page. Every line of text is escaped.
type roff struct{ b strings.Builder }

// newRoff begins a page. It carries no date, so that it changes with its content only.
func newRoff(title, use string) *roff {
	r := &roff{}
	fmt.Fprintf(&r.b, ".TH %s 1 \"\" \"mara\" \"mara\"\n", strings.ToUpper(escapeRoff(title)))
	r.section("NAME")
	r.text(title + " - " + use)
	return r
}

func (r *roff) section(title string) { r.b.WriteString(".SH " + title + "\n") }

// text writes running text; its lines are filled.
func (r *roff) text(text string) {
	for line := range strings.Lines(text) {
		r.b.WriteString(escapeRoff(strings.TrimRight(line, "\n")) + "\n")
	}
}

// listed writes lines as they are.
func (r *roff) listed(lines []string) {
	if len(lines) == 0 {
		return
	}
	r.b.WriteString(".PP\n.RS 4\n.nf\n")
	r.text(strings.Join(lines, "\n"))
	r.b.WriteString(".fi\n.RE\n")
}

// item writes a term with what is said about it.
func (r *roff) item(term, text string) {
	r.b.WriteString(".TP\n.B " + escapeRoff(term) + "\n")
	r.text(text)
}

func (r *roff) paragraph(text string) {
	r.b.WriteString(".PP\n")
	r.text(text)
}

func (r *roff) flags(title string, flags []flagText) {
	if len(flags) == 0 {
		return
	}
	r.section(title)
	for _, f := range flags {
		r.item(f.typed, f.text+" ["+f.variable+"]")
	}
}

func (p page) manual() string {
	r := newRoff(manualName(p), strings.TrimSuffix(strings.ToLower(p.use[:1])+p.use[1:], "."))
	r.section("SYNOPSIS")
	r.text(p.synopsis)
	if len(p.aliases) > 0 {
		r.paragraph("Also " + cmd.Program + " " + strings.Join(p.aliases, ", "+cmd.Program+" ") + ".")
	}
	if len(p.prose) > 0 {
		r.section("DESCRIPTION")
	}
	for _, block := range p.prose {
		prose, listed := splitBlock(block)
		if prose != "" {
			r.paragraph(prose)
		}
		r.listed(listed)
	}
	r.commands(p.parts)
	if len(p.examples) > 0 {
		r.section("EXAMPLES")
		r.listed(p.examples)
	}
	r.flags("OPTIONS", p.own)
	r.flags("COMMON OPTIONS", p.more)
	if len(p.codes) > 0 {
		r.section("EXIT STATUS")
		r.listed(p.codes)
	}
	r.section("SEE ALSO")
	r.text(cmd.Program + "(1)")
	return r.b.String()
}

func (r *roff) commands(parts []page) {
	if len(parts) == 0 {
		return
	}
	r.section("COMMANDS")
	for _, p := range parts {
		r.item(manualName(p)+"(1)", p.use)
	}
}

func programManual(all []page) string {
	r := newRoff(cmd.Program, strings.ToLower(help.About[:1])+help.About[1:])
	r.section("SYNOPSIS")
	r.text(cmd.Program + " COMMAND [flags]")
	r.section("DESCRIPTION")
	for _, text := range introduction() {
		r.paragraph(text)
	}
	r.commands(all)
	r.section("EXIT STATUS")
	for _, code := range cmd.AllExitCodes() {
		r.item(fmt.Sprint(code), cmd.ExitMeanings()[code])
	}
	return r.b.String()
}

// escapeRoff keeps a line from being a request, and its characters as they are.
func escapeRoff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(line)
	if strings.HasPrefix(line, ".") {
		return `\&` + line
	}
	return line
}
