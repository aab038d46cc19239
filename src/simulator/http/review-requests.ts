import { groupResourceOf } from '../../kubernetes/api-resource.ts'
import { type Fields, fieldsOf } from '../../kubernetes/fields.ts'
import { type ReviewContext, reviews } from '../access/reviews.ts'
import { badRequest, methodNotAllowed } from '../api/status-refusal.ts'
import { type Exchange, type RequestTarget, sendJson } from './exchange.ts'
import { readFields } from './request-body.ts'

/** Answers an authentication or authorization review. Stores nothing. Returns `false` for other paths. Throws refusals. */
export async function serveReview(
  exchange: Exchange,
  { group, version, resource, name, namespace }: RequestTarget,
  context: Omit<ReviewContext, 'namespace'>,
): Promise<boolean> {
  const key = groupResourceOf({ group, resource })
  const review = Object.hasOwn(reviews, key) ? reviews[key] : undefined
  if (review === undefined || version !== 'v1' || name !== '') return false
  if (exchange.method !== 'POST') throw methodNotAllowed()
  const types = { kind: review.kind, apiVersion: `${group}/v1` }
  const given = { ...types, ...(await readFields(exchange.request, review.kind)) }
  if (given.kind !== types.kind || given.apiVersion !== types.apiVersion) {
    throw badRequest(`the object provided is unrecognized (must be of type ${review.kind})`)
  }
  const { metadata, spec } = given as Fields
  const answer = review.answer(fieldsOf(spec), { ...context, namespace })
  sendJson(exchange, 201, {
    ...types,
    metadata: fieldsOf(metadata),
    spec: fieldsOf(spec),
    ...answer,
  })
  return true
}
