// Runs before first paint: the page never flashes in the wrong theme, and what needs script shows only with script.
(() => {
  const root = document.documentElement;
  root.dataset.js = "";
  let kept = null;
  try { kept = localStorage.getItem("theme"); } catch { /* storage blocked: follow the system */ }
  if (kept === "light" || kept === "dark") root.dataset.theme = kept;
})();
