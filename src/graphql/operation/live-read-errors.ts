import { ClientError } from './client-error.ts'
import type { ClusterKind } from './kind-view.ts'

/** Of a kind that is read live: its objects have no index of their UIDs. */
export function notFoundByUid({ cluster, kind }: ClusterKind): ClientError {
  const { typeName, lookupField } = kind
  const message = `id: ${typeName} is read live, and the API server finds nothing by its UID`
  return new ClientError('UNSUPPORTED', message, {
    argument: 'id',
    cluster,
    kind: typeName,
    hint: `use ${lookupField}, with its name`,
  })
}

/** Of a kind that is read live, which a relation leads to by something else than names. */
export function notFoundByCondition({ cluster, kind: { typeName } }: ClusterKind): ClientError {
  const message = `${typeName} is read live: it is found by its name only`
  return new ClientError('UNSUPPORTED', message, {
    cluster,
    kind: typeName,
    hint: 'declare the relation by @reference or @named, to one object',
  })
}
