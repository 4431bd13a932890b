// Package browser tests the pages that the runner writes, the report of a run and
// the picture of a plan, in a headless Chromium. It holds tests only. They are
// skipped where no Chromium is installed, and download nothing.
package browser
