import {
  causeIn,
  factsOf,
  isOfSameCause,
  ownCauses,
  type ProblemFact,
  type Replicas,
  tellingOf,
  unmetOf,
} from './plain-health.ts'
import { groupOfReference } from './plain-relations.ts'
import { compared, type Json, type Plain, type PlainWorld } from './plain-world.ts'

/** An object, or one that a reference names: the reference as `from` has it. */
export interface PlainPlace {
  readonly from: Plain
  readonly ref: Json
  /** The object, if the viewer may list it. */
  readonly object: Plain | undefined
}

/** One row of `problems`. */
export interface PlainProblem {
  readonly root: PlainPlace
  readonly reason: string
  readonly severity: 'CRITICAL' | 'WARNING'
  readonly message: string | null
  readonly sinceMs: number | undefined
  /** By kind, namespace and name. */
  readonly objects: readonly PlainPlace[]
  readonly key: string
}

export interface ProblemsAsked {
  /** The types that are looked at. */
  readonly types: readonly string[]
  readonly namespaces: readonly string[] | undefined
  readonly nowMs: number
  readonly afterMs: number
}

/** An object with something that is wrong now. */
interface Finding {
  readonly row: Plain
  readonly fact: ProblemFact
  readonly cause: string
  /** Whether it is a part of what else is wrong with the object. */
  readonly isBeside?: boolean
}

/** What one object, or the object of an Event, adds to a problem. */
interface Said {
  readonly root: PlainPlace
  readonly place: PlainPlace
  readonly fact: ProblemFact
  readonly cause: string
  /** What its owners say that this explains. */
  readonly more: readonly Finding[]
  /** Equal for topmost owners that share the problem. */
  readonly shared?: string | undefined
  /** The object whose workload tells the impact. */
  readonly of?: Plain | undefined
}

/** The problems of a world, as docs/problems.md has them: each cause is one row. In no order. */
export function plainProblems(world: PlainWorld, asked: ProblemsAsked): readonly PlainProblem[] {
  const { types, namespaces, nowMs, afterMs } = asked
  const rows = types.flatMap((type) => world.of(type))
  const isAsked = ({ object }: Plain): boolean =>
    namespaces === undefined || namespaces.includes(object.metadata.namespace ?? '')
  const isNow = ({ timing, at = '', until }: ProblemFact): boolean => {
    if (timing === 'atOnce') return true
    if (timing !== 'from') return (timing === 'later') === Date.parse(at) < nowMs - afterMs
    return Date.parse(at) < nowMs && (until === undefined || nowMs <= Date.parse(until))
  }
  const is = ({ kind }: Plain, type: string): boolean => kind.type === type

  /** The owner, or the reference to one that is not looked at. The Node that a static pod names only runs it. */
  const ownerOf = (row: Plain): PlainPlace | undefined => {
    const refs: readonly Json[] = row.object.metadata.ownerReferences ?? []
    const ref = refs.find(({ controller }) => controller) ?? refs[0]
    if (ref === undefined) return undefined
    const object = rows.find((one) => one.object.metadata.uid === ref.uid)
    const isNode = object === undefined ? ref.kind === 'Node' : is(object, 'Node')
    return isNode ? undefined : object === undefined ? { from: row, ref, object } : placeOf(object)
  }
  const ownersOf = (row: Plain): readonly Plain[] => {
    const owner = ownerOf(row)?.object
    return owner === undefined ? [] : [owner, ...ownersOf(owner)]
  }
  const rootOf = (row: Plain): PlainPlace => {
    const top = ownersOf(row).at(-1) ?? row
    return ownerOf(top) ?? placeOf(top)
  }

  const findings = rows.flatMap((row) =>
    factsOf(row)
      .facts.filter(isNow)
      .map((fact): Finding => ({ row, fact, cause: causeIn(row, fact) })),
  )
  /** What a Node that is down causes in a pod. */
  const isOfNode = (pod: Plain, fact: ProblemFact): boolean =>
    ['ready', 'deletion'].includes(causeIn(pod, fact))
  const down = findings.filter(({ fact }) => fact.role?.form === 'down')
  const onDownNode = (node: Plain): readonly Plain[] =>
    world
      .of('Pod')
      .filter(
        (pod) =>
          types.includes('Pod') &&
          pod.object.spec?.nodeName === node.object.metadata.name &&
          factsOf(pod).facts.some((fact) => isOfNode(pod, fact)) &&
          isAsked(pod),
      )
  const isDown = (name: unknown): boolean =>
    down.some(({ row }) => row.object.metadata.name === name)

  const counts = ({ row, fact }: Finding): boolean => {
    const owner = ownerOf(row)?.object
    switch (fact.role?.form) {
      case 'attempt':
        return owner === undefined || !is(owner, 'Job')
      case 'run': {
        if (owner === undefined || !is(owner, 'CronJob')) return true
        const { successMs } = factsOf(owner)
        return successMs === undefined || successMs < Date.parse(fact.role.began ?? '')
      }
      case 'claim': {
        const { storageClass } = fact.role
        const found = world
          .of('StorageClass')
          .find((one) => one.object.metadata.name === storageClass)
        return !types.includes('StorageClass') || found === undefined || !factsOf(found).waits
      }
      default:
        return fact.role?.form !== 'down' && fact.role?.form !== 'report'
    }
  }
  const isHidden = ({ row, fact }: Finding): boolean =>
    is(row, 'Pod') && isDown(row.object.spec?.nodeName) && isOfNode(row, fact)
  const own = findings.filter((one) => isAsked(one.row) && !isHidden(one) && counts(one))
  const ofNodes = down.flatMap(({ row: node }) => [node, ...onDownNode(node)])

  const said: Said[] = []
  for (const { row: node, fact, cause } of down) {
    const pods = onDownNode(node)
    const root = placeOf(node)
    for (const pod of pods) said.push({ root, place: placeOf(pod), fact, cause, more: [] })
    if (pods.length > 0 || namespaces !== undefined) continue
    said.push({ root: rootOf(node), place: root, fact, cause, more: [] })
  }

  /** What an object says itself, be it a problem already or not yet. */
  const ownCauseOf = (row: Plain): Finding | undefined => {
    const all = factsOf(row).facts.map((fact) => ({ row, fact, cause: causeIn(row, fact) }))
    return (
      own.find((one) => one.row === row) ??
      all.find((one) => ['atOnce', 'later'].includes(one.fact.timing) && counts(one))
    )
  }
  const having = [...own.map(({ row }) => row), ...ofNodes]
  const affected = new Set([...having, ...having.flatMap(ownersOf)])
  const explainedFirst = new Set(having.flatMap(ownersOf))
  const reports = findings.flatMap(({ row: event, fact }) => {
    if (fact.role?.form !== 'report' || !isAsked(event)) return []
    const { about, count } = fact.role
    if (namespaces !== undefined && !namespaces.includes(about.namespace ?? '')) return []
    const type = types.find((one) => {
      const kind = world.kind(one)
      const isOfGroup = about.apiVersion === undefined || groupOfReference(about) === kind?.group
      return kind?.kind === about.kind && isOfGroup
    })
    const place: PlainPlace = { from: event, ref: about, object: undefined }
    const kind = type === undefined ? undefined : world.kind(type)
    const namespace = about.namespace ?? event.object.metadata.namespace
    if (kind === undefined || !world.mayList(kind, { namespace })) return [{ fact, count, place }]
    const object = world
      .of(kind.type)
      .find(
        ({ object: { metadata } }) =>
          metadata.name === about.name && (!kind.namespaced || metadata.namespace === namespace),
      )
    // An Event of an object that is gone. Kubelets write the name of their Node in place of its UID.
    const uids = [undefined, about.name, object?.object.metadata.uid]
    if (object === undefined || !uids.includes(about.uid)) return []
    return [{ fact, count, place: placeOf(object) }]
  })
  for (const { fact, place } of reports) {
    const same = reports.filter(
      (one) => keyOf(one.place) === keyOf(place) && one.fact.reason === fact.reason,
    )
    if (same.reduce((sum, { count }) => sum + count, 0) < 3) continue
    const row = place.object
    if (row === undefined) {
      const kind = world.kindOf(groupOfReference(place.ref), place.ref.kind)
      const of = kind ?? { group: groupOfReference(place.ref), kind: place.ref.kind }
      const cause = causeIn({ kind: of } as Plain, fact)
      said.push({ root: place, place, fact, cause, more: [] })
      continue
    }
    const self = ownCauseOf(row)
    if (self !== undefined) {
      if (self.fact.role?.form === 'down' || isHidden(self)) continue
      const cause = causeIn(row, fact)
      if (isOfSameCause(cause, self.cause)) own.push({ row, fact, cause: self.cause })
      else if (having.includes(row)) own.push({ row, fact, cause, isBeside: true })
      continue
    }
    if (affected.has(row)) continue
    const cause = causeIn(row, fact)
    const above = ownersOf(row).filter((one) => affected.has(one) && !explainedFirst.has(one))
    const isSame = above.some((owner) =>
      own.some((one) => one.row === owner && one.cause === cause),
    )
    if (above.length === 0 || isSame) own.push({ row, fact, cause })
  }
  /** What something that it owns explains. */
  const explained = new Set([...own.map(({ row }) => row), ...ofNodes].flatMap(ownersOf))
  const isExplained = ({ row, cause, isBeside }: Finding): boolean =>
    isBeside === true ||
    (ownCauses.has(cause)
      ? own.some((one) => one.cause === cause && ownersOf(one.row).includes(row))
      : explained.has(row))
  const causesOf = (row: Plain): readonly string[] =>
    own.filter((one) => one.row === row).map(({ cause }) => cause)
  for (const finding of own) {
    if (isExplained(finding)) continue
    const { row, fact } = finding
    const owners = ownersOf(row)
    const lacked =
      causesOf(row).find((cause) => ownCauses.has(cause)) ??
      (owners.some((owner) => causesOf(owner).includes('config')) ? 'config' : undefined)
    const cause = finding.cause === 'ready' ? (lacked ?? finding.cause) : finding.cause
    const more = own.filter((one) => [row, ...owners].includes(one.row) && isExplained(one))
    const asking =
      fact.role?.form === 'report' && cause === 'schedule'
        ? factsOf(row).facts.find(({ role }) => role?.form === 'unscheduled')
        : fact
    const unmet = types.includes('Node') && asking ? unmetOf(asking, world.of('Node')) : undefined
    const root = rootOf(row)
    if (unmet === undefined) said.push({ root, place: placeOf(row), fact, cause, more, of: row })
    else {
      const { key: shared, message } = unmet
      said.push({ root, place: root, fact: { ...fact, message }, cause, more, shared, of: row })
    }
  }

  return [
    ...Map.groupBy(said, ({ root, cause, shared }) => `${shared ?? keyOf(root)} ${cause}`),
  ].map(([key, all]): PlainProblem => {
    const [{ root: first, shared, cause, of }] = all as [Said, ...Said[]]
    const facts = all.flatMap(({ place, more, ...one }) => [
      { ...one, key: keyOf(place) },
      ...more.map((other) => ({ ...other, key: keyOf(placeOf(other.row)) })),
    ])
    const isCritical = ({ severity }: ProblemFact): boolean => severity === 'CRITICAL'
    // The most telling speaks for all, then the worst, and of these the one that has had it for the longest.
    const [lead] = facts
      .filter((one) => one.cause === cause)
      .toSorted(
        (a, b) =>
          tellingOf(b.fact) - tellingOf(a.fact) ||
          Number(isCritical(b.fact)) - Number(isCritical(a.fact)) ||
          compared(a.fact.since ?? '~', b.fact.since ?? '~') ||
          compared(a.key, b.key) ||
          compared(a.fact.message ?? '', b.fact.message ?? ''),
      )
    const since = facts
      .map(({ fact }) => Date.parse(fact.since ?? ''))
      .filter((ms) => !Number.isNaN(ms))
    const objects = new Map(all.map(({ place }) => [keyOf(place), place]))
    const roots = all.map(({ root }) => root).toSorted((a, b) => compared(nameOf(a), nameOf(b)))
    const replicas =
      shared === undefined
        ? impactOf([...(of === undefined ? [] : ownersOf(of).toReversed()), ...(of ? [of] : [])])
        : [...objects.values()]
            .map(({ object }) => impactOf(object === undefined ? [] : [object]))
            .reduce((sum, one) => ({
              ready: (sum?.ready ?? 0) + (one?.ready ?? 0),
              wanted: (sum?.wanted ?? 0) + (one?.wanted ?? 0),
            }))
    const worst = facts.some(({ fact }) => isCritical(fact)) ? 'CRITICAL' : 'WARNING'
    const isStuck = facts.some((one) => one.cause !== 'crash' && isCritical(one.fact))
    let severity: PlainProblem['severity'] = worst
    if (replicas !== undefined && replicas.wanted > 0 && cause !== 'deletion') {
      if (replicas.ready === 0) severity = 'CRITICAL'
      else if (cause === 'crash' && !isStuck) severity = 'WARNING'
    }
    return {
      key,
      root: shared === undefined ? first : (roots[0] as PlainPlace),
      reason: lead?.fact.reason ?? '',
      message: lead?.fact.message ?? null,
      severity,
      sinceMs: since.length === 0 ? undefined : Math.min(...since),
      objects: [...objects.values()].toSorted((a, b) => compared(nameOf(a), nameOf(b))),
    }
  })
}

/** The pods of the highest workload among these, or whether the pod itself is ready. */
function impactOf(chain: readonly Plain[]): Replicas | undefined {
  const workload = chain.find((one) => factsOf(one).replicas !== undefined)
  if (workload !== undefined) return factsOf(workload).replicas
  const [pod] = chain
  if (pod?.kind.type !== 'Pod') return undefined
  const { phase, conditions = [] } = pod.object.status ?? {}
  const isReady = conditions.some(({ type, status }: Json) => type === 'Ready' && status === 'True')
  const isOver = ['Succeeded', 'Failed'].includes(phase) || pod.object.metadata.deletionTimestamp
  return { ready: isReady && !isOver ? 1 : 0, wanted: 1 }
}

/** An object as the place of a problem. */
export function placeOf(object: Plain): PlainPlace {
  const { apiVersion, kind } = object.kind
  const { namespace, name, uid } = object.object.metadata
  return { from: object, ref: { apiVersion, kind, namespace, name, uid }, object }
}

function namespaceOf({ from, ref }: PlainPlace): string {
  return ref.namespace ?? from.object.metadata.namespace ?? ''
}

function nameOf(place: PlainPlace): string {
  const namespace = namespaceOf(place)
  return `${place.ref.kind} ${namespace === '' ? '' : `${namespace}/`}${place.ref.name}`
}

/** Equal for what is the same object. */
function keyOf(place: PlainPlace): string {
  const { ref } = place
  const namespace = namespaceOf(place)
  const name = namespace === '' ? ref.name : `${namespace}/${ref.name}`
  return `${groupOfReference(ref)}/${ref.kind} ${ref.uid || name}`
}
