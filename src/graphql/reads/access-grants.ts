/*
 * `accessGrants`: what RBAC grants, read from the four kinds of its objects. A grant is a subject of a binding, with a
 * rule of the role that the binding names. The subject, or the roles with a rule that grants what is asked for, lead to the
 * bindings by their indexes, so that few of them are decoded. The viewer gets grants whose binding and role they may
 * both list. A binding whose role they may not list names it in `unseenRoles`. Each cluster is read by itself: a name in
 * one has no rights in another. This answers nothing about the viewer: what they may do, the API server decides
 * (`permissions.ts`).
 */

import type { ObjectId } from '../../informer/store/store-view.ts'
import { objectKey, splitObjectKey, type Unstructured } from '../../kubernetes/object.ts'
import {
  allowsResource,
  groupsOf,
  rbacGroup,
  type RbacSubject,
  subjectsBound,
  userSubject,
} from '../../kubernetes/rbac.ts'
import type { PolicyRule } from '../../kubernetes/wire/rbac-v1.ts'
import { isInScope } from '../../query/condition/scope.ts'
import { examinedPerDecoded } from '../../query/condition/work-budget.ts'
import { listHash, positionIn } from '../../query/page/cursor.ts'
import { pageAfter, pageSizeOf } from '../../query/page/page.ts'
import { ClientError } from '../errors/client-error.ts'
import {
  clustersNamed,
  type FoundObject,
  isOverClusters,
  type KindView,
} from '../prepare/kind-view.ts'
import type {
  AccessGrant,
  AccessGrantsArguments,
  AccessRule,
  AccessSubject,
} from '../schema/gateway-types.ts'
import { ObjectRef } from '../schema/object-ref.ts'
import type { RelatedNeed } from '../served/schema-relations.ts'
import type { ServedSchema } from '../served/served-schema.ts'
import { refOf } from './object-read.ts'
import { rowMembers } from './over-kinds/kinds-connection.ts'
import { checkedVerb, resourceOf } from './permissions.ts'
import { Places } from './places.ts'
import type { ReadRun } from './read-run.ts'

const bindings = ['RoleBinding', 'ClusterRoleBinding']
const rbacKinds = ['Role', 'ClusterRole', ...bindings]
const bindingIndexes = { needed: ['roleName', 'subjectName'] }

/** The kinds of RBAC, with the indexes that `accessGrants` reads. */
export function accessNeeds({ kindOf }: ServedSchema): readonly RelatedNeed[] {
  return rbacKinds.flatMap((name) => {
    const kind = kindOf(rbacGroup, name)
    if (kind === undefined || kind.uncached) return []
    return [{ kind, indexes: bindings.includes(name) ? bindingIndexes : {} }]
  })
}

/** What the arguments ask for. An absent member is not asked about. */
interface Asked {
  readonly verb: string | undefined
  readonly at:
    | { readonly group: string; readonly resource: string; readonly subresource: string }
    | undefined
  readonly name: string | undefined
  readonly namespace: string | undefined
  /** Whether only ClusterRoleBindings grant it. */
  readonly isOfCluster: boolean
  /** The subject itself and its groups; `undefined` for any subject. */
  readonly subjects: readonly RbacSubject[] | undefined
  /** Their keys, and the names under which bindings have them. */
  readonly wanted: ReadonlySet<string> | undefined
  readonly subjectNames: readonly string[]
}

interface Grant {
  readonly cluster: string
  readonly key: string
  readonly subject: RbacSubject
  readonly namespace: string
  readonly binding: FoundObject
  readonly role: FoundObject
  readonly rule: PolicyRule
}

/** The rules of a role that grant what is asked for. */
interface GrantingRole {
  readonly role: FoundObject
  readonly rules: readonly { readonly rule: PolicyRule; readonly at: number }[]
}

/** Reading a rule, or sorting a grant, takes as long as so many tests. */
const testsPerRule = 4
export const maxUnseenRoles = 100

/** Grants are in the order of their keys. */
const order = { terms: [], backwards: false }
const positionOf = ({ key }: Grant) => ({ values: [], key })

/** A page of grants. Throws `ArgumentError`, `ClientError` and `QueryTooCostlyError`. */
export function readAccessGrants(run: ReadRun, args: AccessGrantsArguments): object {
  const { served, budget, limits } = run
  const clusters = clustersNamed(served, args)
  const isOver = isOverClusters(args)
  const asked = askedOf(run, args)
  const { size } = pageSizeOf({ first: args.first }, limits.maxPageSize)
  const { first: _first, after, cluster: _cluster, ...selects } = args
  const hash = listHash(
    { list: `${isOver ? '*' : clusters.join()}/accessGrants`, ...selects },
    budget,
  )
  const from = positionIn(after, { hash, argument: 'after', terms: 0 })
  const { places, refusals } = rbacPlaces(run, clusters, isOver, asked)
  const [refusal] = refusals
  if (refusal !== undefined && !isOver) throw refusal
  const read = places.read()
  const partsOf = Map.groupBy(read.parts, (part) => part.cluster)
  const found = clusters.map((cluster) => {
    return { cluster, ...grantsIn(run, cluster, partsOf.get(cluster) ?? [], asked) }
  })
  const grants = found.flatMap((one) => one.grants)
  budget.spend('tests', testsPerRule * grants.length)
  const page = pageAfter({ rows: grants, positionOf, order, from, size, hash, budget })
  return {
    ...read,
    failures: [...read.failures, ...refusals],
    ...rowMembers(run, page, grantValue),
    unseenRoles: () =>
      found
        .flatMap(({ cluster, unseen }) => [...unseen].toSorted().map((key) => ({ cluster, key })))
        .slice(0, maxUnseenRoles)
        .map(({ cluster, key }) => roleRef(served, cluster, key)),
    notes: () => notesOf(asked, args),
  }
}

function askedOf(run: ReadRun, args: AccessGrantsArguments): Asked {
  const { type, resource, subresource, name, namespace, verb, subject } = args
  const of = type ?? resource ?? undefined
  const narrowed = (name ?? undefined) === undefined ? 'subresource' : 'name'
  if (of === undefined && (args[narrowed] ?? undefined) !== undefined) {
    throw new ClientError('BAD_USER_INPUT', `${narrowed}: give type or resource as well`, {
      argument: narrowed,
      value: args[narrowed],
      hint: 'type: "Deployment", or resource: "deployments.apps"',
    })
  }
  const at = of === undefined ? undefined : resourceOf(run, args)
  const isNamespace = at?.group === '' && at.resource === 'namespaces'
  const known = [...run.served.kinds.values()].find(
    (kind) => kind.resource.group === at?.group && kind.resource.resource === at.resource,
  )
  const subjects = subject === undefined || subject === null ? undefined : subjectsAsked(subject)
  return {
    verb: verb === undefined || verb === null ? undefined : checkedVerb({ verb }),
    at: at && { group: at.group, resource: at.resource, subresource: subresource ?? '' },
    name: name ?? undefined,
    // A Role in a Namespace may grant access to the Namespace itself.
    namespace: (isNamespace ? (name ?? namespace) : namespace) ?? undefined,
    isOfCluster: known?.resource.namespaced === false && !isNamespace,
    subjects,
    wanted: subjects && new Set(subjects.map(subjectKey)),
    subjectNames: namesOfSubjects(subjects ?? []),
  }
}

const group = (name: string): RbacSubject => ({ kind: 'Group', namespace: '', name })

function subjectsAsked({
  kind,
  name,
  namespace,
  groups,
}: NonNullable<AccessGrantsArguments['subject']>): readonly RbacSubject[] {
  let subject = kind === 'USER' ? userSubject(name) : group(name)
  if (kind === 'SERVICE_ACCOUNT') {
    if (namespace === undefined || namespace === null || namespace === '') {
      const message = 'subject: a ServiceAccount has a namespace'
      const hint = 'subject: { kind: SERVICE_ACCOUNT, namespace: "default", name: "builder" }'
      throw new ClientError('BAD_USER_INPUT', message, { argument: 'subject.namespace', hint })
    }
    subject = { kind: 'ServiceAccount', namespace, name }
  }
  return [subject, ...[...groupsOf(subject), ...(groups ?? [])].map(group)]
}

/** The names under which bindings have the subjects, each once. */
function namesOfSubjects(subjects: readonly RbacSubject[]): readonly string[] {
  const users = subjects.flatMap((one) =>
    one.kind === 'ServiceAccount' ? `system:serviceaccount:${one.namespace}:${one.name}` : [],
  )
  return [...new Set([...users, ...subjects.map(({ name }) => name)])]
}

/**
 * The parts of the kinds of RBAC in each cluster. What the viewer may not list is a gap, and no error unless it is all of a
 * cluster: `refusals`.
 */
function rbacPlaces(
  run: ReadRun,
  clusters: readonly string[],
  isOver: boolean,
  { namespace, isOfCluster }: Asked,
): { readonly places: Places; readonly refusals: readonly ClientError[] } {
  const needs = accessNeeds(run.served)
  if (needs.length < rbacKinds.length) {
    const message = 'accessGrants: this gateway does not cache the kinds of RBAC'
    const hint = 'tell its operator to add them to the kinds that it serves'
    throw new ClientError('UNSUPPORTED', message, { hint })
  }
  const refusedIn = new Set<string>()
  const places = new Places(run, {
    failsOnce: true,
    fails({ cluster }, { code }) {
      if (code === 'FORBIDDEN') refusedIn.add(cluster)
      return code !== 'FORBIDDEN'
    },
  })
  for (const cluster of clusters) {
    for (const need of needs) {
      const { namespaced } = need.kind.resource
      if (namespaced && isOfCluster) continue
      places.add(
        { cluster, ...need, isOptional: isOver },
        (part) => part,
        () => (namespaced && namespace !== undefined ? [namespace] : undefined),
      )
    }
  }
  for (const { cluster } of places.parts) refusedIn.delete(cluster)
  const hint = 'ask for the right to list roles, rolebindings, clusterroles and clusterrolebindings'
  const refusals = Array.from(refusedIn, (cluster) => {
    const message = `you may list no objects of RBAC in cluster ${cluster}`
    return new ClientError('FORBIDDEN', message, { cluster, hint })
  })
  return { places, refusals }
}

/** All grants of the parts of a cluster, in no order, and the keys of the roles that the viewer may not see. */
function grantsIn(
  run: ReadRun,
  cluster: string,
  parts: readonly KindView[],
  asked: Asked,
): { readonly grants: readonly Grant[]; readonly unseen: ReadonlySet<string> } {
  const { budget } = run
  const partOf = (kind: string): KindView | undefined =>
    parts.find((part) => part.kind.resource.kind === kind)
  const decoded = ({ view }: KindView, id: ObjectId): Unstructured => {
    budget.spend('examined', examinedPerDecoded)
    return view.object(id) as Unstructured
  }
  const known = new Map<string, GrantingRole | 'unseen' | undefined>()
  const granting = (kind: string, key: string): GrantingRole | 'unseen' | undefined => {
    const name = `${kind} ${key}`
    if (!known.has(name)) {
      const part = partOf(kind)
      if (part === undefined || !isInScope(part.scope, key)) known.set(name, 'unseen')
      else {
        const id = part.view.idOf(key)
        const rules = id === undefined ? [] : rulesOf(decoded(part, id))
        budget.spend('tests', testsPerRule * rules.length)
        const found = rules.flatMap((rule, at) => (allowsResource(rule, asked) ? { rule, at } : []))
        const isNone = id === undefined || found.length === 0
        known.set(name, isNone ? undefined : { role: { part, id }, rules: found })
      }
    }
    return known.get(name)
  }
  const names = asked.subjects === undefined ? roleNames(run, parts, asked, granting) : undefined
  const { wanted } = asked
  const unseen = new Set<string>()
  const grants: Grant[] = []
  for (const part of parts) {
    const { kind, view, scope } = part
    if (!bindings.includes(kind.resource.kind)) continue
    const isOfCluster = !kind.resource.namespaced
    budget.spend('tests', asked.subjectNames.length)
    for (const id of bindingIds(part, asked, names)) {
      budget.spend('examined', 1)
      const key = view.keyOf(id)
      const { namespace } = splitObjectKey(key)
      const isElsewhere =
        !isOfCluster && asked.namespace !== undefined && namespace !== asked.namespace
      if (isElsewhere || !isInScope(scope, key)) continue
      const { subjects: given, roleRef: ref } = decoded(part, id) as Unstructured & Binding
      const subjects = new Map(subjectsBound(given, namespace).map((one) => [subjectKey(one), one]))
      budget.spend('tests', subjects.size)
      const bound = [...subjects].filter(([name]) => wanted?.has(name) !== false)
      if (bound.length === 0 || ref?.name === undefined) continue
      const roleKey = objectKey({
        namespace: ref.kind === 'Role' ? namespace : '',
        name: ref.name,
      })
      const role = granting(ref.kind === 'Role' ? 'Role' : 'ClusterRole', roleKey)
      if (role === 'unseen') unseen.add(roleKey)
      if (role === undefined || role === 'unseen') continue
      for (const { rule, at } of role.rules) {
        if (!isOfCluster && !isEffective(rule, asked, namespace)) continue
        budget.spend('tests', testsPerRule * bound.length)
        for (const [name, subject] of bound) {
          const place = `${isOfCluster ? 0 : 1}\n${key}\n${String(at).padStart(6, '0')}`
          const binding = { part, id }
          grants.push({
            cluster,
            key: `${name}\n${cluster}\n${place}`,
            subject,
            namespace,
            binding,
            role: role.role,
            rule,
          })
        }
      }
    }
  }
  return { grants, unseen }
}

interface Binding {
  readonly subjects?: unknown
  readonly roleRef?: { readonly kind?: string; readonly name?: string }
}

function rulesOf(role: Unstructured): readonly PolicyRule[] {
  const { rules } = role as Unstructured & { readonly rules?: readonly PolicyRule[] | null }
  return rules ?? []
}

/** Whether a rule grants anything by a RoleBinding: no paths, and of Namespaces only the one that it is in. */
function isEffective(rule: PolicyRule, { at }: Asked, namespace: string): boolean {
  if (rule.nonResourceURLs !== undefined) return false
  const { resourceNames = [] } = rule
  const isNamespace = at?.group === '' && at.resource === 'namespaces'
  return !isNamespace || resourceNames.length === 0 || resourceNames.includes(namespace)
}

/** The names of the roles that grant what is asked for; `undefined` if the viewer may not see all roles. */
function roleNames(
  run: ReadRun,
  parts: readonly KindView[],
  asked: Asked,
  granting: (kind: string, key: string) => unknown,
): ReadonlySet<string> | undefined {
  const names = new Set<string>()
  for (const kind of asked.isOfCluster ? ['ClusterRole'] : ['Role', 'ClusterRole']) {
    const part = parts.find((one) => one.kind.resource.kind === kind)
    if (part === undefined) return undefined
    const { view, scope } = part
    const within = kind === 'Role' ? asked.namespace : undefined
    if (scope.form !== 'all' && (within === undefined || !isInScope(scope, `${within}/`))) {
      return undefined
    }
    for (const id of idsIn(part, within)) {
      run.budget.spend('examined', 1)
      const key = view.keyOf(id)
      if (granting(kind, key) !== undefined) names.add(splitObjectKey(key).name)
    }
  }
  return names
}

function idsIn({ view }: KindView, namespace: string | undefined): Iterable<ObjectId> {
  return namespace === undefined ? view.ids() : (view.index('namespace').posting(namespace) ?? [])
}

/** The bindings that may grant what is asked for. `names`: of the roles that do. */
function bindingIds(
  part: KindView,
  { subjects, subjectNames, namespace }: Asked,
  names: ReadonlySet<string> | undefined,
): Iterable<ObjectId> {
  const { view, kind } = part
  const isNamed = (index: string, values: Iterable<string>): Iterable<ObjectId> =>
    new Set([...values].flatMap((value) => [...(view.index(index).posting(value) ?? [])]))
  if (subjects !== undefined) return isNamed('subjectName', subjectNames)
  if (names !== undefined) return isNamed('roleName', names)
  return idsIn(part, kind.resource.namespaced ? namespace : undefined)
}

const ranks = { User: 0, Group: 1, ServiceAccount: 2 } as const

function subjectKey({ kind, namespace, name }: RbacSubject): string {
  return `${ranks[kind]}\n${namespace}\n${name}`
}

const subjectKinds = { User: 'USER', Group: 'GROUP', ServiceAccount: 'SERVICE_ACCOUNT' } as const

function grantValue({ cluster, subject, namespace, binding, role, rule }: Grant): AccessGrant {
  return {
    cluster,
    subject: subjectValue(cluster, subject),
    namespace: namespace === '' ? null : namespace,
    binding: refOf(binding),
    role: refOf(role),
    rule: ruleValue(rule),
  }
}

function subjectValue(cluster: string, { kind, namespace, name }: RbacSubject): AccessSubject {
  const isAccount = kind === 'ServiceAccount'
  return {
    kind: subjectKinds[kind],
    namespace: isAccount ? namespace : null,
    name,
    serviceAccount: isAccount
      ? new ObjectRef({ cluster, group: '', apiVersion: 'v1', kind, namespace, name, uid: null })
      : null,
  }
}

function ruleValue(rule: PolicyRule): AccessRule {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  return { verbs, apiGroups, resources, resourceNames, nonResourceURLs }
}

function roleRef({ kindOf }: ServedSchema, cluster: string, key: string): ObjectRef {
  const { namespace, name } = splitObjectKey(key)
  const kind = namespace === '' ? 'ClusterRole' : 'Role'
  return new ObjectRef({
    cluster,
    group: rbacGroup,
    apiVersion: kindOf(rbacGroup, kind)?.apiVersion ?? null,
    kind,
    namespace: namespace === '' ? null : namespace,
    name,
    uid: null,
  })
}

function notesOf({ subjects }: Asked, { subject }: AccessGrantsArguments): readonly string[] {
  const [asked] = subjects ?? []
  const isNode =
    subjects?.some(({ kind, name }) => kind === 'Group' && name === 'system:nodes') === true ||
    (asked?.kind === 'User' && asked.name.startsWith('system:node:'))
  const isGroupOpen = asked?.kind === 'User' && (subject?.groups ?? []).length === 0
  return [
    'Members of the group system:masters may do everything, whatever RBAC says.',
    'Other authorizers of the API server, such as webhooks, may allow more. RBAC does not know them.',
    ...(isNode ? ['The Node authorizer also allows nodes what their pods need.'] : []),
    ...(isGroupOpen
      ? [`Kubernetes does not know the groups of ${asked.name}: name them in subject.groups.`]
      : []),
  ]
}
