// Filters the questions; without it the page is a plain list.
const form = document.getElementById("filters");
const count = document.getElementById("shown");
const cards = [...document.querySelectorAll(".question")];
const texts = cards.map((card) => card.textContent.toLowerCase());

function filter() {
  const words = form.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  cards.forEach((card, at) => {
    const fits = (!form.kind.value || card.dataset.kind === form.kind.value) &&
      (!form.verdict.value || card.dataset.verdict === form.verdict.value) &&
      words.every((word) => texts[at].includes(word));
    card.hidden = !fits;
    shown += fits;
  });
  count.textContent = `${shown} of ${cards.length} shown`;
}

if (form) {
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();
}
// Paper cannot be unfolded: everything is open while it is printed.
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  closed.forEach((one) => { one.open = true; });
});
addEventListener("afterprint", () => closed.forEach((one) => { one.open = false; }));
