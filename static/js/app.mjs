// Comfort on top of pages that work without it: theme, toasts, dialogs, copying, lists and keys.
const $ = (selector, within = document) => within.querySelector(selector);
const $$ = (selector, within = document) => [...within.querySelectorAll(selector)];
const root = document.documentElement;
const phone = matchMedia("(max-width: 760px)");

// Theme
const isDark = () =>
  root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
function switchTheme() {
  root.dataset.theme = isDark() ? "light" : "dark";
  try {
    localStorage.setItem("theme", root.dataset.theme);
  } catch {
    /* storage blocked: it holds for this page */
  }
  dispatchEvent(new Event("themechange"));
}

// Toasts leave by themselves, but not while somebody is on them; one with an undo stays longer.
const SHORT = 6_000,
  LONG = 15_000;
function wait(toast) {
  if (toast.dataset.waits) return;
  toast.dataset.waits = "1";
  const stay = $("form", toast) ? LONG : SHORT;
  let timer = setTimeout(() => toast.remove(), stay);
  const hold = () => clearTimeout(timer);
  const leave = () => {
    hold();
    timer = setTimeout(() => toast.remove(), stay);
  };
  for (const event of ["pointerenter", "focusin"]) toast.addEventListener(event, hold);
  for (const event of ["pointerleave", "focusout"]) toast.addEventListener(event, leave);
}
export function say(words, tone = "") {
  const toast = document.createElement("div");
  toast.className = `toast ${tone}`;
  toast.append(words);
  $("#toasts")?.append(toast);
}

// Dialogs: a modal asks, a drawer stands beside.
function open(dialog) {
  if (!dialog || dialog.open) return;
  if (dialog.id === "shortcuts") listKeys($("[data-keylist]", dialog));
  if (dialog.matches(".drawer")) dialog.show();
  else dialog.showModal();
}

async function copy(button) {
  const from = button.dataset.copyFrom;
  const text = from ? document.getElementById(from)?.textContent : button.dataset.copy;
  try {
    await navigator.clipboard.writeText(text ?? "");
    say("Copied");
  } catch {
    say("The browser does not let this page copy. Select the text instead.", "error");
  }
}

document.addEventListener("click", (event) => {
  const at = (selector) => event.target.closest(selector);
  const opener = at("[data-open]");
  const dialog = opener && document.getElementById(opener.dataset.open);
  if (dialog) {
    event.preventDefault();
    open(dialog);
  }
  if (at("[data-theme-toggle]")) switchTheme();
  if (at("[data-copy], [data-copy-from]")) copy(at("[data-copy], [data-copy-from]"));
  if (at("[data-dismiss]")) at(".toast").remove();
  if (at("[data-close]")) at("dialog").close();
  if (event.target.matches("dialog.modal")) event.target.close();
  if (event.target.matches("[data-pick]")) pick(event.target, event.shiftKey);
});

// Lists: one item is current, j and k move it.
const items = () => $$("[data-list] [data-item]").filter((item) => item.checkVisibility());
const current = () => items().find((item) => item.hasAttribute("data-current"));
function move(step) {
  const all = items(),
    now = all.indexOf(current());
  const next = all[now < 0 ? 0 : Math.max(0, Math.min(all.length - 1, now + step))];
  if (!next) return;
  all[now]?.removeAttribute("data-current");
  next.setAttribute("data-current", "");
  next.scrollIntoView({ block: "nearest" });
  (next.matches("a, button") ? next : $("a, button", next))?.focus({ preventScroll: true });
  if ($("#peek[open]")) peek();
}
function peek() {
  const link = current() && $("[data-peek]", current());
  if (!link) return false;
  link.click();
  return true;
}
let picked = ""; // the name of the box clicked last; with shift, all up to it follow
function pick(box, isRange) {
  const all = $$("[data-pick]"),
    [from, to] = [all.findIndex((one) => one.dataset.pick === picked), all.indexOf(box)].sort((a, b) => a - b);
  if (isRange && from >= 0) for (const one of all.slice(from, to + 1)) one.checked = box.checked;
  picked = box.dataset.pick;
  count();
}
function pickUpTo() {
  const box = current() && $("[data-pick]", current());
  if (!box) return;
  box.checked = true;
  pick(box, true);
}
// A list that comes anew keeps what is selected in the old one.
document.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
  const kept = new Set($$("[data-pick]:checked").map((box) => box.dataset.pick));
  for (const box of $$("[data-pick]", detail.fragment)) box.checked = kept.has(box.dataset.pick);
});
document.addEventListener("htmx:oobAfterSwap", () => count());
function count() {
  const picked = $$("[data-pick]:checked").length;
  for (const place of $$("[data-selected]")) place.textContent = picked.toLocaleString("en-GB");
}
document.addEventListener("change", ({ target }) => {
  if (target.matches("[data-pick-all]")) for (const box of $$("[data-pick]")) box.checked = target.checked;
  if (target.matches("[data-pick], [data-pick-all]")) count();
  if (target.matches("[data-autosubmit]")) target.form.requestSubmit();
});
document.addEventListener("input", ({ target }) => {
  const counter = target.id && $(`[data-letters-of="${CSS.escape(target.id)}"]`);
  if (counter) counter.textContent = `${[...target.value].length} of ${target.maxLength} characters`;
});

// Keys: the letter printed on a button is the registry, so hint and behaviour cannot drift apart.
const usable = (element) => !element.disabled && element.checkVisibility();
const wordsOf = (element) => {
  const clone = element.cloneNode(true);
  for (const extra of $$("kbd, .count, svg", clone)) extra.remove();
  return element.dataset.label || element.getAttribute("aria-label") || clone.textContent.replace(/\s+/g, " ").trim();
};
const printed = (name) =>
  ({ " ": "Space", Escape: "Esc" })[name] ??
  (/^[A-Z]$/.test(name) ? `Shift ${name}` : name.length === 1 ? name.toUpperCase() : name);
function listKeys(list) {
  const rows = new Map();
  for (const element of $$("[data-key]").filter(usable)) rows.set(printed(element.dataset.key), wordsOf(element));
  if (items().length) {
    rows.set("J", "Next in the list").set("K", "Previous in the list").set("Enter", "Open");
    if ($("[data-pick]")) rows.set("X", "Select").set("Shift X", "Select up to here");
    if ($("[data-peek]")) rows.set("Space", "Peek");
  }
  if ($("[data-confirm]")) rows.set("Ctrl Enter", wordsOf($("[data-confirm]")));
  for (const link of $$("[data-go]")) rows.set(`G ${link.dataset.go.toUpperCase()}`, `Go to ${wordsOf(link)}`);
  list.replaceChildren(
    ...[...rows].map(([keys, words]) => {
      const row = document.createElement("li"),
        hint = document.createElement("span");
      hint.append(
        ...keys.split(" ").flatMap((one) => [Object.assign(document.createElement("kbd"), { textContent: one }), " "]),
      );
      row.append(words, hint);
      return row;
    }),
  );
}

let going = 0; // when `g` was pressed; the next key within a second and a half says where to
const typing = (target) =>
  target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable], dialog.modal[open]");
const plainKeys = {
  j: () => move(1),
  k: () => move(-1),
  x: () => current() && $("[data-pick]", current())?.click(),
  X: pickUpTo,
};
function press(key) {
  const hit = $$(`[data-key="${CSS.escape(key)}"]`)
    .filter(usable)
    .pop();
  if (hit) {
    if (hit.matches("input:not([type=checkbox]), textarea, select")) {
      hit.focus();
      hit.select?.();
    } else hit.click();
    return true;
  }
  if (key === " ") return peek();
  if (!(key in plainKeys) || !items().length) return false;
  plainKeys[key]();
  return true;
}
document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  const command = event.metaKey || event.ctrlKey;
  if (command && event.key === "Enter" && $("[data-confirm]")) {
    event.preventDefault();
    $("[data-confirm]").click();
    return;
  }
  if (command && event.key === "k" && press("/")) {
    event.preventDefault();
    return;
  }
  if (event.key === "Escape") {
    if (typing(event.target) && !event.target.closest("dialog")) event.target.blur();
    else if ($("[data-escape]") && !$("dialog[open], [popover]:popover-open")) $("[data-escape]").click();
    else if (!$("dialog.modal[open], [popover]:popover-open")) $("dialog.drawer[open]")?.close();
    return;
  }
  if (command || event.altKey || typing(event.target)) return;
  // Space and Enter belong to the control that has the focus.
  if (event.key === " " && event.target.closest("button, summary, input, [role=button]")) return;
  if (Date.now() - going < 1_500) {
    going = 0;
    const link = $(`[data-go="${CSS.escape(event.key)}"]`);
    if (link) {
      event.preventDefault();
      link.click();
      return;
    }
  }
  if (event.key === "g") {
    going = Date.now();
    return;
  }
  if (press(event.key)) event.preventDefault();
});

// Times are written in UTC; whoever points at one sees their own clock as well.
const local = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });
document.addEventListener("pointerover", ({ target }) => {
  const time = target.closest?.("time[datetime]:not([data-local])");
  if (!time) return;
  time.dataset.local = "";
  time.title += ` = ${local.format(new Date(time.dateTime))} here`;
});

// What htmx brings in
document.addEventListener("htmx:afterSwap", ({ target }) => {
  if (target.matches?.("dialog")) open(target);
  count();
});
const refusals = {
  403: "Your role does not allow that.",
  404: "That is not there any more.",
  413: "That is too large.",
  429: "Too many requests; wait a moment.",
};
document.addEventListener("htmx:responseError", ({ detail: { xhr } }) =>
  say(refusals[xhr.status] ?? `The server answered ${xhr.status}. Reload the page and try again.`, "error"),
);
// Logged out meanwhile: the login page belongs in the window, not in a part of the page.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (new URL(detail.xhr.responseURL).pathname === document.body.dataset.login) {
    detail.shouldSwap = false;
    location.reload();
  }
  // A refusal comes as a toast of its own, whatever its status.
  if (detail.xhr.getResponseHeader("HX-Retarget") === "#toasts") Object.assign(detail, { shouldSwap: true, isError: false });
});
document.addEventListener("htmx:sendError", () =>
  say("The server cannot be reached. Reload the page to see whether the change arrived.", "error"),
);

// On a phone the side lists start folded.
if (phone.matches) for (const pocket of $$(".pocket")) pocket.open = false;
new MutationObserver(() => $$(".toast").forEach(wait)).observe($("#toasts"), { childList: true });
$$(".toast").forEach(wait);
count();
