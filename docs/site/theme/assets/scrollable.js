// What scrolls sideways can be reached, and scrolled, with the keyboard. The theme does this for some of it, and undoes
// it on touch screens; a frame later, it has finished.
const reach = (each) => {
  if (each.scrollWidth > each.clientWidth) each.tabIndex = 0;
  else each.removeAttribute("tabindex");
};
const sizes = new ResizeObserver((changes) =>
  requestAnimationFrame(() => changes.forEach(({ target }) => reach(target))),
);
addEventListener("load", () => {
  for (const each of document.querySelectorAll(".md-typeset pre > code, .md-typeset__scrollwrap")) sizes.observe(each);
});
