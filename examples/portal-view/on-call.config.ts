import { fileURLToPath } from 'node:url'
import type { UserConfig } from 'vite'
import page from './vite.config.ts'

/** The view as a folder for `server.portalViews`: `index.js` with all that it needs, and `style.css`. */
const config: UserConfig = {
  ...page,
  root: import.meta.dirname,
  // Its files find each other wherever they are served.
  base: './',
  define: { 'process.env.NODE_ENV': '"production"' },
  build: {
    outDir: fileURLToPath(new URL('../../dist/examples/on-call', import.meta.url)),
    emptyOutDir: true,
    cssCodeSplit: false,
    lib: { entry: 'on-call.tsx', formats: ['es'], fileName: 'index', cssFileName: 'style' },
  },
}
// oxlint-disable-next-line import/no-default-export -- where Vite looks for it
export default config
