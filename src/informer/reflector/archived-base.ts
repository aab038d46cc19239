import type { ResourceVersion } from '../../kubernetes/resource-version.ts'
import { inSlices } from '../../lib/event-loop.ts'
import type { StoreContents } from '../store/store-contents.ts'
import type { ObjectIntake } from './object-intake.ts'

/** The objects of a resource at a position, from an archive. */
export interface ArchivedBase {
  readonly resourceVersion: ResourceVersion
  /** If each namespace was watched by itself: the resource versions that they had reached. */
  readonly namespaces?: ReadonlyMap<string, ResourceVersion> | undefined
  /**
   * A version that the server has reached; `undefined` if none is known. It is not before {@link resourceVersion}, or those
   * of the namespaces: then the archive would be of another history.
   */
  readonly reached: ResourceVersion | undefined
  /** The texts (UTF-8 JSON), some at a time; each ends where `ends` says, and begins where the one before ends. */
  readonly objects: AsyncIterable<{ readonly ends: Uint32Array; readonly bytes: Uint8Array }>
}

/** Between two points where the work may pause. */
const objectsPerStep = 16

/** Fills a generation of a store with the objects of an archive, in slices. `heard` is called for each part of them. */
export async function takeBase(
  { objects }: ArchivedBase,
  parts: { readonly intake: ObjectIntake; readonly contents: StoreContents },
  heard: () => void,
  signal: AbortSignal,
): Promise<void> {
  const { intake, contents } = parts
  const take = function* (ends: Uint32Array, bytes: Uint8Array): Generator<void, true> {
    let start = 0
    for (const [at, end] of ends.entries()) {
      if (at % objectsPerStep === objectsPerStep - 1) yield
      const entry = intake.take(bytes.subarray(start, end))?.entry
      if (entry !== undefined) contents.put(entry)
      start = end
    }
    return true
  }
  for await (const { ends, bytes } of objects) {
    heard()
    await inSlices(take(ends, bytes), () => signal.aborted)
    signal.throwIfAborted()
  }
}
