// Keeps the page's files, so that it opens again without a network. static.py fills in the names.
const CACHE = "garden-DIGEST", FILES = [];

self.addEventListener("install", (event) => event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting())));
self.addEventListener("activate", (event) => event.waitUntil((async () => {
  for (const name of await caches.keys()) if (name.startsWith("garden-") && name !== CACHE) await caches.delete(name);
  await self.clients.claim();
})()));
self.addEventListener("fetch", (event) => event.respondWith((async () => (await caches.match(event.request, { ignoreSearch: true })) ?? fetch(event.request))()));
