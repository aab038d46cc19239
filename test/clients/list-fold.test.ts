import { foldNodes, type Frame, goneObjects } from 'informerql/client'
import { describe, expect, it } from 'vitest'

interface Pod {
  readonly id: string
  readonly phase: string
}

const pod = (id: string, phase = 'Running'): Pod => ({ id, phase })
const frame = (changes: Frame<Pod>['changes'], reset = false): Frame<Pod> => ({
  reset,
  synced: true,
  changes,
})

const removals = frame([
  { type: 'REMOVED', removal: 'DELETED', objectId: 'a', object: pod('a') },
  { type: 'REMOVED', removal: 'UNMATCHED', objectId: 'b', object: pod('b', 'Failed') },
  { type: 'REMOVED', removal: 'HIDDEN', objectId: 'c', object: null },
])

describe('a frame in a cache', () => {
  it('leaves what is kept in its place, and puts what is new at the end', () => {
    const nodes = [pod('a'), pod('b')]
    const folded = foldNodes(
      nodes,
      frame([
        { type: 'ADDED', objectId: 'c', object: pod('c') },
        { type: 'MODIFIED', objectId: 'a', object: pod('a', 'Failed') },
      ]),
    )
    expect(folded).toEqual([pod('a', 'Failed'), pod('b'), pod('c')])
    expect(nodes).toEqual([pod('a'), pod('b')])
  })

  it('takes whatever is removed out of its list', () => {
    expect(foldNodes([pod('a'), pod('b'), pod('c'), pod('d')], removals)).toEqual([pod('d')])
  })

  it('evicts what is gone or hidden, and not what only matches no longer', () => {
    expect(goneObjects(removals)).toEqual(['a', 'c'])
  })

  it('begins anew with a reset', () => {
    const changes = [{ type: 'ADDED', objectId: 'b', object: pod('b') } as const]
    expect(foldNodes([pod('a')], frame(changes, true))).toEqual([pod('b')])
  })
})
