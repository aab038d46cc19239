import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** Development: `npx vite packages/portal` beside a running gateway (`npm start`). */
// oxlint-disable-next-line import/no-default-export -- where Vite looks for it
export default defineConfig({
  plugins: [react()],
  resolve: { conditions: ['informerql-source', 'module', 'browser', 'development|production'] },
  // The gateway puts the nonce of each answer here.
  html: { cspNonce: '{{nonce}}' },
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: {
    proxy: { '/graphql': { target: 'http://127.0.0.1:4000', changeOrigin: false, ws: true } },
  },
})
