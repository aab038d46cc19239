import { isJsonObject } from '../../../lib/json.ts'
import { type Review, type ReviewContext, reviews } from '../../access/reviews.ts'
import { badRequest, methodNotAllowed } from '../../api/status-refusal.ts'
import type { RequestTarget } from '../request-target.ts'
import { contentType, parseBody, readBody } from '../request-body.ts'
import { type Exchange, sendJson } from '../simulated-exchange.ts'

/** The review that a path is about. */
export function reviewAt({ group, version, resource, name }: RequestTarget): Review | undefined {
  const key = `${group}/${resource}`
  const isReview = version === 'v1' && name === '' && Object.hasOwn(reviews, key)
  return isReview ? reviews[key] : undefined
}

/** Answers a question about who somebody is, or what they may do. Nothing is stored. Throws refusals. */
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
