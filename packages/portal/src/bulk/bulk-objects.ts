import { useEffect, useState } from 'react'
import type { ActionName } from '../actions/action-list.ts'
import { type Autoscaler, autoscalersOf } from '../actions/consequences.tsx'
import { hasEmptyDir, type Maker, makerOf } from '../actions/makers.ts'
import { BulkObjectsDocument, type BulkObjectsQuery } from '../gateway/documents.ts'
import { type Gateway, useGateway } from '../gateway/gateway.ts'
import type { Manager } from '../delivery/managed-by.tsx'

type Held = NonNullable<NonNullable<BulkObjectsQuery['objects']>[number]>

/** An object of a bulk, and what else the action on it concerns. */
export interface BulkObject extends Pick<
  Held,
  'id' | 'apiVersion' | 'kind' | 'namespace' | 'name' | 'clusterName'
> {
  readonly metadata: unknown
  /** How many pods a workload should have. */
  readonly replicas: number | undefined
  /** How many objects use what is deleted; `undefined`: that is not known. */
  readonly users: number | undefined
  /** Some of the users: `Pod web-0`. */
  readonly namedUsers: readonly string[]
  readonly autoscalers: readonly Autoscaler[]
  readonly manager: Pick<Manager, 'tool' | 'name' | 'reversal'> | undefined
  /** What makes a new one when it is deleted or evicted. */
  readonly maker: Maker | undefined
  /** Whether it is a pod that is deleted or evicted with data of its own. */
  readonly losesData: boolean
}

/** The objects of one question: each has up to 20 users. */
const askedAtOnce = 50
/** Questions at the same time. */
const parallel = 2

export interface BulkObjects {
  /** By `id`, in the order of the selection. Those that are gone are missing. */
  readonly objects: ReadonlyMap<string, BulkObject>
  /** How many of the selection are asked for. */
  readonly read: number
  readonly isOver: boolean
  readonly failure: string | undefined
}

/** Reads the objects of a bulk, some at a time. */
export function useBulkObjects(ids: readonly string[], action: ActionName): BulkObjects {
  const gateway = useGateway()
  const [known, setKnown] = useState<BulkObjects>({
    objects: new Map(),
    read: 0,
    isOver: false,
    failure: undefined,
  })
  useEffect(() => {
    const reading = new AbortController()
    void readObjects(gateway, ids, action, reading.signal, setKnown)
    return () => reading.abort()
  }, [gateway, ids, action])
  return known
}

async function readObjects(
  gateway: Gateway,
  ids: readonly string[],
  action: ActionName,
  signal: AbortSignal,
  told: (known: BulkObjects) => void,
): Promise<void> {
  const found = new Map<string, BulkObject>()
  let at = 0
  let read = 0
  let failure: string | undefined
  const work = async (): Promise<void> => {
    while (at < ids.length) {
      const asked = ids.slice(at, at + askedAtOnce)
      at += asked.length
      const variables = {
        ids: asked,
        isDeleted: action === 'delete',
        isScaled: action === 'scale',
        isEnded: isEnded(action),
      }
      const { data } = await gateway.ask(BulkObjectsDocument, variables, signal)
      for (const object of data.objects ?? []) {
        if (object !== null) found.set(object.id, bulkObject(object, action))
      }
      read += asked.length
      told({ objects: new Map(found), read, isOver: false, failure: undefined })
    }
  }
  try {
    await Promise.all(Array.from({ length: parallel }, work))
  } catch (error) {
    if (signal.aborted) return
    at = ids.length
    failure = (error as Error).message
  }
  const inOrder = ids.flatMap((id) => {
    const object = found.get(id)
    return object === undefined ? [] : [[id, object] as const]
  })
  told({ objects: new Map(inOrder), read, isOver: true, failure })
}

function isEnded(action: ActionName): boolean {
  return action === 'delete' || action === 'evict'
}

function bulkObject(held: Held, action: ActionName): BulkObject {
  const { id, apiVersion, kind, namespace, name, clusterName, metadata, usedBy } = held
  const replicas = 'replicas' in held ? (held.replicas ?? undefined) : undefined
  const json = {
    metadata,
    spec: { replicas, volumes: held.volumes },
    status: { phase: held.phase },
  }
  const maker = isEnded(action) ? makerOf({ apiVersion, kind, json }) : undefined
  const isAsked = action === 'delete' && maker === undefined
  return {
    id,
    apiVersion,
    kind,
    namespace,
    name,
    clusterName,
    metadata,
    replicas,
    users: isAsked ? usedBy?.totalCount : 0,
    namedUsers: isAsked
      ? (usedBy?.nodes ?? []).map(({ object }) => `${object.kind} ${object.name}`)
      : [],
    autoscalers: autoscalersOf(held),
    manager: held.managedBy?.[0],
    maker,
    losesData: kind === 'Pod' && isEnded(action) && hasEmptyDir(json),
  }
}
