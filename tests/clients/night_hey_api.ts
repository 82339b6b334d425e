// The night with what @hey-api/openapi-ts generates.

import * as api from "./generated";
import { client } from "./generated/client.gen";
import { playNight } from "./night";

const [baseUrl = "", token = ""] = process.argv.slice(2);
client.setConfig({ baseUrl, auth: () => token });

/** The answer of a call that succeeds. */
async function answerOf<Answer>(call: Promise<{ data: Answer | undefined; error: unknown }>): Promise<Answer> {
  const { data, error } = await call;
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

const onlyPlayer = (data: api.Player | api.Player[]): number => (Array.isArray(data) ? 0 : data.playerId);

playNight({
  create: async (name, type) => (await answerOf(api.createTournament({ body: { name, type } }))).data.tournamentId,
  addPlayer: async (tournamentId, name) =>
    onlyPlayer((await answerOf(api.addPlayersToTournament({ path: { tournamentId }, body: { name } }))).data),
  addArena: async (name) => (await answerOf(api.addArena({ body: { name } }))).data.arenaId,
  lineUp: async (tournamentId, arenaId) => {
    await answerOf(api.addArenasToTournament({ path: { tournamentId }, body: { arenaId } }));
  },
  start: async (tournamentId) => {
    await answerOf(api.startTournament({ path: { tournamentId } }));
  },
  openRound: async (tournamentId) => {
    await answerOf(api.openRound({ path: { tournamentId }, body: {} }));
  },
  games: async (tournamentId) => (await answerOf(api.listGamesOfTournament({ path: { tournamentId } }))).data,
  record: async (tournamentId, gameId, order) => {
    await answerOf(api.recordResult({ path: { tournamentId, gameId }, body: { resultPositions: order } }));
  },
  complete: async (tournamentId) => (await answerOf(api.completeTournament({ path: { tournamentId } }))).data.status,
  gamesPlayed: async (tournamentId) =>
    (await answerOf(api.listStandings({ path: { tournamentId } }))).map((row) => row.gamesPlayed),
  addScore: async (tournamentId, playerId, arenaId, score) =>
    (await answerOf(api.addSinglePlayerGame({ path: { tournamentId }, body: { playerId, arenaId, score } }))).data.score,
}).then(console.log);
