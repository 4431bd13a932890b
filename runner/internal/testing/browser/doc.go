// Package browser tests the pages that the runner writes and serves, the report of a run, the picture of a plan and
// the pages of `runner web`, in a headless Chromium. It holds tests only. They are skipped where no Chromium is
// installed, and download nothing. With MARA_AXE, the path of axe.min.js from the npm package axe-core, the pages of
// `runner web` are also checked for accessibility by that library.
package browser
