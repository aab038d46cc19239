import { factsOf, type ProblemFact } from './plain-health.ts'
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
      .map((fact): Finding => ({ row, fact })),
  )
  const down = findings.filter(({ fact }) => fact.role?.form === 'down')
  const onDownNode = (node: Plain): readonly Plain[] =>
    world
      .of('Pod')
      .filter(
        (pod) =>
          types.includes('Pod') &&
          pod.object.spec?.nodeName === node.object.metadata.name &&
          factsOf(pod).facts.length > 0 &&
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
  const own = findings.filter(
    (one) =>
      isAsked(one.row) &&
      !(is(one.row, 'Pod') && isDown(one.row.object.spec?.nodeName)) &&
      counts(one),
  )
  const ofNodes = down.flatMap(({ row: node }) => [node, ...onDownNode(node)])
  const having = [...own.map(({ row }) => row), ...ofNodes]
  /** What something that it owns explains. */
  const explained = new Set(having.flatMap(ownersOf))
  const affected = new Set([...having, ...explained])

  const said: {
    root: PlainPlace
    place: PlainPlace
    fact: ProblemFact
    more: readonly ProblemFact[]
  }[] = []
  for (const { row: node, fact } of down) {
    const pods = onDownNode(node)
    for (const pod of pods) said.push({ root: placeOf(node), place: placeOf(pod), fact, more: [] })
    if (pods.length > 0 || namespaces !== undefined) continue
    said.push({ root: rootOf(node), place: placeOf(node), fact, more: [] })
  }
  for (const { row, fact } of own) {
    if (explained.has(row)) continue
    const owners = ownersOf(row)
    const more = own.filter((one) => owners.includes(one.row)).map((one) => one.fact)
    said.push({ root: rootOf(row), place: placeOf(row), fact, more })
  }

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
    const isTold = [object, ...ownersOf(object).filter((one) => !explained.has(one))]
    if (isTold.some((one) => affected.has(one))) return []
    return [{ fact, count, place: placeOf(object) }]
  })
  for (const { fact, place } of reports) {
    const same = reports.filter(
      (one) => keyOf(one.place) === keyOf(place) && one.fact.reason === fact.reason,
    )
    if (same.reduce((sum, { count }) => sum + count, 0) < 3) continue
    const root = place.object === undefined ? place : rootOf(place.object)
    said.push({ root, place, fact, more: [] })
  }

  return [...Map.groupBy(said, ({ root, fact }) => `${keyOf(root)} ${fact.reason}`)].map(
    ([key, all]): PlainProblem => {
      const facts = all.flatMap(({ fact, more }) => [fact, ...more])
      const isCritical = ({ severity }: ProblemFact): boolean => severity === 'CRITICAL'
      // The worst speaks for all, and of these the one that has had it for the longest.
      const [lead] = all.toSorted(
        (a, b) =>
          Number(isCritical(b.fact)) - Number(isCritical(a.fact)) ||
          compared(a.fact.since ?? '~', b.fact.since ?? '~') ||
          compared(keyOf(a.place), keyOf(b.place)),
      )
      const since = facts
        .map((fact) => Date.parse(fact.since ?? ''))
        .filter((ms) => !Number.isNaN(ms))
      const objects = new Map(all.map(({ place }) => [keyOf(place), place]))
      return {
        key,
        root: (all[0] as (typeof all)[number]).root,
        reason: lead?.fact.reason ?? '',
        message: lead?.fact.message ?? null,
        severity: facts.some(isCritical) ? 'CRITICAL' : 'WARNING',
        sinceMs: since.length === 0 ? undefined : Math.min(...since),
        objects: [...objects.values()].toSorted((a, b) => compared(nameOf(a), nameOf(b))),
      }
    },
  )
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
