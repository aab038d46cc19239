import { liveCollection } from '@informerql/client'
import { useEffect, useRef, useState } from 'react'
import {
  PickedRowsDocument,
  TableIdsDocument,
  type TableIdsQuery,
  type TableIdsQueryVariables,
} from '../gateway/documents.ts'
import { type Answer, type Gateway, GatewayError, useGateway } from '../gateway/gateway.ts'
import type { PickedIds } from './picked-ids.ts'
import type { ListArguments } from './use-live-rows.ts'

/** The selection of a table: it stays while the user scrolls, filters and sorts. */
export interface Picked {
  readonly ids: ReadonlySet<string>
  readonly pick: (ids: ReadonlySet<string>) => void
  /** How many of them the filter or the scope leaves out of the table. */
  readonly outside: number
  /** How many were selected, and are deleted or out of sight since: they are not selected any more. */
  readonly gone: number
  /** Selects all objects that the table lists, the first {@link mostPicked} at most. */
  readonly pickAll: () => void
  /** Whether `pickAll` is reading the objects. */
  readonly isPicking: boolean
  /** Why `pickAll` has failed. */
  readonly failure: string | undefined
}

/** How many objects can be selected. */
export const mostPicked = 5_000
/** The objects that one subscription follows: its message stays below `server.maxBodyBytes`. */
export const followedAtOnce = 500
/** The objects of one page of ids. */
const pageSize = 200
/** How long the selection rests before the gateway is asked to follow it. */
const restMs = 300

const none: ReadonlySet<string> = new Set()

/** Holds the selection of a table. `isCached`: whether the gateway can follow the kind; otherwise a write says what is gone. */
export function usePicked(
  [ids, setIds]: PickedIds,
  list: ListArguments,
  isCached: boolean,
): Picked {
  const gateway = useGateway()
  const [absent, setAbsent] = useState(none)
  const [gone, setGone] = useState(0)
  const [failure, setFailure] = useState<string>()
  const [reading, setReading] = useState<AbortController>()
  const latest = useRef({ ids, setIds })
  latest.current = { ids, setIds }

  const pick = (next: ReadonlySet<string>): void => {
    setGone(0)
    setFailure(undefined)
    setIds(next)
  }
  useEffect(() => () => reading?.abort(), [reading])

  // A list is another one if its arguments say something else.
  const asked = JSON.stringify(list)
  useEffect(() => {
    if (!isCached || ids.size === 0) {
      setAbsent(none)
      return undefined
    }
    let leave: (() => void)[] = []
    const timer = setTimeout(() => {
      const { orderBy: _order, columns: _columns, wide: _wide, ...filter } = list
      const everywhere = { ...filter, namespaces: null, where: null }
      const isFiltered = filter.namespaces !== null || filter.where !== null
      leave = [
        follow(gateway, everywhere, ids, (missing) => {
          if (missing.size === 0) return
          const { ids: held, setIds: set } = latest.current
          const left = new Set([...held].filter((id) => !missing.has(id)))
          setGone((before) => before + held.size - left.size)
          set(left)
        }),
        isFiltered ? follow(gateway, filter, ids, setAbsent) : () => setAbsent(none),
      ]
    }, restMs)
    return () => {
      clearTimeout(timer)
      for (const one of leave) one()
    }
    // By `asked`.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [gateway, ids, asked, isCached])

  return {
    ids,
    pick,
    outside: [...absent].filter((id) => ids.has(id)).length,
    gone,
    failure,
    isPicking: reading !== undefined,
    pickAll() {
      const read = new AbortController()
      setReading(read)
      void idsOf(gateway, list, read.signal)
        .then(
          (all) => pick(new Set(all)),
          (error: unknown) => {
            if (!read.signal.aborted) setFailure((error as Error).message)
          },
        )
        .finally(() => setReading(undefined))
    },
  }
}

type Filter = Omit<ListArguments, 'orderBy' | 'columns' | 'wide'>

/** Follows whether a list has objects; `told` those that it does not have. Returns a function that ends it. */
function follow(
  gateway: Gateway,
  filter: Filter,
  ids: ReadonlySet<string>,
  told: (missing: ReadonlySet<string>) => void,
): () => void {
  const all = [...ids]
  const parts = Array.from({ length: Math.ceil(all.length / followedAtOnce) }, (_, at) =>
    all.slice(at * followedAtOnce, (at + 1) * followedAtOnce),
  )
  const followed = parts.map((part) => ({
    part,
    rows: liveCollection({
      client: gateway.socket,
      query: PickedRowsDocument,
      variables: { ...filter, ids: part },
    }),
  }))
  const tell = (): void => {
    const live = followed.filter(({ rows }) => rows.getSnapshot().status === 'live')
    told(new Set(live.flatMap(({ part, rows }) => part.filter((id) => !rows.objects.has(id)))))
  }
  for (const { rows } of followed) rows.subscribe(tell)
  return () => {
    for (const { rows } of followed) rows.close()
  }
}

/** The ids of the objects that a table lists, in its order: the first {@link mostPicked}. */
export async function idsOf(
  gateway: Gateway,
  { columns: _columns, wide: _wide, ...list }: ListArguments,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const ids: string[] = []
  for (let after: string | null = null; ids.length < mostPicked;) {
    const variables: TableIdsQueryVariables = { ...list, first: pageSize, after }
    const { data, errors }: Answer<TableIdsQuery> = await gateway.ask(
      TableIdsDocument,
      variables,
      signal,
    )
    if (data.objectList === null) throw new GatewayError(errors)
    const { nodes, pageInfo } = data.objectList
    ids.push(...nodes.map(({ id }) => id))
    if (!pageInfo.hasNextPage) break
    after = pageInfo.endCursor
  }
  return ids.slice(0, mostPicked)
}
