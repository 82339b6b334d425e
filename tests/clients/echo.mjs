// Follows a channel with Laravel Echo over pusher-js and prints the messages it receives, a line of JSON each.
// Usage: node echo.mjs PORT KEY CHANNEL
import Echo from "laravel-echo";
import Pusher from "pusher-js";

const [port, key, channel] = process.argv.slice(2);
const report = (...words) => console.log(JSON.stringify(words));
const echo = new Echo({
  broadcaster: "reverb",
  Pusher,
  key,
  wsHost: "127.0.0.1",
  wsPort: Number(port),
  forceTLS: false,
  enabledTransports: ["ws", "wss"],
});
const subscription = echo.channel(channel);
subscription.subscribed(() => report("subscribed"));
subscription.error((data) => report("refused", data.type, data.status));
for (const name of ["TournamentUpdated", "GameCreatedOrUpdated", "GamesDeleted"]) {
  subscription.listen(name, (data) => report("event", name, data));
}
process.stdin.on("data", (text) => {
  if (text.toString().includes("leave")) echo.leave(channel);
});
process.stdin.on("end", () => process.exit(0));
