/** `informerql/client`: for browsers and backends that subscribe to a gateway. No dependencies. */
export { type Frame, type FrameChange, FrameFold } from './client/frame-fold.ts'
