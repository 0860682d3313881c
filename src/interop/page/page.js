
"use strict";
const field = document.getElementById("search");
const found = document.getElementById("found");
const articles = Array.from(document.querySelectorAll("article"));
// What a message says: its heading, with who says it and as what, is none of that.
const says = (article) => Array.from(article.children).filter((child) => child.tagName !== "H2");
const texts = articles.map((article) => says(article).map((child) => child.textContent).join("\n").toLowerCase());
const folds = Array.from(document.querySelectorAll("details"));
// Opened for what was searched last; what the reader opens or closes is the reader's.
const opened = new Set();
folds.forEach((one) => one.firstElementChild.addEventListener("click", () => opened.delete(one)));
// A branch is opened for what its messages say; anything else that is folded for its own words.
const holds = (one, wanted) => {
  const article = one.closest("article");
  return article === null
    ? Array.from(one.querySelectorAll("article")).some((inside) => !inside.hidden)
    : !article.hidden && one.textContent.toLowerCase().includes(wanted);
};
const MARKS_MAX = 500;
let marks = [];
const unmark = () => {
  const parents = new Set(marks.map((mark) => mark.parentNode));
  marks.forEach((mark) => mark.replaceWith(...mark.childNodes));
  parents.forEach((parent) => parent.normalize());
  marks = [];
};
const markIn = (element, wanted) => {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const text = node.data.toLowerCase();
    // Letters that become two in lower case would move what is marked.
    if (text.length === node.data.length && text.includes(wanted)) {
      nodes.push([node, text]);
    }
  }
  nodes.forEach(([node, text]) => {
    let rest = node;
    let done = 0;
    for (let at = text.indexOf(wanted); at >= 0 && marks.length < MARKS_MAX; at = text.indexOf(wanted, done)) {
      const hit = rest.splitText(at - done);
      rest = hit.splitText(wanted.length);
      done = at + wanted.length;
      const mark = document.createElement("mark");
      hit.replaceWith(mark);
      mark.append(hit);
      marks.push(mark);
    }
  });
};
field.addEventListener("input", () => {
  const wanted = field.value.trim().toLowerCase();
  let count = 0;
  unmark();
  articles.forEach((article, index) => {
    article.hidden = wanted !== "" && !texts[index].includes(wanted);
    count += article.hidden ? 0 : 1;
  });
  folds.forEach((one) => {
    const isHit = wanted !== "" && holds(one, wanted);
    if (isHit && !one.open) {
      one.open = true;
      opened.add(one);
    } else if (!isHit && opened.delete(one)) {
      one.open = false;
    }
  });
  found.textContent = wanted === "" ? "" : count === 1 ? "1 message" : count + " messages";
  if (wanted === "") {
    return;
  }
  articles.filter((article) => !article.hidden).forEach((article) => {
    says(article).forEach((child) => markIn(child, wanted));
  });
  // Each long text is scrolled to its first hit, and the page to the first of all.
  const boxes = new Set();
  marks.forEach((mark) => {
    const box = mark.closest("pre");
    if (box !== null && !boxes.has(box)) {
      boxes.add(box);
      box.scrollTop += mark.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
    }
  });
  if (marks.length > 0) {
    marks[0].scrollIntoView({ block: "center" });
  }
});
