import { words } from '../words.ts'

/** Shown for an address that no view has. */
export function NotFound() {
  return <p>{words.frame.notFound}</p>
}
