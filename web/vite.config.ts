import { defineConfig } from "vitest/config";

export default defineConfig({
  // Relative addresses: the page works under any path, also behind a proxy or a tunnel.
  base: "./",
  build: {
    target: "es2023",
    // One file is simplest to embed in a binary, and three.js is most of it anyway.
    chunkSizeWarningLimit: 1500,
    reportCompressedSize: false,
  },
  // For work on the page: `taut view --no-open` beside `npm run dev`.
  server: {
    // The look that the page shares with the renderer is outside of this folder.
    fs: { allow: [".", "../crates/render/look.json"] },
    proxy: { "/live": { target: "ws://127.0.0.1:8288", ws: true } },
  },
  test: { include: ["src/**/*.test.ts"] },
});
