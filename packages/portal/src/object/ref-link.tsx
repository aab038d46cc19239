import { ObjectIdByRefDocument } from '../gateway/documents.ts'
import { useAnswer } from '../gateway/gateway.ts'
import { PlaceLink } from '../look/place-link.tsx'
import type { FactRef } from './facts.ts'

/** The name of an object that another one names: a link if it exists and the user may see it. */
export function RefLink({
  cluster,
  reference,
}: {
  readonly cluster: string
  readonly reference: FactRef
}) {
  const { data } = useAnswer(ObjectIdByRefDocument, { cluster, ...reference })
  const id = data?.objectByRef?.id
  if (id === undefined) return <>{reference.name}</>
  return <PlaceLink to={{ object: id }}>{reference.name}</PlaceLink>
}
