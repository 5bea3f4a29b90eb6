// Passkeys: asks the browser to make or to prove one, and sends its answer with the form.
const REFUSED = {
  NotAllowedError: "Nothing was chosen, or it took too long. Try again.",
  InvalidStateError: "This device has a passkey here already.",
  SecurityError: "Passkeys work at an https address with a name, and at localhost. This address is neither.",
};
const works = window.PublicKeyCredential?.parseCreationOptionsFromJSON;

async function answer(form) {
  const { passkey, options, from } = form.dataset;
  const told = options ? JSON.parse(options) : await (await fetch(from, { headers: { Accept: "application/json" } })).json();
  if (passkey === "create") {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(told.publicKey);
    return navigator.credentials.create({ publicKey });
  }
  return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(told.publicKey) });
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const said = form.querySelector("[data-said]");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    said.textContent = works ? "Waiting for your device…" : REFUSED.SecurityError;
    if (!works) return;
    try {
      form.elements.credential.value = JSON.stringify(await answer(form));
      form.submit();
    } catch (error) {
      said.textContent = REFUSED[error.name] ?? "The device did not answer. Try again.";
    }
  });
}
