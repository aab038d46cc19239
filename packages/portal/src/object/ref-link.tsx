import { NameIdByRefDocument } from '../gateway/documents.ts'
import { useAnswer } from '../gateway/gateway.ts'
import { PlaceLink } from '../look/place-link.tsx'
import type { FactRef } from './facts.ts'

/** The `nameId` of an object by its name; `null`: there is none; `undefined`: it is not known whether there is. */
export function useNamed(cluster: string, reference: FactRef): string | null | undefined {
  const { data, errors } = useAnswer(NameIdByRefDocument, { cluster, ...reference })
  const found = data?.objectByRef
  return found === null ? (errors.length === 0 ? null : undefined) : found?.nameId
}

/** The name of an object that another one names: a link if it exists and the user may see it. */
export function RefLink({
  cluster,
  reference,
}: {
  readonly cluster: string
  readonly reference: FactRef
}) {
  const nameId = useNamed(cluster, reference)
  if (nameId == null) return <>{reference.name}</>
  return <PlaceLink to={{ object: nameId }}>{reference.name}</PlaceLink>
}
