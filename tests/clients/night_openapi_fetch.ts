// The night with our package for TypeScript: types of openapi-typescript, calls of openapi-fetch.

import { connect, type components } from "silverball-client";

import { playNight } from "./night.js";

const [baseUrl = "", token = ""] = process.argv.slice(2);
const api = connect(baseUrl, { token });
type Player = components["schemas"]["Player"];

/** The answer of a call that succeeds. */
async function answerOf<Answer>(call: Promise<{ data?: Answer; error?: unknown }>): Promise<Answer> {
  const { data, error } = await call;
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

const of = (tournamentId: number) => ({ path: { tournamentId } });
const onlyPlayer = (data: Player | Player[]): number => (Array.isArray(data) ? 0 : data.playerId);

playNight({
  create: async (name, type) =>
    (await answerOf(api.POST("/api/tournaments", { body: { name, type } }))).data.tournamentId,
  addPlayer: async (id, name) => {
    const call = api.POST("/api/tournaments/{tournamentId}/players", { params: of(id), body: { name } });
    return onlyPlayer((await answerOf(call)).data);
  },
  addArena: async (name) => (await answerOf(api.POST("/api/arenas", { body: { name } }))).data.arenaId,
  lineUp: async (id, arenaId) => {
    await answerOf(api.POST("/api/tournaments/{tournamentId}/arenas", { params: of(id), body: { arenaId } }));
  },
  start: async (id) => {
    await answerOf(api.POST("/api/tournaments/{tournamentId}/start", { params: of(id) }));
  },
  openRound: async (id) => {
    await answerOf(api.POST("/api/tournaments/{tournamentId}/rounds", { params: of(id), body: {} }));
  },
  games: async (id) =>
    (await answerOf(api.GET("/api/tournaments/{tournamentId}/games", { params: of(id) }))).data,
  record: async (tournamentId, gameId, resultPositions) => {
    const params = { path: { tournamentId, gameId } };
    const body = { resultPositions };
    await answerOf(api.PUT("/api/tournaments/{tournamentId}/games/{gameId}/result", { params, body }));
  },
  complete: async (id) =>
    (await answerOf(api.POST("/api/tournaments/{tournamentId}/complete", { params: of(id) }))).data.status,
  gamesPlayed: async (id) => {
    const call = api.GET("/api/tournaments/{tournamentId}/standings", { params: of(id) });
    return (await answerOf(call)).map((row) => row.gamesPlayed);
  },
  addScore: async (id, playerId, arenaId, score) => {
    const body = { playerId, arenaId, score };
    const call = api.POST("/api/tournaments/{tournamentId}/single-player-games", { params: of(id), body });
    return (await answerOf(call)).data.score;
  },
}).then(console.log);
