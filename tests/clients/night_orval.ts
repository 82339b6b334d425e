// The night with what orval generates for `fetch`, which has neither address nor token.

import * as api from "./generated/client";
import { playNight } from "./night";

const [baseUrl = "", token = ""] = process.argv.slice(2);
const { fetch: send } = globalThis;
globalThis.fetch = (path, init) =>
  send(baseUrl + String(path), { ...init, headers: { ...init?.headers, authorization: `Bearer ${token}` } });

type Data<Answer> = Answer extends { status: 200 | 201; data: infer Body } ? Body : never;

/** The answer of a call that succeeds. */
async function answerOf<Answer extends { status: number; data: unknown }>(call: Promise<Answer>): Promise<Data<Answer>> {
  const { status, data } = await call;
  if (status !== 200 && status !== 201) throw new Error(JSON.stringify(data));
  return data as Data<Answer>;
}

const onlyPlayer = (data: api.Player | api.Player[]): number => (Array.isArray(data) ? 0 : data.playerId);

playNight({
  create: async (name, type) => (await answerOf(api.createTournament({ name, type }))).data.tournamentId,
  addPlayer: async (tournamentId, name) =>
    onlyPlayer((await answerOf(api.addPlayersToTournament(tournamentId, { name }))).data),
  addArena: async (name) => (await answerOf(api.addArena({ name }))).data.arenaId,
  lineUp: async (tournamentId, arenaId) => {
    await answerOf(api.addArenasToTournament(tournamentId, { arenaId }));
  },
  start: async (tournamentId) => {
    await answerOf(api.startTournament(tournamentId));
  },
  openRound: async (tournamentId) => {
    await answerOf(api.openRound(tournamentId, {}));
  },
  games: async (tournamentId) => (await answerOf(api.listGamesOfTournament(tournamentId))).data,
  record: async (tournamentId, gameId, order) => {
    await answerOf(api.recordResult(tournamentId, gameId, { resultPositions: order }));
  },
  complete: async (tournamentId) => (await answerOf(api.completeTournament(tournamentId))).data.status,
  gamesPlayed: async (tournamentId) => (await answerOf(api.listStandings(tournamentId))).map((row) => row.gamesPlayed),
  addScore: async (tournamentId, playerId, arenaId, score) =>
    (await answerOf(api.addSinglePlayerGame(tournamentId, { playerId, arenaId, score }))).data.score,
}).then(console.log);
