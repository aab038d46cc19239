import { isJsonObject } from '../../../lib/json.ts'
import { type Review, type ReviewContext, reviews } from '../../access/reviews.ts'
import { type FieldProblem, invalidAt } from '../../api/field-problem.ts'
import { badRequest, invalid, methodNotAllowed, notFound } from '../../api/status-refusal.ts'
import { contentType, parseBody, readBody } from '../request-body.ts'
import { type Exchange, type RequestTarget, sendJson } from '../exchange.ts'
import { audience, type ServiceAccountTokens } from '../../access/authentication.ts'

/** The review at a path. */
export function reviewAt({ group, version, resource, name }: RequestTarget): Review | undefined {
  const key = `${group}/${resource}`
  const isReview = version === 'v1' && name === '' && Object.hasOwn(reviews, key)
  return isReview ? reviews[key] : undefined
}

/** Answers an authentication or authorization review. Stores nothing. Throws refusals. */
export async function serveReview(
  exchange: Exchange,
  { kind, group, answer }: Review,
  context: ReviewContext,
): Promise<void> {
  if (exchange.method !== 'POST') throw methodNotAllowed()
  const body = await readBody(exchange.request)
  const given = parseBody(body, contentType(exchange.request), kind) ?? {}
  const apiVersion = `${group}/v1`
  const isOther = (name: string, wanted: string): boolean =>
    isJsonObject(given) && given[name] !== undefined && given[name] !== wanted
  if (!isJsonObject(given) || isOther('kind', kind) || isOther('apiVersion', apiVersion)) {
    throw badRequest(`the object provided is unrecognized (must be of type ${kind})`)
  }
  const spec = isJsonObject(given['spec']) ? given['spec'] : {}
  const metadata = isJsonObject(given['metadata']) ? given['metadata'] : {}
  const { status, spec: shown = spec } = answer(spec, context)
  sendJson(exchange, 201, { kind, apiVersion, metadata, spec: shown, status })
}

const tokenKind = 'TokenRequest'
const authenticationGroup = 'authentication.k8s.io'
const leastSeconds = 600
const mostSeconds = 2 ** 32
const defaultSeconds = 3_600

/** Whether a path is the `token` subresource of a ServiceAccount. */
export function isTokenRequest({ group: of, resource, subresource }: RequestTarget): boolean {
  return of === '' && resource === 'serviceaccounts' && subresource === 'token'
}

/** Issues a token for a ServiceAccount, as the subresource `token` does. Throws refusals. */
export async function serveTokenRequest(
  exchange: Exchange,
  { namespace, name }: RequestTarget,
  tokens: ServiceAccountTokens,
): Promise<void> {
  if (exchange.method !== 'POST') throw methodNotAllowed()
  const body = await readBody(exchange.request)
  const given = parseBody(body, contentType(exchange.request), tokenKind) ?? {}
  if (!isJsonObject(given)) {
    throw badRequest(`the object provided is unrecognized (must be of type ${tokenKind})`)
  }
  const spec = isJsonObject(given['spec']) ? given['spec'] : {}
  const wanted = spec['audiences']
  const isNamed = Array.isArray(wanted) && wanted.length > 0
  const audiences = isNamed ? wanted.map(String) : [audience]
  const { expirationSeconds = defaultSeconds } = spec
  const seconds = typeof expirationSeconds === 'number' ? expirationSeconds : 0
  const problem = durationProblem(seconds)
  if (problem !== undefined)
    throw invalid({ group: authenticationGroup, kind: tokenKind, name: '' }, [problem])
  const issued = tokens.issue({ namespace, name, audiences, expirationSeconds: seconds })
  if (issued === undefined) throw notFound({ group: '', resource: 'serviceaccounts', name })
  sendJson(exchange, 201, {
    kind: tokenKind,
    apiVersion: `${authenticationGroup}/v1`,
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
