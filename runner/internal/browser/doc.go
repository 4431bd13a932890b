// Package browser looks at the pages that the runner writes, the report of a
// run and the picture of a plan, in a headless Chromium. It holds tests only;
// where no Chromium is installed they are skipped, and they download nothing.
package browser
