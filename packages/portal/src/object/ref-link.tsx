import { NameIdByRefDocument } from '../gateway/documents.ts'
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
  const { data } = useAnswer(NameIdByRefDocument, { cluster, ...reference })
  const nameId = data?.objectByRef?.nameId
  if (nameId === undefined) return <>{reference.name}</>
  return <PlaceLink to={{ object: nameId }}>{reference.name}</PlaceLink>
}
