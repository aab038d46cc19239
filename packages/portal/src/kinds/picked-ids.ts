import { useEffect, useRef, useState } from 'react'
import { PickedByNameDocument } from '../gateway/documents.ts'
import { useGateway } from '../gateway/gateway.ts'
import { useKept } from '../kept-view.ts'
import type { TableView } from './table-view.ts'

/** Ids of objects, and a function that replaces them. */
export type PickedIds = readonly [ids: Ids, pick: (ids: Ids) => void]

type Ids = ReadonlySet<string>

/** More make an address too long. */
const mostInAddress = 50
const none: Ids = new Set()

/**
 * The rows that the user has picked. The address names them by their `nameId`s, unless they are many; Back brings back those,
 * too. `nameOf`: the `nameId` of a row, by its `id`.
 */
export function usePickedIds(
  { picked: text }: TableView,
  change: (changed: TableView, isStep: boolean) => void,
  nameOf: (id: string) => string | undefined,
): PickedIds {
  const gateway = useGateway()
  const { entry, read, keep } = useKept<Ids>('picked')
  // Names of rows that the table may not have any more.
  const names = useRef(new Map<string, string>())
  const first = (): Ids | undefined =>
    read() ?? (text?.includes('/') === true ? undefined : new Set(text?.split(',')))
  const [shown, setShown] = useState(() => ({ entry, picked: first() }))
  if (shown.entry !== entry) setShown({ entry, picked: first() })
  const isAsked = shown.picked === undefined
  useEffect(() => {
    if (!isAsked || text === undefined) return undefined
    const asking = new AbortController()
    const given = text.split(',')
    void gateway
      .ask(PickedByNameDocument, { ids: given }, asking.signal)
      // Who is not there stays by name: the table says that it is gone.
      .then(({ data }) => given.map((name, at) => data.objects?.[at] ?? { id: name, nameId: name }))
      .catch(() => [])
      .then((objects) => {
        if (asking.signal.aborted) return
        for (const { id, nameId } of objects) names.current.set(id, nameId)
        setShown({ entry, picked: new Set(objects.map(({ id }) => id)) })
      })
    return () => asking.abort()
    // The address of the first time: what the user picks meanwhile comes before.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [gateway, entry, isAsked])
  const pick = (picked: Ids): void => {
    keep(picked)
    setShown({ entry, picked })
    const isNamed = picked.size > 0 && picked.size <= mostInAddress
    for (const id of isNamed ? picked : none) {
      const name = nameOf(id)
      if (name !== undefined) names.current.set(id, name)
    }
    const next = isNamed
      ? [...picked].map((id) => names.current.get(id) ?? id).join(',')
      : undefined
    if (next !== text) change({ picked: next }, false)
  }
  return [shown.picked ?? none, pick]
}
