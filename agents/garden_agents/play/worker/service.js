// Keeps the page's files, so that it opens again without a network. static.py fills in the names; all but the page itself are in
// folders that are named by their content. A page keeps the release that it began with: a new one waits until no page is open.
const FILES = [], OWN = `garden ${self.registration.scope} `, CACHE = `${OWN}DIGEST`;

/** Keep a file as it is on the host now. */
async function keep(cache, name) {
  const answer = await fetch(new Request(name, { cache: "reload" }));
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  // a browser refuses an answer to a navigation that followed a redirection
  await cache.put(name, answer.redirected ? new Response(answer.body, answer) : answer);
}

async function answer(request) {
  const { scope } = self.registration, address = request.url.split(/[?#]/)[0];
  const name = address === scope || address === `${scope}index.html` ? scope : request;
  return (await (await caches.open(CACHE)).match(name, { ignoreSearch: true })) ?? fetch(request);
}

self.addEventListener("install", (event) => event.waitUntil(caches.open(CACHE).then((cache) => Promise.all(FILES.map((name) => keep(cache, name))))));
self.addEventListener("activate", (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) if (name.startsWith(OWN) && name !== CACHE) await caches.delete(name);
  await self.clients.claim();
})()));
self.addEventListener("fetch", (event) => event.respondWith(answer(event.request)));
