import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  esbuild: { jsx: "automatic" },
  define: { "process.env.NODE_ENV": '"production"' },
  build: { outDir: "site", chunkSizeWarningLimit: 10000, reportCompressedSize: false, sourcemap: false },
});
