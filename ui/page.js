(() => {
  // Links within the page. Gradio sets <base href="./">, which drops a query such as ?__theme=dark: the browser
  // would load the page anew and lose the conversation. What a link leads to is shown by CSS (:target).
  const show = (id) => {
    const target = document.getElementById(id);
    if (!target) return;
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    if (location.hash === "#" + id && !target.matches(":target")) location.hash = "";
    location.hash = id;
    target.scrollIntoView({ block: "center" });
    target.tabIndex = -1;
    target.focus({ preventScroll: true });
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest('a[href^="#"]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(link.getAttribute("href").slice(1));
  });

  let newest = null;
  let asked = 0;
  const tidy = () => {
    // Screen readers: name the panel, and take away the label that Gradio makes of a message's source, HTML here.
    const side = document.getElementById("side");
    if (side) Object.assign(side, { role: "complementary", ariaLabel: "Sources" });
    for (const message of document.querySelectorAll("#chat [data-testid=user], #chat [data-testid=bot]"))
      message.removeAttribute("aria-label");
    // Gradio calls its examples a list, and puts buttons into it.
    document.querySelector("#chat .examples")?.setAttribute("role", "group");
    // New sources come in above the old ones; a browser would hold on to the old.
    const turn = document.querySelector("#shelf .turn");
    if (turn !== newest && side) side.scrollTop = 0;
    newest = turn;
    // On a narrow screen the page scrolls, not the chat, and Gradio leaves it where it was.
    const questions = document.querySelectorAll("#chat .user-row");
    if (questions.length > asked && innerWidth < 960) questions[questions.length - 1].scrollIntoView();
    asked = questions.length;
  };
  new MutationObserver(tidy).observe(document, { subtree: true, childList: true });
})();
