import { splitApiVersion } from '../../kubernetes/api-resource.ts'
import type { Kind } from '../model/kind.ts'
import type { LookupArguments, ObjectByRefArguments } from '../schema/read-arguments.ts'
import { ClientError } from './client-error.ts'
import { clusterNamed } from './cluster-argument.ts'
import type { ServedSchema } from './served-schema.ts'

/** The object that is meant by what others call it. Throws `ClientError`, naming the argument. */
export function resolveObjectRef(
  served: ServedSchema,
  { apiVersion, kind: name, ...args }: ObjectByRefArguments,
): LookupArguments & { readonly kind: Kind } {
  const cluster = clusterNamed(served, args.cluster)
  const kind = served.kindOf(splitApiVersion(apiVersion).group, name)
  if (kind === undefined) {
    throw new ClientError('BAD_USER_INPUT', `kind: there is no ${name} of ${apiVersion}`, {
      argument: 'kind',
      value: name,
      hint: 'name an apiVersion and kind as objects have them',
    })
  }
  const { namespaced } = kind.resource
  const namespace = args.namespace ?? ''
  if (namespaced && namespace === '') {
    throw new ClientError('BAD_USER_INPUT', `namespace: ${name} lives in namespaces`, {
      argument: 'namespace',
      value: args.namespace,
      hint: 'name the namespace',
    })
  }
  return { kind, cluster, name: args.name, ...(namespaced ? { namespace } : {}) }
}
