/** `informerql/client`: for browsers and backends that subscribe to a gateway. No dependencies. */
import './lib/node-version.ts'
export {
  type ConnectionPages,
  connectionPages,
  type ConnectionPolicy,
} from './client/connection-pages.ts'
export { type Frame, type FrameChange, FrameFold } from './client/frame-fold.ts'
export { foldNodes, goneObjects } from './client/list-fold.ts'
