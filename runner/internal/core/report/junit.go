package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"mara/config/lists"
	"mara/runner/internal/core/event"
)

// The elements of a JUnit report, as CI systems read them: the run is a suite,
// each project a test case, and each finding of a guard one more.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Timestamp  string          `xml:"timestamp,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Time    string        `xml:"time,attr"`
		File    string        `xml:"file,attr,omitempty"`
		Line    int           `xml:"line,attr,omitempty"`
		Failure *junitProblem `xml:"failure"`
		Error   *junitProblem `xml:"error"`
		Skipped *junitProblem `xml:"skipped"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitProblem struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes the summary as one suite. A cancelled project counts as an
// error: an interrupted run must not pass for a green one.
func writeJUnit(w io.Writer, s *event.Summary) error {
	suite := junitSuite{
		Name: fmt.Sprintf("%s %s/%s", s.Operation, s.Provider, s.Stack),
		Time: seconds(s.DurationMS), Timestamp: s.Started.UTC().Format("2006-01-02T15:04:05"),
		Properties: []junitProperty{{"run", s.Run}, {"result", string(s.Outcome())}, {"simulated", fmt.Sprint(s.Simulated)}},
	}
	for _, step := range s.Steps {
		suite.add(s, step)
	}
	suite.addFindings(s)
	suite.addOutcome(s)
	suite.Tests = len(suite.Cases)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(junitSuites{Suites: []junitSuite{suite}}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (j *junitSuite) add(s *event.Summary, step event.Step) {
	c := junitCase{Name: step.Name, Class: j.class(s), Time: seconds(step.DurationMS), Output: changes(step)}
	switch result(step) {
	case event.Failed:
		j.Failures++
		c.Failure = &junitProblem{Message: step.Error, Text: failureText(step)}
	case event.Skipped:
		j.Skipped++
		c.Skipped = &junitProblem{Message: step.Reason}
	case event.Cancelled, event.Interrupted:
		j.Errors++
		c.Error = &junitProblem{Message: strings.TrimSuffix(fmt.Sprintf("%s: %s", result(step), step.Reason), ": ")}
	}
	j.Cases = append(j.Cases, c)
}

// class returns the class that the cases of a run belong to.
func (*junitSuite) class(s *event.Summary) string {
	return strings.Join([]string{s.Provider, s.Stack, string(s.Operation)}, ".")
}

// failureText joins the messages of a failed step.
func failureText(step event.Step) string {
	return strings.Join(lists.Map(step.Errors(), func(d event.Diagnostic) string {
		return d.Text("\n")
	}), "\n\n")
}

func seconds(ms int64) string { return fmt.Sprintf("%.3f", float64(ms)/1000) }
