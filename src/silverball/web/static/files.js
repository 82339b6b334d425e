// A chosen file needs the network: without one the form stays as it is, and says so.

const OFFLINE = "A file needs the network, and there is none just now. The form stays as it is.";

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || !form.matches("[data-file]") || navigator.onLine) return;
  event.preventDefault();
  let line = form.querySelector(".sending");
  if (!line) {
    line = document.createElement("p");
    line.className = "sending fault";
    line.setAttribute("role", "status");
    form.append(line);
  }
  line.textContent = OFFLINE;
});
