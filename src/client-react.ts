/** `informerql/client/react`: the hooks of `informerql/client` for React 18 and later. */
import './lib/node-version.ts'
export { useLiveCollection, useLivePage, useLiveValue } from './client/react.ts'
