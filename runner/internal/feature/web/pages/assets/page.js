// The script of `runner web`: it keeps a live page up to date, copies commands, filters rows while one types, zooms
// pictures and follows keys. Everything a page says is there without it.
"use strict";
(() => {
  const generation = document.documentElement.dataset.generation;
  const light = document.getElementById("light"), words = document.getElementById("live"), spoken = document.getElementById("spoken");
  const address = () => location.pathname + location.search;
  let source = null, timer = 0, spokenAt = 0;

  // show puts a new state of the page in place of the old one, and keeps focus, scrolling and what is open.
  const show = (text) => {
    const page = JSON.parse(text);
    const old = states();
    const content = document.getElementById("content"), next = content.cloneNode(false);
    next.innerHTML = page.main;
    const isOpen = (node) => node.tagName === "DETAILS" && node.open;
    Idiomorph.morph(content, next, {
      ignoreActiveValue: true,
      callbacks: {
        beforeAttributeUpdated: (name, node) => !(name === "value" && node.value !== node.defaultValue) && // what somebody has typed
          !(name === "open" && node.tagName === "DETAILS") && !(name === "width" && node.dataset.zoomed) &&
          !(name === "hidden" && node.tagName === "TR") && !(name === "class" && node.tagName === "TR" && node.classList.contains("at")),
        beforeNodeRemoved: (node) => !isOpen(node) || !next.querySelector("#" + CSS.escape(node.id || "none")),
      },
    });
    document.title = page.title + document.title.slice(document.title.lastIndexOf(" · "));
    filter();
    pointAgain();
    speak(old, states());
  };
  const states = () => new Map([...document.querySelectorAll('tr[id^="env-"]')].map(r => [r.id.slice(4), r.querySelector(".state").lastChild.data]));
  // speak tells those who do not see the page which environments have changed their state, and not more than needed.
  const speak = (was, is) => {
    const changes = [...is].filter(([name, state]) => was.has(name) && was.get(name) !== state);
    if (changes.length && Date.now() - spokenAt > 10000) {
      spokenAt = Date.now();
      spoken.textContent = changes.slice(0, 3).map(([name, state]) => name + " " + state).join(", ") + (changes.length > 3 ? ", and " + (changes.length - 3) + " more" : "");
    }
  };
  const mark = (state, text) => { light.className = state; words.textContent = text; };

  // age says how old what is shown is: what the server knew, and the time since it was heard.
  let heard = Date.now(), known = 0, gone = false;
  const hear = (seconds) => { heard = Date.now(); known = seconds * 1000; gone = false; age(); };
  const age = () => {
    if (!source || ended || gone) return;
    const old = Math.round((Date.now() - heard + known) / 1000);
    if (old < 5) mark("on", "live, " + new Date(heard - known).toISOString().slice(11, 19) + " UTC");
    else mark(old < 30 ? "old" : "off", (Date.now() - heard < 5000 ? "known " : "last heard ") + (old < 120 ? old + " s" : Math.round(old / 60) + " min") + " ago");
  };
  setInterval(age, 1000);

  // follow appends the lines of a log that grows. The id of each message is the place in the file, where a connection
  // that was lost begins again.
  const most = 2000;
  const follow = (lines) => {
    source = new EventSource(lines.dataset.follow + "?from=" + lines.dataset.from);
    source.addEventListener("hello", (e) => {
      const hello = JSON.parse(e.data);
      if (hello.generation !== generation) location.reload();
      if (hello.poll) again();
      hear(0);
    });
    source.addEventListener("beat", (e) => hear(JSON.parse(e.data).age));
    source.addEventListener("lines", (e) => {
      const atEnd = scrollY + innerHeight > document.body.scrollHeight - 80;
      lines.insertAdjacentHTML("beforeend", JSON.parse(e.data).html);
      lines.dataset.from = e.lastEventId;
      while (lines.children.length > most) lines.firstElementChild.remove();
      for (const id of ["last", "total"]) { const at = document.getElementById(id); if (at) at.textContent = e.lastEventId.split("-")[1]; }
      if (atEnd) scrollTo({top: document.body.scrollHeight});
    });
    source.addEventListener("end", (e) => {
      const {result} = JSON.parse(e.data), badge = document.getElementById("result");
      if (badge) { badge.textContent = result; badge.className = "badge " + ({succeeded: "succeeded", failed: "failed"}[result] || "cancelled"); }
      spoken.textContent = "the run has ended: " + result;
      close();
      ended = true;
      mark("", "ended");
    });
    source.onerror = lost;
  };
  let ended = false;
  const again = () => { close(); timer = setTimeout(() => { timer = 0; open(); }, 5000); };
  const lost = () => {
    gone = true;
    mark("off", "not live: the connection is gone");
    if (source.readyState === EventSource.CLOSED) again();
  };

  const open = () => {
    if (source || timer || ended || document.hidden) return;
    const lines = document.querySelector("[data-follow]");
    if (lines) { follow(lines); return; }
    source = new EventSource("/live?page=" + encodeURIComponent(address()));
    source.addEventListener("hello", (e) => {
      const hello = JSON.parse(e.data);
      if (hello.generation !== generation) location.reload();
      if (hello.poll) { // this browser has enough connections
        source.addEventListener("page", (e) => { show(e.data); hear(0); again(); }, {once: true});
      }
    });
    source.addEventListener("page", (e) => show(e.data));
    source.addEventListener("beat", (e) => hear(JSON.parse(e.data).age));
    source.onerror = lost;
  };
  const close = () => { if (source) source.close(); source = null; };
  if ("live" in document.body.dataset) {
    document.addEventListener("visibilitychange", () => { if (document.hidden) { close(); clearTimeout(timer); timer = 0; } else open(); });
    addEventListener("pagehide", close);
    addEventListener("pageshow", open);
    open();
  }

  // filter hides rows that do not have all words of the text above them.
  const filter = () => {
    const input = document.querySelector("[data-filter]");
    if (!input) return;
    const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    document.querySelectorAll("[data-rows] tr").forEach(row => {
      const text = wanted.length ? row.textContent.toLowerCase() : "";
      row.hidden = wanted.some(word => !text.includes(word));
    });
  };
  const asked = document.querySelector("[data-filter]"), wanted = new URLSearchParams(location.search).get("q");
  if (asked && wanted && !asked.value) { asked.value = wanted; filter(); } // of a page that is a file
  document.addEventListener("input", (e) => { if (e.target.matches("[data-filter]")) filter(); });

  // Pages are in UTC; a time says on hover what it is here.
  document.addEventListener("mouseover", (e) => {
    const time = e.target.closest && e.target.closest("time[datetime]"), at = time && new Date(time.dateTime);
    if (time && !isNaN(at)) time.title = at.toLocaleString(undefined, {dateStyle: "medium", timeStyle: "medium"}) + " here";
  });

  // point dims all of a picture but what a project needs and what needs it, while one points at the project.
  let pointed = "";
  const point = (node) => {
    for (const far of document.querySelectorAll(".graph .far")) far.classList.remove("far");
    pointed = node ? node.dataset.n : "";
    if (!node) return;
    const svg = node.closest(".graph"), edges = [...svg.querySelectorAll("[data-from]")];
    const reach = (from, to) => { // which nodes one comes to along edges
      const found = new Set([pointed]);
      for (const at of found) for (const e of edges) if (e.dataset[from] === at) found.add(e.dataset[to]);
      return found;
    };
    const needed = reach("to", "from"), needing = reach("from", "to");
    for (const n of svg.querySelectorAll("[data-n]")) n.classList.toggle("far", !needed.has(n.dataset.n) && !needing.has(n.dataset.n));
    for (const e of edges) e.classList.toggle("far", ![needed, needing].some(all => all.has(e.dataset.from) && all.has(e.dataset.to)));
  };
  const pointAgain = () => point(pointed && document.querySelector(`.graph [data-n="${pointed}"]:is(:hover,:focus-visible)`));
  for (const kind of ["mouseover", "focusin"]) document.addEventListener(kind, (e) => {
    const node = e.target.closest && e.target.closest(".graph [data-n]");
    if (node ? node.dataset.n !== pointed : pointed) point(node);
  });

  document.addEventListener("click", async (e) => {
    const copy = e.target.closest("[data-copy]"), by = e.target.closest("[data-by]");
    if (copy) {
      try { await navigator.clipboard.writeText(copy.dataset.copy); copy.textContent = "Copied"; } catch { copy.textContent = "Select it"; }
      copy.dataset.done = "";
      setTimeout(() => { copy.textContent = "Copy"; delete copy.dataset.done; }, 2000);
    }
    if (by) zoom(document.getElementById(by.parentElement.dataset.zoom), Number(by.dataset.by));
  });

  // zoom changes the width of a picture, and its box scrolls; 0 is the width that fits.
  const zoom = (box, factor) => {
    const svg = box.querySelector("svg");
    const width = factor ? Math.min(Math.max(svg.getBoundingClientRect().width * factor, 200), 8000) : svg.viewBox.baseVal.width;
    svg.setAttribute("width", Math.round(width));
    svg.setAttribute("height", Math.round(width * svg.viewBox.baseVal.height / svg.viewBox.baseVal.width));
    svg.dataset.zoomed = factor ? "1" : "";
    svg.classList.toggle("zoomed", factor !== 0);
  };
  document.addEventListener("wheel", (e) => {
    const box = e.target.closest(".picture");
    if (box && e.ctrlKey) { e.preventDefault(); zoom(box, e.deltaY < 0 ? 1.1 : 0.9); }
  }, {passive: false});

  // On a narrow screen the projects of a log stand in a row, which begins with the open one.
  const current = document.querySelector(".log ul a[aria-current]"), row = current && current.closest("ul");
  if (row && row.scrollWidth > row.clientWidth) row.scrollLeft = current.offsetLeft - row.offsetLeft - 20;

  let chord = "";
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, textarea, select")) return;
    const box = e.target.closest(".picture");
    const to = chord === "g" && document.querySelector(`.top [data-key="${CSS.escape(e.key)}"]`);
    if (to) { chord = ""; location.href = to.href; return; }
    chord = e.key;
    if (box && "+-0".includes(e.key)) zoom(box, {"+": 1.25, "-": 0.8, "0": 0}[e.key]);
    else if (e.key === "/") { const q = document.querySelector("[data-filter], #q, .filters input"); if (q) { e.preventDefault(); q.focus(); q.select(); } }
    else if (e.key === "?") location.href = document.querySelector("[data-keys]").href;
    else if (e.key === "j" || e.key === "k") step(e.key === "j" ? 1 : -1);
  });
  // step moves the focus from row to row.
  const step = (by) => {
    const rows = [...document.querySelectorAll(".rows tbody tr")].filter(r => !r.hidden && r.querySelector("a"));
    if (!rows.length) return;
    const at = rows.findIndex(r => r.contains(document.activeElement));
    const row = rows[Math.min(Math.max(at + by, 0), rows.length - 1)];
    (row.querySelector("th a") || row.querySelector("a")).focus();
  };
})();
