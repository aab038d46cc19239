import { ClientError } from './client-error.ts'
import type { KindAt } from './kind-part.ts'

/** What is read live cannot be found by a UID. */
export function byUid({ cluster, kind }: KindAt): ClientError {
  const { typeName, lookupField } = kind
  const message = `id: ${typeName} is read live, and the API server finds nothing by its UID`
  return new ClientError('UNSUPPORTED', message, {
    argument: 'id',
    cluster,
    kind: typeName,
    hint: `use ${lookupField}, with its name`,
  })
}

/** What is read live cannot be found by anything but its name. */
export function byCondition({ cluster, kind: { typeName } }: KindAt): ClientError {
  const message = `${typeName} is read live: it is found by its name only`
  return new ClientError('UNSUPPORTED', message, {
    cluster,
    kind: typeName,
    hint: 'declare the relation by @reference or @named, to one object',
  })
}
