import type { UserConfig } from 'vite'

/** The gateway sees the `Host` that the browser sent, and so a page of its own origin. */
const config: UserConfig = {
  server: {
    proxy: { '/graphql': { target: 'http://127.0.0.1:4000', changeOrigin: false, ws: true } },
  },
}
// oxlint-disable-next-line import/no-default-export -- where Vite looks for it
export default config
