/* What a reviewer does is kept in the browser until the server says that it is on disk, and is sent again until then:
   the same events with the same ids, which the server stores once. */
const OUTBOX = `agenthard:${data.run}:${data.user}`;
const DONE = `${OUTBOX}:done`;
const MOST_DONE = 100;
function kept(key) {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? [];
  } catch {
    return [];
  }
}
function keep(key, list) {
  localStorage.setItem(key, JSON.stringify(list));
}
/* crypto.randomUUID exists on secure pages only, and a server in a closed network may have none. */
function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
function say(text, problem = false) {
  const state = byId("state");
  state.textContent = text;
  state.classList.toggle("problem", problem);
}
const waiting = new Map();
let sending = false;
/* Sends events as one batch; resolves when they are on disk, rejects when the server refuses them. */
function send(events) {
  const batch = events.map((event) => ({ id: uuid(), data: {}, ...event }));
  keep(OUTBOX, [...kept(OUTBOX), batch]);
  const done = new Promise((resolve, reject) => waiting.set(batch[0].id, { resolve, reject }));
  flush();
  return done;
}
async function flush() {
  if (sending) return;
  sending = true;
  let pause = 500;
  let late = false; // whether something was saved that an earlier page had sent
  for (let batch = kept(OUTBOX)[0]; batch; batch = kept(OUTBOX)[0]) {
    const answer = await post(batch);
    if (answer.retry) {
      say(`Not saved yet: ${answer.error} Trying again; you can go on, or close the page and come back.`, true);
      await new Promise((resolve) => setTimeout(resolve, pause));
      pause = Math.min(pause * 2, 10000);
      continue;
    }
    keep(OUTBOX, kept(OUTBOX).filter((each) => each[0].id !== batch[0].id));
    const caller = waiting.get(batch[0].id);
    waiting.delete(batch[0].id);
    if (answer.error) {
      say(answer.error, true);
      caller?.reject(new Error(answer.error));
    } else {
      remember(batch);
      say("Saved.");
      late ||= !caller;
      caller?.resolve(answer.stored);
    }
  }
  sending = false;
  if (late) location.reload();
}
async function post(batch) {
  try {
    const answer = await fetch(data.events, {
      method: "POST",
      headers: { "content-type": "application/json", "x-csrf-token": data.csrf },
      body: JSON.stringify(batch),
    });
    if (answer.ok) return await answer.json();
    if (answer.status === 429 || answer.status >= 500) return { retry: true, error: `the server answers ${answer.status}.` };
    const text = await answer.text();
    const error = text.startsWith("{") ? JSON.parse(text).error : text.trim();
    return { retry: [401, 403].includes(answer.status) && !text.startsWith("{"), error };
  } catch {
    return { retry: true, error: "the server cannot be reached." };
  }
}
/* What can be undone with z: the last batches, the newest last. */
function remember(batch) {
  const undoable = batch.filter((event) => !["undo", "reveal"].includes(event.kind));
  if (undoable.length) keep(DONE, [...kept(DONE), undoable.map(({ id, target, target_id }) => ({ id, target, target_id }))].slice(-MOST_DONE));
}
function undo(batch) {
  keep(DONE, kept(DONE).filter((each) => each[0].id !== batch[0].id));
  return send(batch.map(({ id, target, target_id }) => ({ kind: "undo", target, target_id, data: { event: id } })));
}
function undoLast() {
  const last = kept(DONE).at(-1);
  if (!last) return say("There is nothing of yours to undo here.");
  const about = last.length > 1 ? plural(last.length, "decision") : last[0].target_id;
  return undo(last).then(() => (sessionStorage.setItem("said", `Taken back: ${about}.`), location.reload()), () => {});
}
