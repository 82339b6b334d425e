// The feed client of the pages, free to use on other sites: follow(tournament, callbacks) follows one
// tournament by websocket, server-sent events or polling, and reports every gap (docs/live-js.md).

const WAIT_MIN = 500;
const WAIT_MAX = 10000;
const OPEN_WITHIN = 10000;
const SILENCE_MAX = 40000;
const ANSWER_WITHIN = 10000;
const WAKE_ANSWER_WITHIN = 3000;
const LOOK_EVERY = 5000;
const POLL_EVERY = 10000;
const BETTER_EVERY = 60000;
const NAMES = [
  "TournamentUpdated", "PlayersAdded", "PlayersChanged", "ArenasAdded", "ArenasChanged",
  "RoundCreatedOrUpdated", "RoundsDeleted", "GameCreatedOrUpdated", "GamesDeleted",
  "SinglePlayerGameCreatedOrUpdated", "SinglePlayerGamesDeleted", "CardCreatedOrUpdated", "CardsDeleted",
  "QueueChanged",
];
const [SOCKET, STREAM, POLL] = [0, 1, 2];

// Follow one tournament. Calls `onEvent(name, data, revision)` for each event in order, `onLost()` when the
// tournament must be read again, and `onState(state)` with "live", "catching up" or "offline". A read with
// the header `X-Tournament-Revision: revision` shows the event. Returns { wake, close }.
export function follow(tournament, { base = location.origin, key = "", epoch = "", seq = -1, ...callbacks }) {
  const at = { epoch, seq };
  let transport = key ? SOCKET : STREAM;
  let line = null;
  let failures = 0;
  let sparseUntil = 0;
  let isOpen = false;
  let isOver = false;
  let heard = 0;
  let due = 0;
  let timer = 0;
  let state = "";
  let looked = Date.now();
  let triedBest = Date.now();

  const setState = (next) => {
    if (next !== state && !isOver) callbacks.onState?.((state = next));
  };
  const reset = (next) => {
    Object.assign(at, next);
    callbacks.onLost?.();
  };

  function drop() {
    clearTimeout(timer);
    isOpen = false;
    due = 0;
    const old = line;
    line = null;
    if (!old) return;
    // A dead connection takes minutes to close, so its events are ignored from now on.
    for (const name of ["onopen", "onmessage", "onclose", "onerror"]) old[name] = null;
    old.close();
  }

  function open() {
    drop();
    if (isOver) return;
    if (state !== "offline") setState("catching up");
    [openSocket, openStream, poll][transport]();
  }

  function markOpen() {
    isOpen = true;
    failures = 0;
    clearTimeout(timer);
    setState("live");
  }

  // Try the transport again, or the next one when the server can be reached without it.
  async function reconnect(wait) {
    const wasNeverOpen = !isOpen;
    drop();
    failures += 1;
    setState(failures > 1 || !navigator.onLine ? "offline" : "catching up");
    const pause = wait ?? Math.min(WAIT_MAX, WAIT_MIN * 2 ** (failures - 1));
    timer = setTimeout(open, pause * (0.5 + Math.random()));
    const count = failures;
    if (!wasNeverOpen || count < 2 || transport === POLL || !(await isReachable(base))) return;
    if (count === failures && !isOpen) {
      transport += 1;
      open();
    }
  }

  function openSocket() {
    triedBest = Date.now();
    const url = `${base.replace(/^http/, "ws")}/app/${encodeURIComponent(key)}?protocol=7&client=live.js&version=1.0.0`;
    const socket = (line = new WebSocket(url));
    timer = setTimeout(reconnect, OPEN_WITHIN);
    socket.onclose = ({ code }) => {
      if (code >= 4000 && code < 4100) failures = Math.max(failures, 1);
      reconnect(code >= 4200 && code < 4300 ? WAIT_MIN : undefined);
    };
    socket.onmessage = ({ data }) => {
      heard = Date.now();
      due = 0;
      receive(socket, JSON.parse(data));
    };
  }

  function receive(socket, message) {
    const data = typeof message.data === "string" ? JSON.parse(message.data) : message.data;
    const channel = `tournaments.${tournament}`;
    if (message.event === "pusher:connection_established") {
      const resume = at.epoch ? { epoch: at.epoch, seq: at.seq } : {};
      socket.send(JSON.stringify({ event: "pusher:subscribe", data: { channel, resume, compact: true } }));
    } else if (message.event === "pusher:ping") {
      socket.send('{"event":"pusher:pong"}');
    } else if (message.event === "pusher_internal:subscription_succeeded") {
      if (!data.recovered) reset({ epoch: data.epoch, seq: data.seq });
      // Up to this number only the newest events of each thing come.
      sparseUntil = data.compacted ? data.seq : 0;
      markOpen();
    } else if (message.event === "pusher:subscription_error") {
      callbacks.onLost?.();
      reconnect(BETTER_EVERY);
    } else if (message.event === "silverball:tick") {
      // The newest events were lost.
      if (data.epoch !== at.epoch || data.seq > at.seq) open();
    } else if (message.seq !== undefined) {
      handleEvent(message.event, data, message.epoch, message.seq, message.revision);
    }
  }

  function handleEvent(name, data, newEpoch, newSeq, revision) {
    const isNew = newEpoch !== at.epoch || newSeq > at.seq;
    const hasGap = newEpoch !== at.epoch || newSeq > Math.max(at.seq, sparseUntil) + 1;
    if (!isNew) return;
    Object.assign(at, { epoch: newEpoch, seq: newSeq });
    if (hasGap) callbacks.onLost?.();
    callbacks.onEvent?.(name.replace(/^App\\Events\\/, ""), data, revision);
  }

  function openStream() {
    if (typeof EventSource === "undefined") {
      transport = POLL;
      open();
      return;
    }
    const source = (line = new EventSource(`${base}/api/tournaments/${tournament}/stream`));
    timer = setTimeout(reconnect, OPEN_WITHIN);
    source.onerror = () => reconnect();
    source.onopen = () => {
      // A new stream begins with the next event.
      reset({ epoch: "", seq: -1 });
      markOpen();
    };
    source.addEventListener("reset", () => reset({ epoch: "", seq: -1 }));
    for (const name of NAMES) {
      source.addEventListener(name, (event) => {
        const [newEpoch, newSeq] = event.lastEventId.split(":");
        if (!at.epoch) Object.assign(at, { epoch: newEpoch, seq: Number(newSeq) - 1 });
        handleEvent(name, JSON.parse(event.data), newEpoch, Number(newSeq));
      });
    }
  }

  async function poll() {
    if (await isReachable(base)) {
      if (transport !== POLL || isOver) return;
      markOpen();
      callbacks.onLost?.();
      timer = setTimeout(poll, POLL_EVERY);
    } else if (transport === POLL) {
      reconnect(POLL_EVERY);
    }
  }

  // The computer woke up, the tab is visible or the network is back: check the connection at once.
  function wake() {
    looked = Date.now();
    if (isOpen && transport === SOCKET) {
      ping(WAKE_ANSWER_WITHIN);
      callbacks.onLost?.();
    } else {
      failures = 0;
      transport = key ? SOCKET : STREAM;
      open();
    }
  }

  function ping(within) {
    line.send('{"event":"pusher:ping","data":{}}');
    due = Date.now() + within;
    setTimeout(checkConnection, within + 50);
  }

  function checkConnection() {
    const now = Date.now();
    if (due && now > due) {
      setState("catching up");
      open();
    } else if (isOpen && transport === SOCKET && !due && now - heard > SILENCE_MAX) {
      ping(ANSWER_WITHIN);
    } else if (key && transport !== SOCKET && now - triedBest > BETTER_EVERY) {
      failures = 1;
      transport = SOCKET;
      open();
    }
  }

  const clock = setInterval(() => {
    const slept = Date.now() - looked > 3 * LOOK_EVERY;
    looked = Date.now();
    if (slept) wake();
    else checkConnection();
  }, LOOK_EVERY);
  const onVisible = () => document.visibilityState === "visible" && wake();
  const onOffline = () => setState("offline");
  const listening = new AbortController();
  const until = { signal: listening.signal };
  document.addEventListener("visibilitychange", onVisible, until);
  addEventListener("pageshow", (event) => event.persisted && wake(), until);
  addEventListener("online", wake, until);
  addEventListener("offline", onOffline, until);
  open();
  return {
    wake,
    close() {
      isOver = true;
      drop();
      clearInterval(clock);
      listening.abort();
    },
  };
}

async function isReachable(base) {
  try {
    const answer = await fetch(`${base}/up`, { cache: "no-store", signal: AbortSignal.timeout(5000) });
    return answer.ok;
  } catch {
    return false;
  }
}
