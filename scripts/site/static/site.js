// Search, copy buttons and folding menus. search.json has each section of each page; nothing is sent anywhere.
"use strict";
(() => {
  const root = new URL(".", document.currentScript.src);
  const form = document.getElementById("search");
  const input = form.querySelector("input");
  const list = document.getElementById("found");

  // stem maps the forms of a word to one: previews, previewed and previewing to preview.
  const stem = (word) => {
    if (!/^[a-z]+$/.test(word)) return word;
    let w = word.replace(/(ss|sh|ch|x)es$/, "$1");
    if (w.length > 4) w = w.replace(/ies$/, "y");
    if (w.length > 3) w = w.replace(/([^su])s$/, "$1");
    const cut = /^(.{3,}?)(ations?|ments?|isms?|ing|ions?|ed|er)$/.exec(w);
    if (cut) w = cut[1].replace(/([bdgmnprt])\1$/, "$1");
    return w.length > 3 ? w.replace(/e$/, "") : w;
  };

  // wordsOf splits a text into words; names such as kind:http_port and mara.yaml stay whole, and count by their parts as well.
  const wordsOf = (text) => {
    const all = [];
    for (const whole of text.toLowerCase().split(/[^\p{L}\p{N}_:.\/-]+/u)) {
      const word = whole.replace(/^[:.\/-]+|[:.\/-]+$/g, "");
      if (!word) continue;
      all.push(stem(word));
      if (/[_:.\/-]/.test(word)) all.push(...word.split(/[_:.\/-]+/).filter(Boolean).map(stem));
    }
    return all;
  };

  const count = (words) => {
    const counts = new Map();
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
    return counts;
  };

  let index; // made once a user looks for something
  const load = () => index ??= fetch(new URL("search.json", root)).then((answer) => answer.json()).then((read) => {
    const synonyms = new Map(Object.entries(read.synonyms).map(([word, others]) => [stem(word), others.map(stem)]));
    const sections = read.sections.map((s) => ({
      ...s, lower: s.text.toLowerCase(),
      titleWords: count(wordsOf(s.title)), pageWords: count(wordsOf(s.page)), textWords: count(wordsOf(s.text)),
    }));
    return { synonyms, sections };
  });

  // worth returns the points of a section for one word: most for its title, then for its page, then for its text.
  const worth = (s, word) => {
    const times = (counts) => {
      const exact = counts.get(word);
      if (exact) return exact;
      if (word.length < 3) return 0;
      for (const [other, n] of counts) if (other.startsWith(word)) return n / 2; // a word that is being typed
      return 0;
    };
    const inTitle = Math.min(1, times(s.titleWords)), inPage = Math.min(1, times(s.pageWords)), inText = times(s.textWords);
    return 20 * inTitle + 8 * inPage + 4 * Math.min(1, inText / 2) + 3 * Math.min(1, inText * 40 / (60 + s.text.length / 6));
  };

  // split returns the words of a search; a phrase that has synonyms counts as one.
  const split = (asked, synonyms) => {
    const words = [];
    let rest = asked.toLowerCase();
    for (const phrase of synonyms.keys()) {
      if (!phrase.includes(" ") || !rest.includes(phrase)) continue;
      words.push(phrase);
      rest = rest.replace(phrase, " ");
    }
    const clean = (word) => word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "");
    return [...words, ...rest.split(/\s+/).map(clean).filter(Boolean).map(stem)];
  };

  // fit returns the points of a section, and how many of the words it has.
  const fit = (s, words, asked, synonyms) => {
    let points = 0, has = 0;
    for (const word of words) {
      const others = (synonyms.get(word) ?? []).map((other) => 0.8 * worth(s, other));
      const best = Math.max(worth(s, word), ...others);
      if (best > 0) has++;
      points += best;
    }
    if (words.length > 1 && (s.lower.includes(asked) || s.title.toLowerCase().includes(asked))) points += 15;
    if (s.title === s.page) points *= 1.2; // the page itself
    return { section: s, points: points / [0, 1, 1.8, 4][s.rank], has };
  };

  const search = async (asked) => {
    const { synonyms, sections } = await load();
    const words = split(asked, synonyms);
    if (words.length === 0) return [];
    const all = sections.map((s) => fit(s, words, asked.toLowerCase().trim(), synonyms)).filter((one) => one.has > 0);
    const most = Math.max(0, ...all.map((one) => one.has));
    return all.filter((one) => one.has === most).sort((a, b) => b.points - a.points).slice(0, 12).map((one) => ({ ...one.section, words }));
  };

  // excerpt returns a part of a text around its first word that was asked for, with the words marked.
  const excerpt = (text, words) => {
    const parts = text.split(/(\s+)/), fits = parts.map((part) => wordsOf(part).some((w) => words.includes(w)));
    let from = Math.max(0, fits.indexOf(true) - 10), length = 0;
    if (from % 2) from--;
    const out = document.createElement("span");
    if (from > 0) out.append("…");
    for (let i = from; i < parts.length && length < 140; length += parts[i++].length) {
      if (!fits[i]) { out.append(parts[i]); continue; }
      const mark = document.createElement("mark");
      mark.textContent = parts[i];
      out.append(mark);
    }
    if (length >= 140) out.append("…");
    return out;
  };

  const show = (section) => {
    const link = document.createElement("a"), title = document.createElement("strong"), place = document.createElement("small");
    link.href = new URL(section.url, root);
    title.textContent = section.title;
    place.textContent = section.page === section.title ? "" : section.page;
    link.append(title, " ", place, document.createElement("br"), excerpt(section.text, section.words));
    const item = document.createElement("li");
    item.append(link);
    return item;
  };

  const look = async () => {
    const asked = input.value;
    if (!asked.trim()) { list.hidden = true; return; }
    const items = (await search(asked)).map(show);
    if (input.value !== asked) return; // the user types on
    if (items.length === 0) {
      const nothing = document.createElement("li");
      nothing.textContent = "Nothing is found. Try other words.";
      items.push(nothing);
    }
    list.replaceChildren(...items);
    list.hidden = false;
  };

  // move goes through the results with the arrow keys, and back to the input from the first.
  const move = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || list.hidden || !form.contains(document.activeElement)) return;
    const stops = [input, ...list.querySelectorAll("a")];
    const next = stops[Math.min(stops.length - 1, Math.max(0, stops.indexOf(document.activeElement) + step))];
    event.preventDefault();
    next.focus();
  };

  input.addEventListener("focus", load);
  input.addEventListener("input", look);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await look();
    list.querySelector("a")?.click();
  });
  form.addEventListener("click", (event) => { if (event.target.closest("#found a")) list.hidden = true; });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { list.hidden = true; input.blur(); }
    if (event.key === "/" && document.activeElement !== input) { event.preventDefault(); input.focus(); }
    move(event);
  });
  document.addEventListener("click", (event) => { if (!form.contains(event.target)) list.hidden = true; });

  // A button at each block of code copies it; of a console it copies the commands alone.
  const commandsOf = (pre) => {
    const text = pre.textContent.trimEnd();
    if (!pre.querySelector(".language-console, .language-text") || !/^\$ /m.test(text)) return text;
    let continues = false;
    return text.split("\n").filter((line) => {
      const own = line.startsWith("$ ") || continues;
      continues = own && line.endsWith("\\");
      return own;
    }).map((line) => line.replace(/^\$ /, "")).join("\n");
  };
  for (const pre of navigator.clipboard ? document.querySelectorAll("main pre") : []) {
    const box = document.createElement("div"), button = document.createElement("button");
    box.className = "code";
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(commandsOf(pre));
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    pre.replaceWith(box);
    box.append(pre, button);
  }

  // On wide screens the menu and the contents are next to the text, always.
  for (const [folded, width] of [["nav details", 60], ["aside details", 84]]) {
    const menu = document.querySelector(folded), wide = matchMedia(`(min-width: ${width}rem)`);
    if (!menu) continue;
    const fold = () => { menu.open = wide.matches; };
    wide.addEventListener("change", fold);
    fold();
  }

  // The menu shows where the reader is.
  const nav = document.querySelector("nav"), here = nav.querySelector("[aria-current], .within");
  if (here) nav.scrollTop = here.offsetTop - nav.clientHeight / 2;

  // The entry of the section that is read is marked in the contents.
  const entries = new Map([...document.querySelectorAll("aside a")].map((a) => [decodeURIComponent(a.hash.slice(1)), a]));
  if (entries.size > 0) {
    const heads = [...document.querySelectorAll("main :is(h2, h3)[id]")].filter((head) => entries.has(head.id));
    const mark = () => {
      const read = heads.filter((head) => head.getBoundingClientRect().top < innerHeight / 4).at(-1);
      for (const [id, a] of entries) a.classList.toggle("read", id === read?.id);
    };
    addEventListener("scroll", mark, { passive: true });
    mark();
  }
})();
