/*
 * When what is around an object changes. The gateway answers a graph, and follows none: a view asks again when the object or its
 * neighbours change, or when there are more or fewer objects of a kind, or healthier ones. Nothing is asked while nothing changes.
 */

import { useLiveCollection, useLiveValue } from '@informerql/client/react'
import { useMemo } from 'react'
import {
  CountsDocument,
  FollowAroundDocument,
  FollowNeighboursDocument,
} from '../gateway/documents.ts'
import { useGateway } from '../gateway/gateway.ts'

/** More neighbours than these are not followed one by one. */
const mostNeighbours = 300

/** Another value after each change around the objects of these `id`s. `namespace`: that of all of them. */
export function useAround(
  ids: readonly string[],
  neighbours: readonly string[],
  namespace?: string | null,
): unknown {
  const { socket: client } = useGateway()
  const { rows: own } = useLiveCollection({
    client,
    query: FollowAroundDocument,
    variables: { ids: [...ids] },
    enabled: ids.length > 0,
  })
  const { rows: beside } = useLiveCollection({
    client,
    query: FollowNeighboursDocument,
    variables: { ids: neighbours.slice(0, mostNeighbours).toSorted() },
    enabled: neighbours.length > 0,
  })
  const { value: counted } = useLiveValue({
    client,
    query: CountsDocument,
    variables: { namespaces: namespace == null ? null : [namespace] },
  })
  return useMemo(() => ({}), [own, beside, counted])
}
