// Keys of the Label page, and saving while a person types. One event is in flight at a time; each names the showing of
// the item (its token) that was on screen when the key went down, so that a burst can never label an unseen item.
const QUIET_AFTER_RENDER_MS = 120;
const TYPING_PAUSE_MS = 350;
const RESEND_AFTER_MS = 4000;

const state = (window.__errataLabel ||= {
  queue: [], inFlight: null, data: null, token: "", renderedAt: 0, spentToken: "", spentUndo: "",
  dirty: new Map(), typingTimer: 0, resendTimer: 0, lastSeq: 0,
});

const isTyping = (element) =>
  element instanceof Element &&
  (element.isContentEditable ||
    ["TEXTAREA", "SELECT"].includes(element.tagName) ||
    element.getAttribute("role") === "combobox" ||
    (element.tagName === "INPUT" && !["radio", "checkbox", "button", "submit"].includes(element.type)));

function fieldOf(element) {
  const holder = element.closest?.('[class*="st-key-field-"]');
  const match = holder && /st-key-field-([a-z_]+)-([0-9a-f]{32})/.exec(holder.className);
  return match ? { name: match[1], token: match[2] } : null;
}

function push(event) {
  state.lastSeq = Math.max(Date.now(), state.lastSeq + 1);
  state.queue.push({ ...event, seq: state.lastSeq });
  pump();
}

function pump() {
  if (state.inFlight || !state.queue.length) return;
  state.inFlight = state.queue.shift();
  transmit();
}

function transmit() {
  state.send(state.inFlight);
  watchForAnswer();
}

// Sends again only what was lost: while the server works on it, another send would only make it start over.
function watchForAnswer() {
  clearTimeout(state.resendTimer);
  state.resendTimer = setTimeout(() => {
    if (!state.inFlight) return;
    say("not saved yet: the server has not answered; your text stays here", true);
    const app = document.querySelector('[data-testid="stApp"]')?.dataset ?? {};
    const isConnected = (app.testConnectionState ?? "CONNECTED") === "CONNECTED";
    if (isConnected && app.testScriptState !== "running") transmit();
    else watchForAnswer();
  }, RESEND_AFTER_MS);
}

function acknowledge(data) {
  if (!state.inFlight || data.acknowledged < state.inFlight.seq) return;
  const done = state.inFlight;
  clearTimeout(state.resendTimer);
  state.inFlight = null;
  // A refused decision leaves the item on screen: its keys work again.
  if (done.token === data.token) state.spentToken = "";
  if (done.kind === "gold") focusGoldAgain();
  pump();
}

function takeTyped(token) {
  clearTimeout(state.typingTimer);
  const fields = {};
  for (const [key, { name, token: owner, value }] of state.dirty) {
    if (owner !== token) continue;
    fields[name] = value;
    state.dirty.delete(key);
  }
  return fields;
}

function flushTyped() {
  for (const token of new Set([...state.dirty.values()].map((entry) => entry.token))) {
    const fields = takeTyped(token);
    const waiting = state.queue.find((event) => event.kind === "typed" && event.token === token);
    if (waiting) Object.assign(waiting.fields, fields);
    else push({ kind: "typed", token, fields });
  }
}

function onInput(event) {
  const field = fieldOf(event.target);
  // A list box saves what is picked, not what is typed to find it.
  if (!field || event.target.getAttribute("role") === "combobox") return;
  state.dirty.set(field.name + field.token, { ...field, value: event.target.value });
  say("saving …");
  clearTimeout(state.typingTimer);
  state.typingTimer = setTimeout(flushTyped, TYPING_PAUSE_MS);
}

function decide(kind) {
  const isFresh = performance.now() - state.renderedAt < QUIET_AFTER_RENDER_MS;
  if (isFresh || !state.token || state.spentToken === state.token) return;
  state.spentToken = state.token;
  say("saving …");
  push({ kind, token: state.token, fields: takeTyped(state.token) });
}

function act(kind, value) {
  if (!state.token || state.spentToken === state.token) return;
  push({ kind, token: state.token, value, fields: takeTyped(state.token) });
}

function undo() {
  const target = state.data.undo;
  if (!target || state.spentUndo === target || (state.spentToken && state.spentToken === state.token)) return;
  state.spentUndo = target;
  state.spentToken = state.token;
  push({ kind: "undo", token: state.token, value: target, fields: takeTyped(state.token) });
}

function closeGroup() {
  const label = state.data.group;
  if (!label || state.spentGroup === label) return;
  state.spentGroup = label;
  act("close_group", label);
}

function focusSearch() {
  const box = document.querySelector(".st-key-corpus-search input");
  box?.focus();
  box?.select();
}

function commandFor(key, target) {
  const data = state.data;
  if (key === "/") return focusSearch;
  if (key === "?") return () => state.help?.showModal();
  if (key in data.modes) return () => act("mode", data.modes[key]);
  if (key in data.chunks) return () => act("gold", data.chunks[key]);
  if (key in data.decisions) return () => decide(data.decisions[key]);
  if (key === "u") return undo;
  if (key === "x") return closeGroup;
  if (key === "v") return () => act("neighbours", "");
  if (key === "g" && data.offered) return () => act("gold", data.offered);
  const isRadio = target instanceof Element && target.matches('input[type="radio"], [role="radio"]');
  if (key === "j" || (key === "ArrowRight" && !isRadio)) return () => decide("next");
  if (key === "k" || (key === "ArrowLeft" && !isRadio)) return () => decide("previous");
  return null;
}

function onKeyDown(event) {
  const target = event.composedPath()[0];
  if (state.help?.open) return;
  if (document.querySelector('[role="dialog"]')) return;
  let command = null;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    command = () => decide("label");
  } else if (isTyping(target)) {
    if (event.key === "Escape") target.blur();
    return;
  } else if (!event.ctrlKey && !event.metaKey && !event.altKey) {
    command = commandFor(event.key, target);
  }
  if (!command) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  // A held key repeats; only its first press counts.
  if (!event.repeat) command();
}

// The buttons of the chunk cards: a press counts for the item they were drawn for.
function onClick(event) {
  const button = event.target.closest?.("[data-errata-gold]");
  if (!button || button.dataset.errataOf !== state.token) return;
  state.focusGold = button.dataset.errataGold;
  act("gold", button.dataset.errataGold);
}

// Drawing the cards anew takes the focus off the button that was pressed.
function focusGoldAgain() {
  const wanted = state.focusGold;
  state.focusGold = "";
  if (!wanted) return;
  requestAnimationFrame(() => {
    const button = document.querySelector(`[data-errata-gold="${CSS.escape(wanted)}"]`);
    if (button && document.activeElement === document.body) button.focus({ preventScroll: true });
  });
}

function say(text, isProblem = false) {
  if (!state.status) return;
  state.status.textContent = text;
  state.status.classList.toggle("problem", isProblem);
}

function fillHelp(dialog, rows) {
  const table = dialog.querySelector("tbody");
  table.replaceChildren(
    ...rows.map(([keys, meaning]) => {
      const row = document.createElement("tr");
      for (const text of [keys, meaning]) row.appendChild(document.createElement("td")).textContent = text;
      return row;
    }),
  );
}

export default function (component) {
  const { data, setTriggerValue, parentElement } = component;
  state.data = data;
  state.send = (event) => setTriggerValue("event", event);
  state.status = parentElement.querySelector(".status");
  state.help = parentElement.querySelector("dialog");
  state.help.querySelector("button").onclick = () => state.help.close();
  for (const button of parentElement.querySelectorAll("[data-kind]")) {
    const kind = button.dataset.kind;
    button.onclick = { undo, close_group: closeGroup }[kind] ?? (() => decide(kind));
    button.disabled = { undo: !data.undo, close_group: !data.group }[kind] ?? data.is_held;
    if (kind !== "close_group") continue;
    button.hidden = !data.group;
    button.firstChild.textContent = `${data.group_words} `;
  }
  fillHelp(state.help, data.help);
  if (data.token !== state.token) {
    state.token = data.token;
    state.renderedAt = performance.now();
    // A new item starts with no field focused, so that its keys work at once.
    if (isTyping(document.activeElement) && fieldOf(document.activeElement)) document.activeElement.blur();
    // Nor a button: a held Enter would decide about one item after another.
    parentElement.getRootNode().activeElement?.closest?.("[data-kind]")?.blur();
  }
  if (data.undo !== state.spentUndo) state.spentUndo = "";
  if (data.group !== state.spentGroup) state.spentGroup = "";
  acknowledge(data);
  if (!state.inFlight && !state.dirty.size) say(data.status, data.is_problem);
  document.documentElement.dataset.errataToken = data.token;

  window.addEventListener("keydown", onKeyDown, true);
  document.addEventListener("click", onClick, true);
  document.addEventListener("input", onInput, true);
  document.addEventListener("focusout", flushTyped, true);
  return () => {
    window.removeEventListener("keydown", onKeyDown, true);
    document.removeEventListener("click", onClick, true);
    document.removeEventListener("input", onInput, true);
    document.removeEventListener("focusout", flushTyped, true);
  };
}
