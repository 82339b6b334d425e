/** The events of a tournament, from the event stream or, where something holds that back, from its pages. */

import type { components } from "./generated/events.js";
import { backoff, Refused, retryAfter, sleep, type Transport, Watch } from "./transport.js";

// The service says something every 15 seconds.
const SILENT_SECONDS = 40;
const FIRST_WORD_SECONDS = 10;
const POLL_SECONDS = 25;
const TRY_AGAIN = [408, 425, 429];

type Schemas = components["schemas"];

/** The data of each event, by its name. */
export interface EventData {
  TournamentUpdated: Schemas["Tournament"];
  PlayersAdded: Schemas["PlayersAdded"];
  PlayersChanged: Schemas["PlayersChanged"];
  ArenasAdded: Schemas["ArenasAdded"];
  ArenasChanged: Schemas["ArenasChanged"];
  GamesDeleted: Schemas["GamesDeleted"];
  SinglePlayerGamesDeleted: Schemas["SinglePlayerGamesDeleted"];
  CardsDeleted: Schemas["CardsDeleted"];
  RoundsDeleted: Schemas["RoundsDeleted"];
  RoundCreatedOrUpdated: Schemas["Round"];
  GameCreatedOrUpdated: Schemas["Game"];
  SinglePlayerGameCreatedOrUpdated: Schemas["SinglePlayerGame"];
  CardCreatedOrUpdated: Schemas["Card"];
  QueueChanged: Schemas["QueueChanged"];
}

/** A place in the feed: the numbers of one epoch count up by one; those of two cannot be compared. */
export interface Place {
  epoch: string;
  seq: number;
}

/** A change of the tournament. Newer services have more names than these. */
export type FeedEvent = { [Name in keyof EventData]: Place & { name: Name; data: EventData[Name] } }[keyof EventData];

/** Events are lost for good: read what you need again. What comes now follows on this place. */
export type Missed = Place & { name: "Missed"; data: null };

export type Announced = FeedEvent | Missed;

export interface FollowOptions {
  /** Go on after this place, such as that of the last event that you have taken. */
  after?: Place;
  /** Ends it. */
  signal?: AbortSignal;
}

/** A block of the stream, or a row of a page: without a name it only says where the feed is. */
interface Block extends Place {
  name?: string | undefined;
  data?: string | undefined;
  revision?: string | undefined;
}

/** The stream is held back on its way, or this `fetch` cannot read an answer before it has ended. */
class NoStream extends Error {}

/** The place is of no use any more. */
class PlaceGone extends Error {}

/** Each change of a tournament, without end; throws `Refused` when trying again is of no use. */
export async function* followEvents(
  transport: Transport,
  tournamentId: number,
  { after, signal }: FollowOptions,
): AsyncGenerator<Announced, void> {
  let place = after;
  let readBlocks = streamBlocks;
  let isBehind = false;
  for (let lost = 0; !signal?.aborted; ) {
    const watch = new Watch(signal);
    let seconds = 0.2;
    try {
      for await (const block of readBlocks(transport, tournamentId, place, watch)) {
        lost = 0;
        const before = place;
        const isNext = before?.epoch === block.epoch && block.seq <= before.seq + 1;
        if (block.name !== undefined && isNext && block.seq <= before.seq) continue;
        place = { epoch: block.epoch, seq: block.seq };
        transport.noteRevision(String(tournamentId), block.revision ?? null);
        const isGap = block.name !== undefined && before !== undefined && !isNext;
        const isEvent = block.name !== undefined && block.name !== "reset";
        if (isBehind || isGap || block.name === "reset") {
          isBehind = false;
          yield { name: "Missed", data: null, epoch: block.epoch, seq: block.seq - (isEvent ? 1 : 0) };
        }
        if (!isEvent) continue;
        yield { ...place, name: block.name, data: JSON.parse(block.data ?? "null") } as FeedEvent;
      }
    } catch (fault) {
      if (fault instanceof Refused) throw fault;
      if (fault instanceof PlaceGone) [place, isBehind] = [undefined, true];
      else if (fault instanceof NoStream) readBlocks = pollBlocks;
      else seconds = fault instanceof Busy ? fault.seconds : backoff((lost += 1));
    } finally {
      watch.end();
    }
    await sleep(seconds, signal);
  }
}

/** The service is busy, and says for how long. */
class Busy extends Error {
  constructor(readonly seconds: number) {
    super();
  }
}

async function* streamBlocks(
  transport: Transport,
  tournamentId: number,
  place: Place | undefined,
  watch: Watch,
): AsyncGenerator<Block, void> {
  const headers: Record<string, string> = { accept: "text/event-stream" };
  if (place !== undefined) headers["last-event-id"] = `${place.epoch}:${place.seq}`;
  const path = `/api/tournaments/${tournamentId}/stream`;
  watch.expect(SILENT_SECONDS);
  const answer = await watch.race(transport.once(transport.request(path, headers, watch.signal)));
  await requireSuccess(answer);
  if (!answer.body || !answer.headers.get("content-type")?.includes("event-stream")) throw new NoStream();
  const reader = answer.body.getReader();
  watch.signal.addEventListener("abort", () => void reader.cancel().catch(() => undefined));
  const decoder = new TextDecoder();
  let text = "";
  let isFirst = true;
  watch.expect(FIRST_WORD_SECONDS);
  for (;;) {
    let chunk: ReadableStreamReadResult<Uint8Array>;
    try {
      chunk = await watch.race(reader.read());
    } catch (fault) {
      throw isFirst && watch.signal.aborted ? new NoStream() : fault;
    }
    if (chunk.done) return;
    isFirst = false;
    watch.expect(SILENT_SECONDS);
    const blocks = (text + decoder.decode(chunk.value, { stream: true })).split("\n\n");
    text = blocks.pop() ?? "";
    for (const lines of blocks) {
      const block = parseBlock(lines);
      if (block !== undefined) yield block;
    }
  }
}

function parseBlock(lines: string): Block | undefined {
  const fields = new Map(
    lines.split("\n").map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
    }),
  );
  const [epoch, seq] = (fields.get("id") ?? "").split(":");
  if (epoch === undefined || seq === undefined) return undefined;
  const [name, data, revision] = ["event", "data", "revision"].map((field) => fields.get(field));
  return { epoch, seq: Number(seq), name, data, revision };
}

async function* pollBlocks(
  transport: Transport,
  tournamentId: number,
  place: Place | undefined,
  watch: Watch,
): AsyncGenerator<Block, void> {
  for (let known = place; ; ) {
    const query = known && `?wait=${POLL_SECONDS}&after=${known.seq}&epoch=${encodeURIComponent(known.epoch)}`;
    const path = `/api/tournaments/${tournamentId}/events${query ?? ""}`;
    watch.expect(SILENT_SECONDS);
    const answer = await watch.race(transport.once(transport.request(path, {}, watch.signal)));
    await requireSuccess(answer);
    const page = (await watch.race(answer.json())) as { epoch: string; seq: number; data: Schemas["FeedEvent"][] };
    if (known === undefined) yield (known = { epoch: page.epoch, seq: page.seq });
    for (const { event, data, epoch, seq, revision } of page.data) {
      known = { epoch, seq };
      yield { epoch, seq, name: event.replace(/^.*\\/, ""), data, revision: String(revision ?? "") };
    }
  }
}

async function requireSuccess(answer: Response): Promise<void> {
  if (answer.ok) return;
  if (answer.status === 410) throw new PlaceGone();
  if (answer.status >= 500 || TRY_AGAIN.includes(answer.status)) {
    const seconds = retryAfter(answer);
    throw seconds === undefined ? new Error(`status ${answer.status}`) : new Busy(seconds);
  }
  const refusal = (await answer.json().catch(() => ({}))) as { code?: string; message?: string };
  throw new Refused(answer.status, refusal.code ?? "", refusal.message ?? `status ${answer.status}`);
}
