// Follows a channel with Laravel Echo over pusher-js and prints what it hears, a line of JSON each.
// Usage: node echo.mjs PORT KEY CHANNEL
import Echo from "laravel-echo";
import Pusher from "pusher-js";

const [port, key, channel] = process.argv.slice(2);
const say = (...words) => console.log(JSON.stringify(words));
const echo = new Echo({
  broadcaster: "reverb",
  Pusher,
  key,
  wsHost: "127.0.0.1",
  wsPort: Number(port),
  forceTLS: false,
  enabledTransports: ["ws", "wss"],
});
const followed = echo.channel(channel);
followed.subscribed(() => say("subscribed"));
followed.error((data) => say("refused", data.type, data.status));
for (const name of ["TournamentUpdated", "GameCreatedOrUpdated", "GamesDeleted"]) {
  followed.listen(name, (data) => say("event", name, data));
}
process.stdin.on("data", (text) => {
  if (text.toString().includes("leave")) echo.leave(channel);
});
process.stdin.on("end", () => process.exit(0));
