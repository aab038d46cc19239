import { isJsonObject } from '../../../lib/json-object.ts'
import type { ServiceAccountTokens } from '../../access/service-account-tokens.ts'
import { audience } from '../../access/authentication.ts'
import { type FieldProblem, invalidAt } from '../../api/field-problem.ts'
import { badRequest, invalid, methodNotAllowed, notFound } from '../../api/status-refusal.ts'
import type { RequestTarget } from '../request-target.ts'
import { contentType, parseBody, readBody } from '../request-body.ts'
import { type Exchange, sendJson } from '../simulated-exchange.ts'

const kind = 'TokenRequest'
const group = 'authentication.k8s.io'
const leastSeconds = 600
const mostSeconds = 2 ** 32
const defaultSeconds = 3_600

/** Whether a path asks for a token of a ServiceAccount. */
export function isTokenRequest({ group: of, resource, subresource }: RequestTarget): boolean {
  return of === '' && resource === 'serviceaccounts' && subresource === 'token'
}

/** Gives a ServiceAccount a token, as its subresource `token` does. Throws refusals. */
export async function serveTokenRequest(
  exchange: Exchange,
  { namespace, name }: RequestTarget,
  tokens: ServiceAccountTokens,
): Promise<void> {
  if (exchange.method !== 'POST') throw methodNotAllowed()
  const body = await readBody(exchange.request)
  const given = parseBody(body, contentType(exchange.request), kind) ?? {}
  if (!isJsonObject(given)) {
    throw badRequest(`the object provided is unrecognized (must be of type ${kind})`)
  }
  const spec = isJsonObject(given['spec']) ? given['spec'] : {}
  const wanted = spec['audiences']
  const isNamed = Array.isArray(wanted) && wanted.length > 0
  const audiences = isNamed ? wanted.map(String) : [audience]
  const { expirationSeconds = defaultSeconds } = spec
  const seconds = typeof expirationSeconds === 'number' ? expirationSeconds : 0
  const problem = durationProblem(seconds)
  if (problem !== undefined) throw invalid({ group, kind, name: '' }, [problem])
  const issued = tokens.issue({ namespace, name, audiences, expirationSeconds: seconds })
  if (issued === undefined) throw notFound({ group: '', resource: 'serviceaccounts', name })
  sendJson(exchange, 201, {
    kind,
    apiVersion: `${group}/v1`,
    metadata: { name, namespace, creationTimestamp: new Date().toISOString().replace(/\.\d+/, '') },
    spec: { audiences, expirationSeconds: seconds, boundObjectRef: null },
    status: issued,
  })
}

function durationProblem(seconds: number): FieldProblem | undefined {
  const bound =
    seconds < leastSeconds
      ? 'less than 10 minutes'
      : seconds > mostSeconds
        ? 'larger than 2^32 seconds'
        : undefined
  return bound === undefined
    ? undefined
    : invalidAt('spec.expirationSeconds', seconds, `may not specify a duration ${bound}`)
}
