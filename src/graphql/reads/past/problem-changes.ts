/*
 * `Problem.changesBefore`: what changed in the half hour before a problem began. For each problem of the page: the objects that
 * have it, their owners, and what their pods use: ConfigMaps, Secrets, claims and the Node, also if they are gone. All problems
 * of a page are one question to the archive. Of the answer, the change that explains the problem comes first: one of the fields
 * that its reason is about, else of the pod template, else of what the pods use.
 */

import type { ArchivedChange, ArchivePart } from '../../../archive/archive-calls.ts'
import { splitApiVersion } from '../../../kubernetes/api-resource.ts'
import { escaped } from '../../../kubernetes/field-changes.ts'
import { type Fields, fieldsOf, specOf, textOf } from '../../../kubernetes/fields.ts'
import { objectKey, splitObjectKey } from '../../../kubernetes/object.ts'
import { neededObjects } from '../../../kubernetes/problems/problem-references.ts'
import { getOrInsert } from '../../../lib/get-or-insert.ts'
import { isInScope } from '../../../query/condition/scope.ts'
import { examinedPerDecoded } from '../../../query/condition/work-budget.ts'
import { pageSizeOf } from '../../../query/page/page.ts'
import type { ListedProblem } from '../../../query/problems/problem-page.ts'
import type { ProblemPart } from '../../../query/problems/problem-part.ts'
import { unlessRefused } from '../../errors/client-error.ts'
import type { FoundObject, KindView } from '../../prepare/kind-view.ts'
import type { ChangeValue } from '../../schema/gateway-types.ts'
import { archiveOf, type SearchedChanges } from '../direct/archive-reads.ts'
import { kindOfIdentity } from '../object-read.ts'
import { ownerReferencesOf } from '../relation-read.ts'
import type { ReadRun } from '../read-run.ts'
import { isAtOrWithin } from './change-filter.ts'
import { changeValues } from './past-changes.ts'
import { listable } from './past-places.ts'

type ChangedProblem = ListedProblem<ProblemPart & KindView>

const beforeMs = 30 * 60_000
/** The API server writes whole seconds, and the gateway sees a change up to a second late. */
const lateMs = 2_000
/** The most objects of a problem whose owners and uses are read: those of one workload have the same ones. */
const maxObjects = 5
const maxOwners = 8
/** The most changes of a problem that are compared. */
const maxChanges = 200

/** `page`: the problems that are read together with this one. `undefined` while something is lacking. */
export function changesBefore(
  run: ReadRun,
  problem: ChangedProblem,
  page: readonly ChangedProblem[],
  first: number | null,
): readonly ChangeValue[] | undefined {
  const { size } = pageSizeOf({ first }, run.limits.maxPageSize)
  const { direct } = run
  // Before it looks for what may have changed.
  archiveOf(run.served)
  const questions = questionsOf(run, page)
  const asked = [...questions.values()]
  if (run.parts.isLacking) return undefined
  const own = questions.get(problem)
  const answers = asked.length === 0 ? [] : direct.archive('changesOfEach', asked)
  if (answers === undefined) return undefined
  const answer = own && answers[asked.indexOf(own)]
  return changeValues(run, explained(problem, answer?.changes ?? []).slice(0, size))
}

const known = new WeakMap<
  ReadRun,
  WeakMap<readonly ChangedProblem[], ReadonlyMap<ChangedProblem, SearchedChanges>>
>()

/** The question about each problem of a page, once a run. */
function questionsOf(
  run: ReadRun,
  page: readonly ChangedProblem[],
): ReadonlyMap<ChangedProblem, SearchedChanges> {
  const ofRun = getOrInsert(known, run, () => new WeakMap())
  return getOrInsert(ofRun, page, () => {
    const all = page.flatMap((problem) => {
      const parts = problem.isOfCluster === true ? [] : partsOf(run, problem)
      return parts.length === 0 ? [] : [[problem, questionOf(problem, parts)] as const]
    })
    return new Map(all)
  })
}

function questionOf({ sinceMs }: ChangedProblem, parts: readonly ArchivePart[]): SearchedChanges {
  const begin = sinceMs ?? Math.floor(Date.now() / lateMs) * lateMs
  return {
    parts,
    sinceMs: begin - beforeMs,
    untilMs: begin + lateMs,
    limit: maxChanges,
  }
}

/** The objects of a problem, their owners, and what their pods use, as far as the caller may list them. */
function partsOf(run: ReadRun, problem: ChangedProblem): readonly ArchivePart[] {
  const { cluster, root, objects } = problem
  const found = new Map<string, ArchivePart & { readonly keys: string[] }>()
  const add = (group: string, kind: string, key: string): void => {
    const at = kindOfIdentity(run.served, { cluster, group, kind })
    if (at === undefined || !isListable(run, at, key)) return
    const { resource } = at.kind.resource
    const name = `${group}/${resource}`
    const part = found.get(name) ?? { cluster, group, resource, keys: [] }
    if (!part.keys.includes(key)) part.keys.push(key)
    found.set(name, part)
  }
  for (const place of [root, ...objects.slice(0, maxObjects)]) {
    if (place.form === 'reference') {
      const { apiVersion = '', kind, name, namespace = place.namespace } = place.to
      add(splitApiVersion(apiVersion).group, kind, objectKey({ namespace, name }))
      continue
    }
    const { part, id } = place
    const { group, kind } = part.kind.resource
    const key = part.view.keyOf(id)
    add(group, kind, key)
    addOwners(run, { part, id }, add)
    run.budget.spend('examined', examinedPerDecoded)
    const spec = podSpecOf(part.view.object(id) as unknown as Fields)
    const { namespace } = splitObjectKey(key)
    for (const { to, key: needed } of neededObjects(namespace, spec)) {
      const [ofGroup = '', ofKind = ''] = to.split('/')
      add(ofGroup, ofKind, needed)
    }
    const node = textOf(spec['nodeName'])
    if (node !== undefined) add('', 'Node', node)
  }
  return [...found.values()]
}

/** Adds the owners of an object, and theirs. */
function addOwners(
  run: ReadRun,
  object: FoundObject,
  add: (group: string, kind: string, key: string) => void,
): void {
  const { cluster } = object.part
  let from: FoundObject | undefined = object
  for (let step = 0; step < maxOwners && from !== undefined; step += 1) {
    const { part, id }: FoundObject = from
    const owners = ownerReferencesOf(run, part, id)
    const owner = owners.find(({ controller }) => controller) ?? owners[0]
    if (owner === undefined) return
    const { group } = splitApiVersion(owner.apiVersion)
    const at = kindOfIdentity(run.served, { cluster, group, kind: owner.kind })
    if (at === undefined) return
    const { namespace } = splitObjectKey(part.view.keyOf(id))
    const key = objectKey(at.kind.resource.namespaced ? { namespace, name: owner.name } : owner)
    add(group, owner.kind, key)
    const view = run.served.clusters.get(cluster)?.synced(at.kind.resource)
    const next: number | undefined = view?.idOf(key)
    from =
      view === undefined || next === undefined
        ? undefined
        : { part: { ...part, ...at, view }, id: next }
  }
}

function isListable(run: ReadRun, at: Parameters<typeof listable>[1], key: string): boolean {
  const within = at.kind.resource.namespaced ? [splitObjectKey(key).namespace] : undefined
  const scope = unlessRefused(() => listable(run, at, within))
  return scope !== undefined && isInScope(scope, key)
}

/** The `spec` of a pod, or of the pods that a workload makes. */
function podSpecOf(object: Fields): Fields {
  const spec = specOf(object)
  const { template, jobTemplate } = spec
  if (jobTemplate !== undefined) return podSpecOf(fieldsOf(jobTemplate))
  return template === undefined ? spec : specOf(fieldsOf(template))
}

const containers = ['/containers/*', '/initContainers/*', '/ephemeralContainers/*']

function ofContainers(...fields: readonly string[]): readonly string[] {
  return containers.flatMap((container) => fields.map((field) => container + field))
}

/** What reasons are about: places in the `spec` of pods, and kinds. The first that fits counts. */
const explanations: readonly {
  readonly reason: RegExp
  readonly places: readonly string[]
  readonly kinds?: readonly string[]
}[] = [
  {
    reason: /Image/,
    places: [...ofContainers('/image', '/imagePullPolicy'), '/imagePullSecrets'],
  },
  {
    reason: /OOMKilled|Evicted/,
    places: ofContainers('/resources'),
  },
  {
    reason: /ConfigError|Missing/,
    places: [
      ...ofContainers('/env', '/envFrom', '/volumeMounts'),
      '/volumes',
      '/serviceAccountName',
    ],
    kinds: ['ConfigMap', 'Secret', 'ServiceAccount', 'PersistentVolumeClaim'],
  },
  {
    reason: /Mount|Volume|Claim/,
    places: [...ofContainers('/volumeMounts'), '/volumes'],
    kinds: ['PersistentVolumeClaim', 'ConfigMap', 'Secret', 'PersistentVolume'],
  },
  {
    reason: /[Ss]chedul|Insufficient/,
    places: [
      ...ofContainers('/resources'),
      '/nodeSelector',
      '/affinity',
      '/tolerations',
      '/topologySpreadConstraints',
    ],
    kinds: ['Node'],
  },
  { reason: /Node/, places: [], kinds: ['Node'] },
  {
    reason: /Unhealthy|NotReady|Probe/,
    places: ofContainers('/readinessProbe', '/livenessProbe', '/startupProbe', '/ports'),
  },
  {
    reason: /CrashLoop|Error|RunContainer|CannotRun|Completed/,
    places: ofContainers('/image', '/command', '/args', '/env', '/envFrom', '/livenessProbe'),
  },
]

const usedKinds: ReadonlySet<string> = new Set(['ConfigMap', 'Secret', 'PersistentVolumeClaim'])

/** The place of a field in the `spec` of pods; `undefined` for others. */
function podPlace(path: string): string | undefined {
  return /^\/spec(?:\/jobTemplate\/spec)?\/template\/spec(?<place>\/.*)?$/.exec(path)?.groups?.[
    'place'
  ]
}

const templatePath = /^\/spec(?:\/jobTemplate\/spec)?\/template(?:\/|$)/

const restartedAnnotation = 'kubectl.kubernetes.io/restartedAt'

/** Whether a field only restarts pods. A restart alone explains no problem. */
export function isRestart({ path, before, after }: ExplainingField): boolean {
  if (path.endsWith(`/annotations/${escaped(restartedAnnotation)}`)) return true
  const names = Object.keys({ ...fieldsOf(before), ...fieldsOf(after) })
  return path.endsWith('/annotations') && names.join() === restartedAnnotation
}

/** Whether a reason is about a field of a workload. */
function aboutReason(reason: string): {
  readonly isAbout: (path: string) => boolean
  readonly kinds: readonly string[]
} {
  const { places, kinds = [] } = explanations.find((one) => one.reason.test(reason)) ?? {
    places: [],
  }
  const isAbout = (path: string): boolean => {
    const place = podPlace(path)
    if (place === undefined) return false
    return places.some((at) => isAtOrWithin(place, at) || isAtOrWithin(at, place))
  }
  return { isAbout, kinds }
}

interface ExplainingField {
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
}

/**
 * The fields of a change, what explains a problem first: those that its reason is about, before all those that its message
 * names (`cpu`), and a restart last. `root`: where in the workload their paths begin.
 */
export function explainingFirst<T extends ExplainingField>(
  { reason, message = '' }: Pick<ChangedProblem, 'reason' | 'message'>,
  fields: readonly T[],
  root = '',
): readonly T[] {
  const { isAbout } = aboutReason(reason)
  const rank = (field: T): number => {
    if (isRestart(field)) return 3
    if (!isAbout(root + field.path)) return 2
    const name = field.path.slice(field.path.lastIndexOf('/') + 1).replaceAll('~1', '/')
    return name.length > 2 && message.includes(name) ? 0 : 1
  }
  return fields.toSorted((one, other) => rank(one) - rank(other))
}

/** How well a change explains a reason, the best first; `undefined`: not at all. */
function rankOf(reason: string, { kind, type, fields }: ArchivedChange): number | undefined {
  const { isAbout, kinds } = aboutReason(reason)
  const isOfStatus = type === 'MODIFIED' && fields.every(({ path }) => path.startsWith('/status'))
  if (type === 'MODIFIED' && fields.some(({ path }) => isAbout(path))) return 0
  if (kinds.includes(kind) && (!isOfStatus || kind === 'Node')) return 1
  const isOfTemplate = fields.some((field) => templatePath.test(field.path) && !isRestart(field))
  if (type === 'MODIFIED' && isOfTemplate) return 2
  return usedKinds.has(kind) && !isOfStatus ? 3 : undefined
}

/** The changes of a problem: the one that explains it, then the newest. */
function explained(
  problem: ChangedProblem,
  changes: readonly ArchivedChange[],
): readonly ArchivedChange[] {
  const told = withRevisions(changes).map((change) => ({
    ...change,
    fields: explainingFirst(problem, change.fields),
  }))
  let best: ArchivedChange | undefined
  let bestRank = Infinity
  for (const change of told) {
    const rank = rankOf(problem.reason, change) ?? Infinity
    if (rank < bestRank) [best, bestRank] = [change, rank]
  }
  return best === undefined ? told : [best, ...told.filter((change) => change !== best)]
}

const revisionPath = '/metadata/annotations/deployment.kubernetes.io~1revision'

/**
 * The changes with the revision among the fields of each rollout. The controller writes it right after the change of the
 * template, in a change of its own.
 */
function withRevisions(changes: readonly ArchivedChange[]): readonly ArchivedChange[] {
  const told: ArchivedChange[] = []
  /** The revision that a newer change of the object has written, by object. */
  const written = new Map<string, ArchivedChange['fields'][number]>()
  for (const change of changes) {
    const name = `${change.group}/${change.resource} ${change.uid}`
    const revision = change.fields.find(({ path }) => path === revisionPath)
    if (change.fields.some(({ path }) => templatePath.test(path)) && revision === undefined) {
      const field = written.get(name)
      written.delete(name)
      if (field !== undefined) {
        const fields = [field, ...change.fields]
        told.push({ ...change, fields, fieldCount: change.fieldCount + 1 })
        continue
      }
    }
    if (revision !== undefined) written.set(name, revision)
    told.push(change)
  }
  return told
}
