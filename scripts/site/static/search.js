// Looks through search.json, which holds each section of each page; nothing is sent anywhere.
"use strict";
(() => {
  const root = new URL(".", document.currentScript.src);
  const form = document.getElementById("search");
  const input = form.querySelector("input");
  const list = document.getElementById("found");
  let sections; // once somebody looks for something

  const load = () => sections ??= fetch(new URL("search.json", root)).then((answer) => answer.json());

  // How well a section fits: every word has to be in it; one in its title counts most.
  const fit = (section, words) => {
    const title = section.title.toLowerCase(), page = section.page.toLowerCase(), text = section.text.toLowerCase();
    let points = 0;
    for (const word of words) {
      const hits = (title.includes(word) ? 20 : 0) + (page.includes(word) ? 8 : 0) + Math.min(4, text.split(word).length - 1);
      if (hits === 0) return 0;
      points += hits + (title === word ? 20 : 0);
    }
    return points;
  };

  const excerpt = (text, words) => {
    const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 40);
    return (at > 0 ? "…" : "") + text.slice(at, at + 140) + (text.length > at + 140 ? "…" : "");
  };

  const show = (section, words) => {
    const link = document.createElement("a"), place = document.createElement("small"), text = document.createElement("span");
    link.href = new URL(section.url, root);
    link.textContent = section.title;
    place.textContent = section.page === section.title ? "" : " " + section.page;
    text.textContent = excerpt(section.text, words);
    link.append(place, document.createElement("br"), text);
    const item = document.createElement("li");
    item.append(link);
    return item;
  };

  const look = async () => {
    const asked = input.value;
    const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) { list.hidden = true; return; }
    const found = (await load())
      .map((section) => ({ section, points: fit(section, words) }))
      .filter((one) => one.points > 0)
      .sort((a, b) => b.points - a.points)
      .slice(0, 12);
    if (input.value !== asked) return; // somebody types on
    const items = found.map((one) => show(one.section, words));
    if (items.length === 0) {
      const nothing = document.createElement("li");
      nothing.textContent = "Nothing has all these words.";
      items.push(nothing);
    }
    list.replaceChildren(...items);
    list.hidden = false;
  };

  input.addEventListener("focus", load);
  input.addEventListener("input", look);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { list.hidden = true; input.blur(); }
    if (event.key === "/" && document.activeElement !== input) { event.preventDefault(); input.focus(); }
  });
  document.addEventListener("click", (event) => { if (!form.contains(event.target)) list.hidden = true; });

  // On wide screens the menu is beside the text, always.
  const menu = document.querySelector("nav details"), wide = matchMedia("(min-width: 60rem)");
  const fold = () => { menu.open = wide.matches; };
  wide.addEventListener("change", fold);
  fold();
})();
