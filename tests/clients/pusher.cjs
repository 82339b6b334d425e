// Follows a channel with the published library and prints the messages it receives, a line of JSON each.
// Usage: node pusher.cjs PORT KEY CHANNEL
const Pusher = require("pusher-js");

const [port, key, channel] = process.argv.slice(2);
const report = (...words) => console.log(JSON.stringify(words));
const pusher = new Pusher(key, {
  cluster: "self",
  wsHost: "127.0.0.1",
  wsPort: Number(port),
  forceTLS: false,
  enabledTransports: ["ws", "wss"],
});
pusher.connection.bind("state_change", (change) => report("state", change.current));
pusher.connection.bind("error", (error) => report("error", error.data?.code ?? error.error?.data?.code ?? null));
// A subscription that was given up is another object than the one that follows it.
const follow = () => {
  const subscription = pusher.subscribe(channel);
  subscription.bind("pusher:subscription_succeeded", () => report("subscribed"));
  subscription.bind("pusher:subscription_error", (data) => report("refused", data.type, data.status));
  subscription.bind_global((name, data) => {
    if (!name.startsWith("pusher:")) report("event", name, data);
  });
};
follow();
process.stdin.on("data", (text) => {
  for (const word of text.toString().split("\n")) {
    if (word === "unsubscribe") pusher.unsubscribe(channel);
    if (word === "again") follow();
    if (word === "resume") {
      pusher.send_event("pusher:subscribe", { channel, resume: { epoch: "k3f9", seq: 0 } });
    }
  }
});
process.stdin.on("end", () => process.exit(0));
