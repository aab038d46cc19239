/** `informerql/client`: for browsers and backends that subscribe to a gateway. No dependencies. */
import './lib/node-version.ts'
export { type Frame, type FrameChange, FrameFold } from './client/frame-fold.ts'
