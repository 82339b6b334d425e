// The feed client of the pages, for others too: follow(tournament, what to do) keeps up with one tournament
// by socket, by server-sent events or by asking, and never misses anything (docs/live-js.md).
// A page whose <main> says data-follow is kept up to date by it, part by part.

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

// Follow one tournament. `onEvent(name, data)` for each event in order; `onLost()` when the tournament has to
// be read again; `onState(state)` with "live", "catching up" or "offline". Returns { wake, close }.
export function follow(tournament, { base = location.origin, key = "", epoch = "", seq = -1, ...told }) {
  const at = { epoch, seq };
  let way = key ? SOCKET : STREAM;
  let line = null;
  let failures = 0;
  let isOpen = false;
  let isOver = false;
  let heard = 0;
  let due = 0;
  let timer = 0;
  let state = "";
  let looked = Date.now();
  let triedBest = Date.now();

  const say = (next) => {
    if (next !== state && !isOver) told.onState?.((state = next));
  };
  const lost = (next) => {
    Object.assign(at, next);
    told.onLost?.();
  };

  function drop() {
    clearTimeout(timer);
    isOpen = false;
    due = 0;
    const old = line;
    line = null;
    if (!old) return;
    // A dead connection takes minutes to say so; nobody listens to it any longer.
    for (const name of ["onopen", "onmessage", "onclose", "onerror"]) old[name] = null;
    old.close();
  }

  function open() {
    drop();
    if (isOver) return;
    if (state !== "offline") say("catching up");
    [openSocket, openStream, poll][way]();
  }

  function opened() {
    isOpen = true;
    failures = 0;
    clearTimeout(timer);
    say("live");
  }

  // This way is gone: try it again, or the next one when only this one is closed to us.
  async function failed(wait) {
    const never = !isOpen;
    drop();
    failures += 1;
    say(failures > 1 || !navigator.onLine ? "offline" : "catching up");
    const pause = wait ?? Math.min(WAIT_MAX, WAIT_MIN * 2 ** (failures - 1));
    timer = setTimeout(open, pause * (0.5 + Math.random()));
    const count = failures;
    if (!never || count < 2 || way === POLL || !(await isReachable(base))) return;
    if (count === failures && !isOpen) {
      way += 1;
      open();
    }
  }

  function openSocket() {
    triedBest = Date.now();
    const url = `${base.replace(/^http/, "ws")}/app/${encodeURIComponent(key)}?protocol=7&client=live.js&version=1.0.0`;
    const socket = (line = new WebSocket(url));
    timer = setTimeout(failed, OPEN_WITHIN);
    socket.onclose = ({ code }) => {
      if (code >= 4000 && code < 4100) failures = Math.max(failures, 1);
      failed(code >= 4200 && code < 4300 ? WAIT_MIN : undefined);
    };
    socket.onmessage = ({ data }) => {
      heard = Date.now();
      due = 0;
      hear(socket, JSON.parse(data));
    };
  }

  function hear(socket, said) {
    const data = typeof said.data === "string" ? JSON.parse(said.data) : said.data;
    const channel = `tournaments.${tournament}`;
    if (said.event === "pusher:connection_established") {
      const resume = at.epoch ? { epoch: at.epoch, seq: at.seq } : {};
      socket.send(JSON.stringify({ event: "pusher:subscribe", data: { channel, resume } }));
    } else if (said.event === "pusher:ping") {
      socket.send('{"event":"pusher:pong"}');
    } else if (said.event === "pusher_internal:subscription_succeeded") {
      if (!data.recovered) lost({ epoch: data.epoch, seq: data.seq });
      opened();
    } else if (said.event === "pusher:subscription_error") {
      told.onLost?.();
      failed(BETTER_EVERY);
    } else if (said.event === "silverball:tick") {
      // The end of what was said got lost on the way.
      if (data.epoch !== at.epoch || data.seq > at.seq) open();
    } else if (said.seq !== undefined) {
      happened(said.event, data, said.epoch, said.seq);
    }
  }

  function happened(name, data, epochNow, seqNow) {
    const isNew = epochNow !== at.epoch || seqNow > at.seq;
    const hasGap = epochNow !== at.epoch || seqNow > at.seq + 1;
    if (!isNew) return;
    Object.assign(at, { epoch: epochNow, seq: seqNow });
    if (hasGap) told.onLost?.();
    told.onEvent?.(name.replace(/^App\\Events\\/, ""), data);
  }

  function openStream() {
    if (typeof EventSource === "undefined") {
      way = POLL;
      open();
      return;
    }
    const source = (line = new EventSource(`${base}/api/tournaments/${tournament}/stream`));
    timer = setTimeout(failed, OPEN_WITHIN);
    source.onerror = () => failed();
    source.onopen = () => {
      // It begins with what happens from now on.
      lost({ epoch: "", seq: -1 });
      opened();
    };
    source.addEventListener("reset", () => lost({ epoch: "", seq: -1 }));
    for (const name of NAMES) {
      source.addEventListener(name, (said) => {
        const [epochNow, seqNow] = said.lastEventId.split(":");
        if (!at.epoch) Object.assign(at, { epoch: epochNow, seq: Number(seqNow) - 1 });
        happened(name, JSON.parse(said.data), epochNow, Number(seqNow));
      });
    }
  }

  async function poll() {
    if (await isReachable(base)) {
      if (way !== POLL || isOver) return;
      opened();
      told.onLost?.();
      timer = setTimeout(poll, POLL_EVERY);
    } else if (way === POLL) {
      failed(POLL_EVERY);
    }
  }

  // The computer woke up, the tab is seen again, the network is back: ask at once whether the line holds.
  function wake() {
    looked = Date.now();
    if (isOpen && way === SOCKET) {
      ask(WAKE_ANSWER_WITHIN);
      told.onLost?.();
    } else {
      failures = 0;
      way = key ? SOCKET : STREAM;
      open();
    }
  }

  function ask(within) {
    line.send('{"event":"pusher:ping","data":{}}');
    due = Date.now() + within;
    setTimeout(look, within + 50);
  }

  function look() {
    const now = Date.now();
    if (due && now > due) {
      say("catching up");
      open();
    } else if (isOpen && way === SOCKET && !due && now - heard > SILENCE_MAX) {
      ask(ANSWER_WITHIN);
    } else if (key && way !== SOCKET && now - triedBest > BETTER_EVERY) {
      failures = 1;
      way = SOCKET;
      open();
    }
  }

  const clock = setInterval(() => {
    const slept = Date.now() - looked > 3 * LOOK_EVERY;
    looked = Date.now();
    if (slept) wake();
    else look();
  }, LOOK_EVERY);
  const seen = () => document.visibilityState === "visible" && wake();
  const gone = () => say("offline");
  const listening = new AbortController();
  const until = { signal: listening.signal };
  document.addEventListener("visibilitychange", seen, until);
  addEventListener("pageshow", (event) => event.persisted && wake(), until);
  addEventListener("online", wake, until);
  addEventListener("offline", gone, until);
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
