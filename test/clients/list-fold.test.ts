import {
  type CachedList,
  foldConnection,
  type Frame,
  FrameFold,
  goneObjects,
  PageFold,
} from 'informerql/client'
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
const added = (...ids: readonly string[]): Frame<Pod>['changes'] =>
  ids.map((id) => ({ type: 'ADDED', objectId: id, object: pod(id) }))
const listOf = (ids: string, hasNextPage = false): CachedList<Pod> => ({
  nodes: ids.split('').map((id) => pod(id)),
  pageInfo: { hasNextPage, endCursor: 'cursor' },
  totalCount: 9,
})
const namesOf = ({ nodes }: CachedList<Pod>): string => nodes.map(({ id }) => id).join('')

const removals = frame([
  { type: 'REMOVED', removal: 'DELETED', objectId: 'a', object: pod('a') },
  { type: 'REMOVED', removal: 'UNMATCHED', objectId: 'b', object: pod('b', 'Failed') },
  { type: 'REMOVED', removal: 'HIDDEN', objectId: 'c', object: null },
])

describe('a list in a cache', () => {
  it('keeps rows in their places, and gets new rows at the end', () => {
    const fold = new FrameFold<Pod>()
    fold.apply(frame(added('a', 'b', 'c'), true))
    fold.apply(frame([{ type: 'MODIFIED', objectId: 'a', object: pod('a', 'Failed') }]))
    const list = foldConnection(listOf('ba'), fold)
    expect(list.nodes).toEqual([pod('b'), pod('a', 'Failed'), pod('c')])
    expect(list.totalCount).toBe(3)
  })

  it('gets no new rows while it has a next page', () => {
    const fold = new FrameFold<Pod>()
    fold.apply(frame(added('a', 'b', 'c', 'd', 'e'), true))
    fold.apply(removals)
    const list = foldConnection(listOf('abd', true), fold)
    expect(namesOf(list)).toBe('d')
    expect(list).toMatchObject({ totalCount: 2, pageInfo: { hasNextPage: true } })
  })

  it('stays as it is until a new snapshot is complete', () => {
    const fold = new FrameFold<Pod>()
    const list = listOf('ab')
    fold.apply({ ...frame(added('c'), true), synced: false })
    expect(foldConnection(list, fold)).toBe(list)
    fold.apply(frame(added('a')))
    expect(namesOf(foldConnection(list, fold))).toBe('ac')
  })

  it('goes on from where it was queried', () => {
    const list = listOf('abc')
    const onlyChanges = new FrameFold<Pod>()
    onlyChanges.apply(frame(added('d')))
    expect(foldConnection(list, onlyChanges)).toBe(list)
    const fold = new FrameFold(list.nodes)
    fold.apply(frame(added('d')))
    expect(namesOf(foldConnection(list, fold))).toBe('abcd')
  })

  it('is what its live page is', () => {
    const fold = new PageFold<Pod>()
    const list = listOf('xy', true)
    const insert = { step: 'INSERT', index: 0, objectId: 'a', object: pod('a') } as const
    fold.apply({ reset: true, synced: false, totalCount: 2, changes: [insert] })
    expect(foldConnection(list, fold)).toBe(list)
    fold.apply({ reset: false, synced: true, totalCount: 2, changes: [] })
    expect(foldConnection(list, fold)).toEqual({
      nodes: [pod('a')],
      totalCount: 2,
      pageInfo: { hasNextPage: true, endCursor: null },
    })
  })

  it('loses the objects that are deleted or hidden, not those that only match no longer', () => {
    expect(goneObjects(removals)).toEqual(['a', 'c'])
  })
})
