// A night, and a score of eleven digits, with a generated client: its adapter says how each call is made.

export interface Service {
  create(name: string, type: "matchplay" | "best_game"): Promise<number>;
  addPlayer(tournamentId: number, name: string): Promise<number>;
  addArena(name: string): Promise<number>;
  lineUp(tournamentId: number, arenaId: number): Promise<void>;
  start(tournamentId: number): Promise<void>;
  openRound(tournamentId: number): Promise<void>;
  games(tournamentId: number): Promise<{ gameId: number; playerIds: (number | null)[]; status: string | null }[]>;
  record(tournamentId: number, gameId: number, order: number[]): Promise<void>;
  complete(tournamentId: number): Promise<string>;
  gamesPlayed(tournamentId: number): Promise<(number | null)[]>;
  addScore(tournamentId: number, playerId: number, arenaId: number, score: number): Promise<number | string | null>;
}

const ROUNDS = 2;
// More than 32 bits hold.
const SCORE = 98_765_432_101;

export async function playNight(service: Service): Promise<string> {
  const night = await service.create("Generated night", "matchplay");
  for (const name of ["Ada", "Bo", "Cleo", "Dov"]) await service.addPlayer(night, name);
  const arenaId = await service.addArena("Attack");
  for (const id of [arenaId, await service.addArena("Firepower")]) await service.lineUp(night, id);
  await service.start(night);
  for (let round = 0; round < ROUNDS; round += 1) {
    await service.openRound(night);
    for (const game of await service.games(night)) {
      const order = game.playerIds.filter((playerId) => playerId !== null);
      if (game.status === "started") await service.record(night, game.gameId, order);
    }
  }
  const status = await service.complete(night);
  const played = await service.gamesPlayed(night);
  const scores = await service.create("Scores", "best_game");
  const playerId = await service.addPlayer(scores, "Ada");
  await service.addPlayer(scores, "Bo");
  await service.lineUp(scores, arenaId);
  await service.start(scores);
  const score = await service.addScore(scores, playerId, arenaId, SCORE);
  return JSON.stringify([status, played, score]);
}
