// The policy's curves while its sliders move: the tables beside the charts are computed anew, and the charts redrawn from
// them. The formulas are those of memories/rules (decay, confidence, tiers); a test holds both to the same numbers.
const form = document.getElementById("policy");
const value = (name) => Number(form.elements[name].value.replace(",", "."));
const chosen = (name) => form.elements[name].value;
const clamp = (number) => Math.min(1, Math.max(0, number));

const KINDS = ["fact", "belief", "experience", "procedure"];
function freshness(kind, day) {
  const floor = 2 ** -64;
  if (!day) return 1;
  if (chosen("decay") === "daily_rate") return Math.max(floor, value("daily_rate") ** Math.min(day, value("daily_cap")));
  const life = value("base_half_life") * value(`type_factor_${kind}`);
  return Math.max(floor, 0.5 ** Math.min(day / life, value("half_life_cap")));
}

// The confidence after each step of a sequence; an entry nobody recalled, reported by agents alone.
function confidences(start, steps) {
  const strength = value("prior_strength");
  let [confidence, success, failure, wins, losses] = [start, 0, 0, 0, 0];
  return steps.map((kind) => {
    const good = kind === "success";
    if (chosen("model") === "multiplicative") return (confidence = clamp(confidence * value(`factor_${kind}`)));
    const forgiven = !good && !losses && wins >= value("first_strike_wins");
    const surprise = forgiven ? 1 : 1 + Math.abs((good ? 1 : 0) - confidence);
    const weight = value(`severity_${kind}`) * surprise;
    success = value("mass_decay") * success + (good ? weight : 0);
    failure = value("mass_decay") * failure + (good ? 0 : weight);
    wins += good;
    losses += !good;
    return (confidence = clamp((strength * start + success) / (strength + success + failure)));
  });
}

function priority(importance, recalls, age) {
  const aged = Math.min(value("age_rate") * age, 300);
  const often = Math.max(1, Math.log(1 + recalls));
  const weighed = value("importance_weight") * importance + value("recency_weight") * Math.exp(-aged);
  return weighed * often * Math.exp(-aged / often);
}

const BEGINS = 0.7;
const SEQUENCE = [...Array(5).fill("success"), ...Array(3).fill("failure")];
const RECALLS = [0, 3, 20];
// What stands in a row of each table beside the column in force, which comes first.
const columns = {
  silence: (row) => KINDS.map((kind) => freshness(kind, Number(row.cells[0].textContent))),
  outcomes: (row, at, after) => [at ? after[at - 1] : BEGINS],
  priority: (row) => RECALLS.map((recalls) => priority(BEGINS, recalls, Number(row.cells[0].textContent))),
};

function compute(table) {
  const after = confidences(BEGINS, SEQUENCE);
  [...table.tBodies[0].rows].forEach((row, at) => {
    columns[table.dataset.curve](row, at, after).forEach((number, place) => {
      row.cells[place + 2].textContent = Number.isFinite(number) ? number.toFixed(3) : "\u2014";
    });
  });
  table.closest("section").dispatchEvent(new Event("tablechange", { bubbles: true }));
}

let asked = 0;
function redraw() {
  cancelAnimationFrame(asked);
  asked = requestAnimationFrame(() => document.querySelectorAll("[data-curve]").forEach(compute));
}

form?.addEventListener("input", ({ target }) => {
  const slides = target.dataset.of && document.getElementById(target.dataset.of);
  if (slides) slides.value = target.value;
  const slider = form.querySelector(`[data-of="${CSS.escape(target.id)}"]`);
  if (slider && Number.isFinite(Number(target.value))) slider.value = target.value;
  redraw();
});
