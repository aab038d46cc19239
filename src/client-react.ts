/** `@informerql/client/react`: the hooks of `@informerql/client` for React 18 and later. */
import './lib/node-version.ts'
export {
  type HookOptions,
  useLiveCollection,
  useLivePage,
  useLiveValue,
  useSuspenseLiveCollection,
  useSuspenseLivePage,
  useSuspenseLiveValue,
} from './client/react.ts'
