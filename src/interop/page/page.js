
"use strict";
const field = document.getElementById("search");
const found = document.getElementById("found");
const articles = Array.from(document.querySelectorAll("article"));
// What a message says: its heading, with who says it and as what, is none of that.
const says = (article) => Array.from(article.children).filter((child) => child.tagName !== "H2");
const texts = articles.map((article) => says(article).map((child) => child.textContent).join("\n").toLowerCase());
const folded = Array.from(document.querySelectorAll("details")).filter((one) => !one.open);
field.addEventListener("input", () => {
  const wanted = field.value.trim().toLowerCase();
  let count = 0;
  articles.forEach((article, index) => {
    article.hidden = wanted !== "" && !texts[index].includes(wanted);
    count += article.hidden ? 0 : 1;
  });
  folded.forEach((one) => {
    one.open = wanted !== "" && one.textContent.toLowerCase().includes(wanted);
  });
  found.textContent = wanted === "" ? "" : count === 1 ? "1 message" : count + " messages";
});
