import { useLiveValue } from '@informerql/client/react'
import { useEffect, useMemo, useRef } from 'react'
import { inScope, useScope } from '../scope.ts'
import { KindsDocument, type KindsQuery, KindsServedDocument } from './documents.ts'
import { type AnswerError, useAnswer, useGateway } from './gateway.ts'
import { deliveryWords } from '../delivery/delivery-words.ts'
import { groupOf } from '../object/json.ts'

type Resource = NonNullable<KindsQuery['gatewayClusters']>[number]['resources'][number]

/** A kind of which the user may list any objects. */
export interface Kind extends Resource {
  /** Its part of an address: `pods`, `deployments.apps`. */
  readonly path: string
  /** Its objects in words: `Pods`, `NetworkPolicies`. */
  readonly title: string
}

/** The kinds of the clusters in scope. */
export interface Kinds {
  /** Sorted by title. Empty while they are on their way. */
  readonly kinds: readonly Kind[]
  /** The kind of an address: `pods`, `deployments.apps`. */
  readonly byPath: ReadonlyMap<string, Kind>
  /** The kind of an object, by the name of its kind and its `apiVersion`. */
  readonly ofObject: (kind: string, apiVersion: string) => Kind | undefined
  readonly errors: readonly AnswerError[]
  readonly isPending: boolean
}

/** The kinds of the clusters in scope: one that several serve is as the first of them has it. */
export function useKinds(): Kinds {
  const { scope } = useScope()
  const { data, errors, isPending, again } = useAnswer(KindsDocument, {})
  const { value: served } = useLiveValue({
    client: useGateway().socket,
    query: KindsServedDocument,
    variables: {},
  })
  const known = useRef(served)
  useEffect(() => {
    // The first one says what the first answer has.
    if (known.current !== undefined && known.current !== served) again()
    known.current = served
  }, [served])
  return useMemo(() => {
    const byPath = new Map<string, Kind>()
    for (const { resources } of inScope(data?.gatewayClusters ?? [], scope)) {
      for (const kind of resources.map(kindOf)) {
        if (!byPath.has(kind.path)) byPath.set(kind.path, kind)
      }
    }
    const kinds = [...byPath.values()].toSorted((one, other) =>
      one.title.localeCompare(other.title),
    )
    return {
      kinds,
      byPath,
      ofObject: (kind, apiVersion) =>
        kinds.find((one) => one.kind === kind && one.group === groupOf(apiVersion)),
      errors,
      isPending,
    }
  }, [data, errors, isPending, scope])
}

const known = new WeakMap<Resource, Kind>()

/** The same object until the gateway says something else of the kind: answers share what has not changed. */
function kindOf(resource: Resource): Kind {
  const before = known.get(resource)
  if (before !== undefined) return before
  const kind = { ...resource, path: pathOf(resource), title: titleOf(resource) }
  known.set(resource, kind)
  return kind
}

function pathOf({ resource, group }: Pick<Resource, 'resource' | 'group'>): string {
  return group === '' ? resource : `${resource}.${group}`
}

/** The plural with the capitals of the kind: `NetworkPolicy` and `networkpolicies` make `NetworkPolicies`. */
function titleOf({ kind, resource, group }: Pick<Resource, 'kind' | 'resource' | 'group'>): string {
  // The page has applications of its own: workloads of one name.
  if (group === 'argoproj.io' && kind === 'Application') return deliveryWords.sections.argo
  const lower = kind.toLowerCase()
  let same = 0
  while (same < lower.length && lower[same] === resource[same]) same++
  return same === 0 ? kind : kind.slice(0, same) + resource.slice(same)
}
