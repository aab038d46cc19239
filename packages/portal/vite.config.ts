import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const source = (file: string): string =>
  fileURLToPath(new URL(`../../src/${file}`, import.meta.url))

/** Development: `npx vite packages/portal` beside a running gateway (`npm start`). */
// oxlint-disable-next-line import/no-default-export -- where Vite looks for it
export default defineConfig({
  plugins: [react()],
  // The client is built of its sources, like the rest of the page.
  resolve: {
    alias: [
      { find: /^@informerql\/client\/react$/, replacement: source('client-react.ts') },
      { find: /^@informerql\/client$/, replacement: source('client.ts') },
    ],
  },
  // The gateway puts the nonce of each answer here.
  html: { cspNonce: '{{nonce}}' },
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: {
    proxy: {
      '/graphql': { target: 'http://127.0.0.1:4000', changeOrigin: false, ws: true },
      '/exec': { target: 'http://127.0.0.1:4000', changeOrigin: false, ws: true },
    },
  },
})
