/*
 * The errors of writes, with the facts of the API server's Status in their extensions. docs/writes.md lists the codes.
 * `failedWrite` first finds who refused the write (admission, RBAC), then why (conflict, invalid, budget). It tells a
 * write that was surely not made from a write with an unknown outcome.
 */

import {
  ConnectionError,
  type ConnectionFailure,
} from '../../api-server/transport/connection-error.ts'
import { itemsOf, textOf } from '../../kubernetes/fields.ts'
import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import { ApiStatusError, isAlreadyExists, isNotFound } from '../../kubernetes/status.ts'
import { shortened } from '../../lib/text.ts'
import { ClientError } from '../errors/client-error.ts'
import { refusedByServer } from '../prepare/caller-server.ts'
import type { Kind } from '../model/kind.ts'
import type { FieldConflict } from '../../kubernetes/field-changes.ts'

export interface WritePlace {
  readonly cluster: string
  readonly kind: Kind
  /** `''` for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
  /** The UID of the object that the caller means; absent: any object of the name. */
  readonly uid?: string | undefined
}

/** The permission that a write needs, as RBAC and errors name it. */
export interface WriteVerb {
  readonly verb: 'get' | 'list' | 'create' | 'patch' | 'update' | 'delete'
  readonly subresource?: string | undefined
}

/** Errors quote at most so many causes. */
const maxCauses = 50
const maxTextLength = 1_000

/**
 * The error of a refused or failed write. For Secrets (kinds held without their contents) it has only codes, names and
 * reasons: texts of the API server, of policies and of webhooks may quote stored values, as the text about an unknown
 * field does.
 */
export function failedWrite(
  place: WritePlace,
  { verb, subresource = '' }: WriteVerb,
  cause: unknown,
): Error {
  if (cause instanceof ClientError) return cause
  const { cluster, kind, namespace, name } = place
  const quotes = kind.metadataOnly
  const details = { cluster, type: kind.typeName, cause: quotes ? undefined : cause }
  const named = `${kind.typeName} ${namespace === '' ? name : `${namespace}/${name}`}`
  if (!(cause instanceof ApiStatusError)) {
    const isRead = verb === 'get' || verb === 'list'
    if (isRead || (cause instanceof ConnectionError && unsent.has(cause.failure))) {
      const message = `cluster ${cluster} cannot be reached, and nothing was written`
      const more = { ...details, cause, retryAfterMs: 1_000 }
      return new ClientError('CLUSTER_UNREACHABLE', message, more)
    }
    const message = `the API server of cluster ${cluster} has not answered: the write may have been made`
    const hint = 'read the object before you write again'
    return new ClientError('OUTCOME_UNKNOWN', message, { ...details, cause, hint })
  }
  const { httpStatus, status, retryAfterMs } = cause
  const said = shortened(textOf(status.message) ?? `HTTP ${httpStatus}`, maxTextLength)
  // Without its texts, a Status still has its reason and the names of unknown fields.
  const unknown = /strict decoding error: ((?:(?:unknown|duplicate) field "[^"]*"(?:, )?)+)$/
  const [, fields] = unknown.exec(textOf(status.message) ?? '') ?? []
  const reasons = [`HTTP ${httpStatus}`, textOf(status.reason), fields].filter(Boolean).join(', ')
  const withheld = `${reasons}; the text of the API server is withheld, as it may quote values`
  const message = `${named}: ${quotes ? withheld : said}`
  const causes = itemsOf(status.details?.causes)
    .slice(0, maxCauses)
    .map((one) => ({
      field: shortened(textOf(one['field']) ?? '', maxTextLength),
      reason: textOf(one['reason']) ?? '',
      message: quotes ? '' : shortened(textOf(one['message']) ?? '', maxTextLength),
    }))
  const admission = admissionOf(said, httpStatus)
  if (admission !== undefined) {
    const { by, name: denier, failed } = admission
    const hint = failed
      ? `${by === 'WEBHOOK' ? 'the webhook does not answer as it should' : 'the policy cannot be evaluated'}: tell its owner`
      : 'change what the message names, or ask the owner of the policy'
    // Its name is no value of the object.
    const about = quotes && denier !== null ? `${message} (${by.toLowerCase()} ${denier})` : message
    return new ClientError('ADMISSION_DENIED', about, {
      ...details,
      hint,
      facts: { admission: quotes ? { ...admission, message: '' } : admission },
      ...(failed ? { retryAfterMs: retryAfterMs ?? 1_000 } : {}),
    })
  }
  if (httpStatus === 401) return refusedByServer(cluster)
  if (httpStatus === 403) {
    return forbiddenWrite(place, { verb, subresource }, quotes ? undefined : message)
  }
  if (isAlreadyExists(cause)) {
    const hint = 'choose another name, or use apply'
    return new ClientError('ALREADY_EXISTS', message, { ...details, hint })
  }
  if (isNotFound(cause)) {
    const hint = 'it was deleted, or its namespace or kind was: read it again'
    return new ClientError('NOT_FOUND', message, { ...details, hint })
  }
  if (httpStatus === 409) {
    const conflicts = itemsOf(status.details?.causes)
      .filter(({ reason }) => reason === 'FieldManagerConflict')
      .map((one): FieldConflict => {
        // `conflict with "other" with subresource "status" using v1`
        const form = /conflict with "([^"]*)"(?: with subresource "([^"]*)")?/
        const [, manager = '', part = null] = form.exec(textOf(one['message']) ?? '') ?? []
        return {
          manager,
          field: shortened(textOf(one['field']) ?? '', maxTextLength),
          subresource: part,
        }
      })
    if (conflicts.length > 0) return conflictWith(message, conflicts, details)
    const precondition = /UID in precondition/i.test(said) ? 'uid' : 'resourceVersion'
    return notAsLookedAt(place, precondition, message, details.cause)
  }
  if (httpStatus === 422) {
    return new ClientError('INVALID', message, { ...details, facts: { causes } })
  }
  if (httpStatus === 429) {
    if (causes.some(({ reason }) => reason === 'DisruptionBudget')) {
      const budget = causes.map((one) => one.message).join('; ')
      const hint = 'wait until the other pods are healthy, or drain, which waits'
      const facts = { causes }
      const more = { ...details, hint, facts, retryAfterMs: retryAfterMs ?? 5_000 }
      return new ClientError('DISRUPTION_BUDGET', `${message} ${budget}`, more)
    }
    const more = { ...details, retryAfterMs: retryAfterMs ?? 1_000 }
    return new ClientError('CLUSTER_UNREACHABLE', message, more)
  }
  if (httpStatus >= 400 && httpStatus < 500) {
    const code = httpStatus === 405 || httpStatus === 415 ? 'UNSUPPORTED' : 'BAD_USER_INPUT'
    return new ClientError(code, message, details)
  }
  // The typed conversion of a server-side apply fails with 500 for a field that the schema does not declare.
  if (said.includes('failed to create typed patch object')) {
    const [, field = '', problem = said] = /: (\.\S+): (.*)$/.exec(said) ?? []
    const untyped = { field, reason: 'FieldValueInvalid', message: quotes ? '' : problem }
    return new ClientError('INVALID', message, { ...details, facts: { causes: [untyped] } })
  }
  return new ClientError('CLUSTER_UNREACHABLE', message, { ...details, retryAfterMs })
}

/** The error of a write that the caller may not make. */
export function forbiddenWrite(
  { cluster, kind, namespace, name }: WritePlace,
  { verb, subresource = '' }: WriteVerb,
  message?: string,
): ClientError {
  const { typeName, resource } = kind
  const groupResource = groupResourceOf(resource)
  const [plain, ...group] = groupResource.split('.')
  const full = [subresource === '' ? plain : `${plain}/${subresource}`, ...group].join('.')
  const where = namespace === '' ? '' : ` in namespace ${namespace}`
  return new ClientError('FORBIDDEN', message ?? `you may not ${verb} ${full}${where}`, {
    cluster,
    type: typeName,
    hint: `ask for ${verb} on ${full}${where}`,
    facts: { verb, resource: groupResource, subresource, namespace, name },
  })
}

/** The object has changed since the caller saw it, or is another object. */
export function notAsLookedAt(
  { cluster, kind }: Pick<WritePlace, 'cluster' | 'kind'>,
  precondition: 'uid' | 'resourceVersion',
  message: string,
  cause?: unknown,
): ClientError {
  const hint =
    precondition === 'uid'
      ? 'the object was deleted and created again: read the new one'
      : 'the object has changed since you read it: read it again, then write'
  const details = { cluster, type: kind.typeName, cause, hint, facts: { precondition } }
  return new ClientError('PRECONDITION_FAILED', message, details)
}

/** Fields of an apply have other managers, says the API server, or the gateway in the same form. */
export function conflictWith(
  message: string,
  conflicts: readonly FieldConflict[],
  details: { readonly cluster: string; readonly type: string; readonly cause?: unknown },
): ClientError {
  return new ClientError('CONFLICT', message, {
    ...details,
    hint: 'leave these fields to their managers, or take them over with force: true',
    facts: { conflicts: conflicts.slice(0, maxCauses), conflictCount: conflicts.length },
  })
}

interface AdmissionDenial {
  readonly by: 'WEBHOOK' | 'POLICY' | 'PLUGIN'
  /** The name of the webhook or policy; null for a plugin of the API server, which does not give its name. */
  readonly name: string | null
  /** The binding of the policy. */
  readonly binding: string | null
  readonly message: string
  /** Whether it could not decide and so refused, as its `failurePolicy` is `Fail`: a webhook that does not answer. */
  readonly failed: boolean
}

const byWebhook =
  /admission webhook "([^"]+)" denied the request(?:: ([\s\S]*)| without explanation)/
/** The API server could not call a webhook, and its `failurePolicy` is `Fail`. */
const failedWebhook = /failed calling webhook "([^"]+)"(?:: |; )([\s\S]*)/
/** A webhook with side effects refuses each dry run; one may not change what is deleted. */
const unfitWebhook =
  /admission webhook "([^"]+)" (does not support dry run|attempted to modify [\s\S]*)/
/** In the words of validating and of mutating policies. */
const byPolicy =
  /(?:ValidatingAdmissionPolicy|MutatingAdmissionPolicy|policy) ['"]([^'"]+)['"](?: with binding '([^']+)')? denied request: ([\s\S]*)/
const failedPolicy =
  /^(?:failed to configure (?:policy|binding)|expression '[\s\S]*' resulted in error|failed to (?:evaluate|execute))/
/** RBAC and every other authorizer name the user and the verb. */
const byAuthorizer = /User "[^"]*" cannot \S+ (?:resource|path)/
const byPlugin = /is forbidden: ([\s\S]*)/

/** Who denied a write at admission; `undefined` for other refusals. */
function admissionOf(said: string, httpStatus: number): AdmissionDenial | undefined {
  const webhook = byWebhook.exec(said) ?? unfitWebhook.exec(said)
  const failure = webhook === null ? failedWebhook.exec(said) : null
  const [, hook, because = ''] = webhook ?? failure ?? []
  if (hook !== undefined) {
    return { by: 'WEBHOOK', name: hook, binding: null, message: because, failed: failure !== null }
  }
  const policy = byPolicy.exec(said)
  if (policy !== null) {
    const [, name = '', binding = null, message = ''] = policy
    return { by: 'POLICY', name, binding, message, failed: failedPolicy.test(message) }
  }
  if (httpStatus !== 403 || byAuthorizer.test(said)) return undefined
  const [, message] = byPlugin.exec(said) ?? []
  if (message === undefined) return undefined
  return { by: 'PLUGIN', name: null, binding: null, message, failed: false }
}

/** Failures that happen before the request can have reached the API server. */
const unsent: ReadonlySet<ConnectionFailure> = new Set([
  'refused',
  'name',
  'unreachable',
  'certificate-expired',
  'certificate-not-yet-valid',
  'unknown-authority',
  'wrong-host',
  'client-certificate',
  'tls',
])
