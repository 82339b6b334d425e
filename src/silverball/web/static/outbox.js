// Stores what was entered in the browser's database until the server has answered, so that it survives a
// reload, another page, a closed browser and a session that has ended. Entries belong to an account.

const DATABASE = "silverball";
const STORE = "outbox";

// Without a database (some private windows), entries live as long as the page.
const memory = new Map();
let opening = null;

function openDatabase() {
  opening ??= new Promise((resolve) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: "key" });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => resolve(null);
    request.onblocked = () => resolve(null);
  }).catch(() => null);
  return opening;
}

// A new idempotency key; the server gives each form its first one.
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  return btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_");
}

// Run one request on the store; null when there is no database. Resolves after the commit.
async function run(mode, start) {
  const database = await openDatabase();
  if (!database) return null;
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(STORE, mode, { durability: "strict" });
    const request = start(transaction.objectStore(STORE));
    transaction.oncomplete = () => resolve({ result: request.result });
    transaction.onabort = () => reject(transaction.error);
  });
}

// Store an entry: { key, account, tournament, form, action, fields, label, at } and, once the server has
// refused it, { refusal, standing, renewal, choice, way }.
export async function put(entry) {
  let isStored = null;
  try {
    isStored = await run("readwrite", (store) => store.put(entry));
  } catch {
    // A full disk: the entry lives as long as the page.
  }
  if (isStored) memory.delete(entry.key);
  else memory.set(entry.key, entry);
}

export async function remove(key) {
  memory.delete(key);
  try {
    await run("readwrite", (store) => store.delete(key));
  } catch {
    // Sent again after a reload, it acts once: its key stays the same.
  }
}

// The entries of a tournament, oldest first.
export async function entriesOf(tournament) {
  let stored = [];
  try {
    stored = (await run("readonly", (store) => store.getAll()))?.result ?? [];
  } catch {
    // The entries of this page are known anyway.
  }
  const all = new Map([...stored, ...memory.values()].map((entry) => [entry.key, entry]));
  return [...all.values()]
    .filter((entry) => entry.tournament === tournament)
    .sort((first, second) => first.at - second.at);
}
