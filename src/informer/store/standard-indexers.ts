import type { builtInIndexes, IndexFunction } from './store-view.ts'

/** The indexes that every store has, besides one per label key. */
export const standardIndexers: Readonly<Record<(typeof builtInIndexes)[number], IndexFunction>> = {
  namespace: ({ metadata }) => (metadata.namespace === undefined ? [] : [metadata.namespace]),
  name: ({ metadata }) => [metadata.name],
  uid: ({ metadata }) => (metadata.uid === undefined ? [] : [metadata.uid]),
  ownerUid: ({ metadata }) => metadata.ownerReferences?.map((owner) => owner.uid) ?? [],
}
