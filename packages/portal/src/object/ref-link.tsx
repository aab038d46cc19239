import { NameIdByRefDocument } from '../gateway/documents.ts'
import { useAnswer } from '../gateway/gateway.ts'
import { PlaceLink } from '../look/place-link.tsx'
import type { FactRef } from './facts.ts'

/** The `nameId` of an object by its name; `null`: there is none; `undefined`: it is not known whether there is, as in no cluster. */
export function useNamed(
  cluster: string | undefined,
  reference: FactRef,
): string | null | undefined {
  const { data, errors } = useAnswer(
    NameIdByRefDocument,
    { cluster: cluster ?? '', ...reference },
    { enabled: cluster !== undefined },
  )
  // What another cluster has answered before is still there.
  const found = cluster === undefined ? undefined : data?.objectByRef
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
  return <NamedLink nameId={useNamed(cluster, reference)} name={reference.name} />
}

/** The name of an object, and a link to it if there is one. */
export function NamedLink({
  nameId,
  name,
}: {
  readonly nameId: string | null | undefined
  readonly name: string
}) {
  return nameId == null ? <>{name}</> : <PlaceLink to={{ object: nameId }}>{name}</PlaceLink>
}
