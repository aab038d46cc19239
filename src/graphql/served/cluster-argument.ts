import { ClientError } from '../errors/client-error.ts'
import type { ServedSchema } from './served-schema.ts'

/** The cluster that an argument names, or else the default one. Throws `ClientError` for an unknown cluster. */
export function clusterNamed({ clusters }: ServedSchema, name: string | null | undefined): string {
  if (name !== undefined && name !== null && clusters.has(name)) return name
  const [first = ''] = clusters.keys()
  if (name === undefined || name === null) return first
  throw new ClientError('BAD_USER_INPUT', `there is no cluster ${JSON.stringify(name)}`, {
    argument: 'cluster',
    value: name,
    hint: `there are ${[...clusters.keys()].join(', ')}`,
  })
}
