/** Requests that are repeated where that is safe, and wait as long as the service asks. */

const LOST_MAX = 5;
const CALL_SECONDS = 30;
const REVISION = "x-tournament-revision";
const TOURNAMENT = /\/api\/tournaments\/(\d+)/;

export interface TransportOptions {
  /** A token of the service; without one, what is public can be read. */
  token?: string;
  /** Seconds that one call waits for at most when the service is busy or away; 60 unless you say otherwise. */
  waitSeconds?: number;
  /** Is given a line for each answer, lost connection and wait. */
  log?: (line: string) => void;
  fetch?: typeof fetch;
}

/** The service refused for good; calls give refusals as `error`, only `follow` throws them. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = "Refused";
  }
}

/** One service, and what is known of it. */
export class Transport {
  readonly #token: string | undefined;
  readonly #waitSeconds: number;
  readonly #fetch: typeof fetch;
  readonly #log: (line: string) => void;
  /** The newest revision of each tournament: answers that are older than an event are not taken. */
  readonly #revisions = new Map<string, number>();

  constructor(
    readonly baseUrl: string,
    options: TransportOptions,
  ) {
    this.#token = options.token;
    this.#waitSeconds = options.waitSeconds ?? 60;
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.#log = options.log ?? (() => undefined);
  }

  /** The answer to a request; a write carries one key, so that it acts once however often it is sent. */
  async send(request: Request): Promise<Response> {
    const given = this.#withHeaders(request);
    const until = Date.now() + this.#waitSeconds * 1000;
    for (let lost = 1; ; lost += 1) {
      let seconds = backoff(lost);
      const watch = new Watch(request.signal);
      watch.expect(CALL_SECONDS);
      try {
        const answer = await watch.race(this.once(given.clone()).then(wholeAnswer));
        seconds = Math.max(retryAfter(answer) ?? seconds, 0.1);
        if (![429, 502, 503, 504].includes(answer.status) || Date.now() + seconds * 1000 > until) return answer;
      } catch (fault) {
        if (request.signal.aborted || lost >= LOST_MAX || Date.now() + seconds * 1000 > until) throw fault;
      } finally {
        watch.end();
      }
      this.#log(`waiting ${seconds.toFixed(1)} s for ${request.method} ${request.url}`);
      await sleep(seconds, request.signal);
    }
  }

  /** The answer to a request that is sent once. */
  async once(request: Request): Promise<Response> {
    const answer = await this.#fetch(request);
    this.#log(`${answer.status} ${request.method} ${request.url}`);
    this.noteRevision(TOURNAMENT.exec(request.url)?.[1], answer.headers.get(REVISION));
    return answer;
  }

  /** A request for a path of the service, with the token. */
  request(path: string, headers: Record<string, string>, signal: AbortSignal): Request {
    return this.#withHeaders(new Request(this.baseUrl + path, { headers, signal }));
  }

  /** Remember that the tournament has this revision, unless a newer one is known. */
  noteRevision(tournamentId: string | undefined, revision: string | null): void {
    if (tournamentId === undefined || revision === null || !/^\d+$/.test(revision)) return;
    const known = this.#revisions.get(tournamentId) ?? 0;
    this.#revisions.set(tournamentId, Math.max(known, Number(revision)));
  }

  #withHeaders(request: Request): Request {
    const headers = new Headers(request.headers);
    if (this.#token !== undefined) headers.set("authorization", `Bearer ${this.#token}`);
    if (request.method !== "GET" && !headers.has("idempotency-key")) headers.set("idempotency-key", newKey());
    const known = this.#revisions.get(TOURNAMENT.exec(request.url)?.[1] ?? "");
    if (request.method === "GET" && known !== undefined) headers.set(REVISION, String(known));
    return new Request(request, { headers });
  }
}

/** Gives up what is under way when nothing is heard for too long, or when the caller's signal says so. */
export class Watch {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #over: Promise<never>;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(outer: AbortSignal | undefined) {
    this.#outer = outer;
    this.#over = new Promise((_, reject) => {
      this.signal.addEventListener("abort", () => reject(new Error("nothing is heard any more")));
    });
    this.#over.catch(() => undefined);
    outer?.addEventListener("abort", this.end);
    if (outer?.aborted) this.end();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  expect(seconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.end, seconds * 1000);
  }

  /** The outcome, or a failure once it is over: a request can forget the signal that it was made with. */
  race<Outcome>(outcome: Promise<Outcome>): Promise<Outcome> {
    outcome.catch(() => undefined);
    return Promise.race([outcome, this.#over]);
  }

  readonly end = (): void => {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.end);
    this.#controller.abort();
  };
}

/** The same answer once all of it has come. */
async function wholeAnswer(answer: Response): Promise<Response> {
  const { body, status, statusText, headers } = answer;
  return body === null ? answer : new Response(await answer.arrayBuffer(), { status, statusText, headers });
}

/** Seconds that an answer asks to wait for. */
export function retryAfter(answer: Response): number | undefined {
  const seconds = answer.headers.get("retry-after");
  return seconds !== null && /^\d+$/.test(seconds) ? Number(seconds) : undefined;
}

/** Seconds before the next of several tries: twice as long each time, and never the same for all clients. */
export function backoff(tries: number): number {
  return Math.min(0.5 * 2 ** (tries - 1), 10) * (0.5 + Math.random() / 2);
}

/** Wait, unless the signal ends it sooner. */
export function sleep(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, seconds * 1000);
    if (signal?.aborted) end();
    else signal?.addEventListener("abort", end);
  });
}

/** Not `randomUUID`, which browsers keep from pages without a certificate. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
