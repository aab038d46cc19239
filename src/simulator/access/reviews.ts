/*
 * The kinds that clients only create: questions about tokens and access. Each is answered in its status, and nothing is
 * stored.
 */

import { type Fields, fieldsOf, textsOf } from '../../kubernetes/fields.ts'
import { isJsonObject } from '../../lib/json.ts'
import type { PolicyRule } from '../../kubernetes/wire/rbac-v1.ts'
import { badRequest, invalidAt, refuseInvalid } from '../api/status-refusal.ts'
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
      const asked = textsOf(spec['audiences'])
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
  const [name, groups] = [textOf(spec['user']), textsOf(spec['groups'])]
  return reviewAccess(spec, { name, uid: textOf(spec['uid']), groups }, context)
}

function reviewAccess(
  spec: Fields,
  subject: Identity,
  { authorizer, namespace }: ReviewContext,
): { readonly status: object } {
  const { resourceAttributes: resource, nonResourceAttributes: path } = spec
  const isOfResource = isJsonObject(resource)
  const asked = isOfResource ? textOf(resource['namespace']) : ''
  refuseInvalid({ group: 'authorization.k8s.io', kind: '', name: '' }, [
    isOfResource &&
      isJsonObject(path) &&
      invalidAt('spec.nonResourceAttributes', path, 'cannot be set with resourceAttributes'),
    !isOfResource &&
      !isJsonObject(path) &&
      invalidAt('spec.resourceAttributes', null, 'must be set, or nonResourceAttributes'),
    subject.name === '' &&
      subject.groups.length === 0 &&
      invalidAt('spec.user', '', 'at least one of user or group must be specified'),
    namespace !== '' &&
      asked !== namespace &&
      invalidAt('spec.resourceAttributes.namespace', asked, 'must match metadata.namespace'),
  ])
  const fields = fieldsOf(resource ?? path)
  const text = (name: string): string => textOf(fields[name])
  const attributes: AccessAttributes = isOfResource
    ? {
        verb: text('verb'),
        group: text('group'),
        resource: text('resource'),
        subresource: text('subresource'),
        namespace: text('namespace'),
        name: text('name'),
      }
    : { verb: text('verb'), path: text('path') }
  const { allowed, reason } = authorizer.decide(subject, attributes)
  return { status: { allowed, ...(reason === '' ? {} : { reason }) } }
}

const isOfPaths = ({ nonResourceURLs }: PolicyRule): boolean => nonResourceURLs !== undefined

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
