import { fileURLToPath } from 'node:url'
import type { UserConfig } from 'vite'

const source = (file: string): string =>
  fileURLToPath(new URL(`../../src/${file}`, import.meta.url))

/** The gateway sees the `Host` that the browser sent, and so a page of its own origin. */
const config: UserConfig = {
  // Libraries of the sources have directives for React servers, of which Vite would warn.
  logLevel: 'error',
  // In a clone nothing is built yet: the packages are their sources.
  resolve: {
    conditions: ['informerql-source', 'module', 'browser', 'development|production'],
    alias: [
      { find: /^@informerql\/client$/, replacement: source('client.ts') },
      { find: /^@informerql\/client\/react$/, replacement: source('client-react.ts') },
    ],
  },
  server: {
    proxy: { '/graphql': { target: 'http://127.0.0.1:4000', changeOrigin: false, ws: true } },
  },
}
// oxlint-disable-next-line import/no-default-export -- where Vite looks for it
export default config
