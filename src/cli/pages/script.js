"use strict";
// Copies a command.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  const say = (word) => {
    button.textContent = word;
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };
  const copied = navigator.clipboard ? navigator.clipboard.writeText(button.dataset.copy) : Promise.reject();
  copied.then(() => say("Copied"), () => {
    getSelection().selectAllChildren(button.previousElementSibling);
    say("Selected");
  });
});
// Follows the store: fetches this page again when something was saved, and keeps what is unfolded and focused. A page that
// answers a form cannot be fetched.
const isAnswer = ["/plan", "/apply"].includes(location.pathname);
if ("live" in document.body.dataset && !isAnswer) {
  const live = document.getElementById("live");
  const refresh = async () => {
    const active = document.activeElement;
    if (active && active.closest("form")) {
      live.textContent = "Something was saved; reload to see it";
      return;
    }
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    const next = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("main");
    const main = document.getElementById("main");
    const folds = [...main.querySelectorAll("details")].map((fold) => fold.open);
    next.querySelectorAll("details").forEach((fold, index) => { if (index in folds) fold.open = folds[index]; });
    const links = [...main.querySelectorAll("a, button, summary")];
    const place = links.indexOf(active);
    main.replaceWith(next);
    if (place >= 0) {
      const again = next.querySelectorAll("a, button, summary")[place];
      if (again) again.focus({ preventScroll: true });
    }
    live.textContent = "Live";
  };
  const events = new EventSource("/events");
  events.addEventListener("open", () => { live.textContent = "Live"; });
  events.addEventListener("changed", () => { refresh().catch(() => {}); });
  events.addEventListener("error", () => { live.textContent = "Not connected"; });
}
