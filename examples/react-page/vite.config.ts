import type { UserConfig } from 'vite'

/** The gateway sees the `Host` that the browser sent, and so a page of its own origin. */
const config: UserConfig = {
  // In a clone nothing is built yet: the page is made of the sources.
  resolve: { conditions: ['informerql-source', 'module', 'browser', 'development|production'] },
  server: {
    proxy: { '/graphql': { target: 'http://127.0.0.1:4000', changeOrigin: false, ws: true } },
  },
}
// oxlint-disable-next-line import/no-default-export -- where Vite looks for it
export default config
