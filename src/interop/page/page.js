
"use strict";
const field = document.getElementById("search");
const found = document.getElementById("found");
const articles = Array.from(document.querySelectorAll("article"));
// What a message says: its heading, with who says it and as what, is none of that.
const says = (article) => Array.from(article.children).filter((child) => child.tagName !== "H2");
const texts = articles.map((article) => says(article).map((child) => child.textContent).join("\n").toLowerCase());
const folded = Array.from(document.querySelectorAll("details")).filter((one) => !one.open);
// A branch is opened for what its messages say; anything else that is folded for its own words.
const holds = (one, wanted) => {
  const inside = Array.from(one.querySelectorAll("article"));
  return inside.length > 0
    ? inside.some((article) => !article.hidden)
    : one.textContent.toLowerCase().includes(wanted);
};
field.addEventListener("input", () => {
  const wanted = field.value.trim().toLowerCase();
  let count = 0;
  articles.forEach((article, index) => {
    article.hidden = wanted !== "" && !texts[index].includes(wanted);
    count += article.hidden ? 0 : 1;
  });
  folded.forEach((one) => {
    one.open = wanted !== "" && holds(one, wanted);
  });
  found.textContent = wanted === "" ? "" : count === 1 ? "1 message" : count + " messages";
});
