import type { FieldChange } from '../schema/read-context.ts'
import type { FoundObject } from './kind-view.ts'

/** What the writes of one operation have done. They are made before the answer is read; dispose it after that. */
export interface WriteResults extends Disposable {
  /** The payload of a field, by its response key; of `apply`, one for each document. Throws the error of the write. */
  result(key: string): WritePayload | readonly (WritePayload | Error)[]
  /** The value of a mutation of an extension, by its response key. Throws the error of its resolver. */
  value(key: string): unknown
}

/** What a write has done, or would do. */
export interface WritePayload {
  /** The object as the API server answered; `null` if it is gone. */
  readonly object: FoundObject | null
  readonly changes: readonly FieldChange[]
  readonly resourceVersion: string | null
  readonly warnings: readonly string[]
  readonly dryRun: boolean
  readonly behind: boolean
  /** How long it has waited until the cache had it; no field shows it. */
  readonly waitedMs: number
  /** The name that the object has, also if the API server made it; `''`: not known. No field shows it. */
  readonly name: string
}
