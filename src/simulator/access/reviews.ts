/*
 * The kinds that clients only create: questions about tokens and access. Each is answered in its status, and nothing is
 * stored.
 */

import { type Fields, fieldsOf } from '../../kubernetes/fields.ts'
import { isJsonObject } from '../../lib/json.ts'
import type { PolicyRule } from '../../kubernetes/wire/rbac-v1.ts'
import { badRequest, type FieldProblem, invalidAt, refuseInvalid } from '../api/status-refusal.ts'
import { audience, type Authentication, type Identity } from './authentication.ts'
import type { AccessAttributes, Authorizer } from './authorization.ts'

export interface ReviewContext {
  readonly authentication: Authentication
  readonly authorizer: Authorizer
  /** The user who sends the review. */
  readonly identity: Identity
  /** The namespace of the path; `''` if the path has none. */
  readonly namespace: string
}

/** A kind that clients only create: a question, answered in its status. */
export interface Review {
  readonly kind: string
  readonly answer: (
    spec: Fields,
    context: ReviewContext,
  ) => { readonly status: object; readonly spec?: object }
}

/** The reviews, by `resource.group`. */
export const reviews: Readonly<Record<string, Review>> = {
  'tokenreviews.authentication.k8s.io': {
    kind: 'TokenReview',
    answer: (spec, { authentication }) => {
      const token = textOf(spec['token'])
      if (token === '') throw badRequest('token is required for TokenReview in authentication')
      const asked = listOf(spec['audiences'])
      const wanted = asked.length === 0 ? [audience] : asked
      const found = authentication.find(token)
      const audiences = wanted.filter((one) => found?.audiences.includes(one))
      if (found === undefined || audiences.length === 0) {
        return { status: { user: {}, error: 'invalid bearer token' } }
      }
      return { status: { authenticated: true, user: userInfo(found.identity), audiences } }
    },
  },
  'selfsubjectreviews.authentication.k8s.io': {
    kind: 'SelfSubjectReview',
    answer: (_, { identity }) => ({ status: { userInfo: userInfo(identity) } }),
  },
  'subjectaccessreviews.authorization.k8s.io': {
    kind: 'SubjectAccessReview',
    answer: reviewSubject,
  },
  'localsubjectaccessreviews.authorization.k8s.io': {
    kind: 'LocalSubjectAccessReview',
    answer: reviewSubject,
  },
  'selfsubjectaccessreviews.authorization.k8s.io': {
    kind: 'SelfSubjectAccessReview',
    answer: (spec, context) => reviewAccess(spec, context.identity, context),
  },
  'selfsubjectrulesreviews.authorization.k8s.io': {
    kind: 'SelfSubjectRulesReview',
    answer: (spec, { authorizer, identity }) => {
      const namespace = textOf(spec['namespace'])
      if (namespace === '') throw badRequest('no namespace on request')
      const rules = authorizer.rules(identity, namespace)
      const resourceRules = rules.filter((rule) => !isOfPaths(rule))
      const status = { resourceRules, nonResourceRules: rules.filter(isOfPaths), incomplete: false }
      return { spec: {}, status }
    },
  },
}

function userInfo({ name, uid, groups, extra }: Identity): object {
  return {
    username: name,
    ...(uid === '' ? {} : { uid }),
    groups,
    ...(extra === undefined ? {} : { extra }),
  }
}

/** Reviews the access of the subject that the review names. */
function reviewSubject(spec: Fields, context: ReviewContext): { readonly status: object } {
  const [name, groups] = [textOf(spec['user']), listOf(spec['groups'])]
  return reviewAccess(spec, { name, uid: textOf(spec['uid']), groups }, context)
}

function reviewAccess(
  spec: Fields,
  subject: Identity,
  { authorizer, namespace }: ReviewContext,
): { readonly status: object } {
  const { resourceAttributes: resource, nonResourceAttributes: path } = spec
  const problems: FieldProblem[] = []
  const add = (field: string, value: unknown, message: string): void => {
    problems.push(invalidAt(field, value, message))
  }
  if (isJsonObject(resource) && isJsonObject(path)) {
    const message = 'cannot be specified in combination with resourceAttributes'
    add('spec.nonResourceAttributes', path, message)
  } else if (!isJsonObject(resource) && !isJsonObject(path)) {
    const message = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
    add('spec.resourceAttributes', null, message)
  }
  if (subject.name === '' && subject.groups.length === 0) {
    add('spec.user', '', 'at least one of user or group must be specified')
  }
  const asked = isJsonObject(resource) ? textOf(resource['namespace']) : ''
  if (namespace !== '' && asked !== namespace) {
    add('spec.resourceAttributes.namespace', asked, 'must match metadata.namespace')
  }
  refuseInvalid({ group: 'authorization.k8s.io', kind: '', name: '' }, problems)
  const fields = fieldsOf(resource ?? path)
  const text = (name: string): string => textOf(fields[name])
  const attributes: AccessAttributes = isJsonObject(resource)
    ? {
        kind: 'resource',
        verb: text('verb'),
        group: text('group'),
        resource: text('resource'),
        subresource: text('subresource'),
        namespace: text('namespace'),
        name: text('name'),
      }
    : { kind: 'path', verb: text('verb'), path: text('path') }
  const { allowed, reason } = authorizer.decide(subject, attributes)
  return { status: { allowed, ...(reason === '' ? {} : { reason }) } }
}

const isOfPaths = ({ nonResourceURLs }: PolicyRule): boolean => nonResourceURLs !== undefined

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const listOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
