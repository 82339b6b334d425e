/** A typed client of Silverball: every operation of the interface, and a tournament's events as they happen. */

import createClient, { type Client } from "openapi-fetch";

import { type Announced, type FollowOptions, followEvents } from "./follow.js";
import type { paths } from "./generated/openapi.js";
import { type TransportOptions, Transport } from "./transport.js";

export type { Announced, EventData, FeedEvent, FollowOptions, Missed, Place } from "./follow.js";
export type { components, operations, paths } from "./generated/openapi.js";
export { Refused, type TransportOptions } from "./transport.js";

/** The calls of openapi-fetch, such as `api.GET("/api/tournaments/{tournamentId}", ...)`, and `follow`. */
export type Silverball = Client<paths> & {
  /** Each change of a tournament from now on, or from `after` on, without end. */
  follow(tournamentId: number, options?: FollowOptions): AsyncGenerator<Announced, void>;
};

/** A client of the service at this address, such as `https://pinball.example`. */
export function connect(baseUrl: string, options: TransportOptions = {}): Silverball {
  const transport = new Transport(baseUrl.replace(/\/+$/, ""), options);
  const fetch = (request: Request): Promise<Response> => transport.send(request);
  const calls = createClient<paths>({ baseUrl: transport.baseUrl, fetch });
  return Object.assign(calls, {
    follow: (tournamentId: number, following: FollowOptions = {}) =>
      followEvents(transport, tournamentId, following),
  });
}
