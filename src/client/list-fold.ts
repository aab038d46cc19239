import type { Frame } from './frame-fold.ts'

/**
 * The nodes of a list after a frame of the subscription to it, for a cache that keeps lists: what is new stands at the end, what
 * is removed is gone, everything else stays where it was. The list itself is not changed.
 */
export function foldNodes<T extends { readonly id: string }>(
  nodes: readonly T[],
  { reset, changes }: Frame<T>,
): T[] {
  const folded = new Map(reset ? [] : nodes.map((node) => [node.id, node]))
  for (const { type, objectId, object } of changes) {
    if (type === 'REMOVED') folded.delete(objectId)
    else if (object !== undefined && object !== null) folded.set(objectId, object)
  }
  return [...folded.values()]
}

/**
 * The ids of the objects that a normalising cache must forget wherever it holds them: those that are deleted, and those that the
 * viewer may no longer see. One that only no longer matches is still there, and stays in the cache.
 */
export function goneObjects({ changes }: Frame<unknown>): string[] {
  return changes.flatMap(({ type, objectId, removal }) =>
    type === 'REMOVED' && removal !== 'UNMATCHED' ? [objectId] : [],
  )
}
