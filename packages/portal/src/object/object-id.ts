import { useLiveCollection } from '@informerql/client/react'
import { useEffect, useState } from 'react'
import { FollowNameDocument } from '../gateway/documents.ts'
import { errorsOf, useGateway } from '../gateway/gateway.ts'
import { namedIn, namedParams } from '../scope.ts'
import type { LiveObject } from './live-object.ts'

/**
 * The `id` of an object that an address names, by its `nameId` or by that `id`. By its name, it is whoever has the name
 * first: when the object is made anew while it is shown, its view offers the new one. `known`: the `id`, if it is known.
 */
export function useObjectId(
  address: string,
  known?: string,
): {
  readonly id: string | undefined
  /** Why there is no `id`. */
  readonly live: Pick<LiveObject, 'state' | 'errors'>
} {
  const params = namedParams(address)
  const [first, setFirst] = useState<{ readonly address: string; readonly id: string }>()
  const found = first?.address === address ? first.id : undefined
  const id = params === undefined ? address : (known ?? found)
  const { cluster, apiVersion = '', kind = '', namespace = null, name = '' } = namedIn(params) ?? {}
  const { rows, status, error } = useLiveCollection({
    client: useGateway().socket,
    query: FollowNameDocument,
    variables: { cluster, apiVersion, kind, namespace, name },
    enabled: id === undefined,
  })
  const foundId = rows[0]?.id
  useEffect(() => {
    if (foundId !== undefined) setFirst({ address, id: foundId })
  }, [address, foundId])
  const state = status === 'live' ? 'missing' : status === 'failed' ? 'refused' : 'loading'
  // An object that was found a moment ago is known with the next rendering.
  const isFound = foundId !== undefined
  return { id, live: { state: isFound ? 'loading' : state, errors: errorsOf(error) } }
}
