import type { builtInIndexes, IndexFunction } from './store-view.ts'

/** The functions of the indexes that every store has, besides one per label key. They read whatever shape an object comes in. */
export const builtInIndexers: Readonly<Record<(typeof builtInIndexes)[number], IndexFunction>> = {
  namespace: ({ metadata }) => ownValue(metadata.namespace),
  name: ({ metadata }) => ownValue(metadata.name),
  uid: ({ metadata }) => ownValue(metadata.uid),
  ownerUid: ({ metadata }) => {
    const owners: unknown = metadata.ownerReferences
    if (!Array.isArray(owners)) return none
    return owners.flatMap((owner: { uid?: unknown } | null) => ownValue(owner?.uid))
  },
}

const none: readonly string[] = []

function ownValue(value: unknown): readonly string[] {
  return typeof value === 'string' && value !== '' ? [value] : none
}
