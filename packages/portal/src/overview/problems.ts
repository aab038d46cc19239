interface Named {
  readonly id: string
  readonly kind: string
  readonly namespace: string | null
  readonly name: string
}

/** Degraded, or without a report: a node that is silent. */
type BadHealth = 'DEGRADED' | 'UNKNOWN'

/** A degraded object, as the overview follows it. */
export interface DegradedObject extends Named {
  readonly creationTimestamp: string
  readonly health: {
    readonly status: BadHealth
    readonly reason: string | null
    readonly message: string | null
  }
  readonly rootOwner: Named | null
}

/** What is wrong with one thing: an application's workload, or an object that nothing owns. */
export interface Problem extends Named {
  readonly status: BadHealth
  /** What is said of it, each once, with the objects of which it is true. */
  readonly causes: readonly Cause[]
}

/** A reason, and the objects that have it. */
export interface Cause {
  readonly reason: string | null
  readonly message: string | null
  readonly objects: readonly [DegradedObject, ...DegradedObject[]]
}

/**
 * The degraded objects by what they belong to, so that five pods of one Deployment are one problem. Within it the same
 * reason is said once.
 */
export function problemsOf(objects: readonly DegradedObject[]): readonly Problem[] {
  const problems = Map.groupBy(objects, ({ id, rootOwner }) => rootOwner?.id ?? id)
  return [...problems.values()]
    .flatMap((own): Problem[] => {
      const [first] = own
      if (first === undefined) return []
      const { id, kind, namespace, name } = first.rootOwner ?? first
      const isDegraded = own.some(({ health }) => health.status === 'DEGRADED')
      const status = isDegraded ? 'DEGRADED' : 'UNKNOWN'
      return [{ id, kind, namespace, name, status, causes: causesOf(own) }]
    })
    .toSorted(
      (a, b) =>
        rankOf(a.kind) - rankOf(b.kind) ||
        (a.namespace ?? '').localeCompare(b.namespace ?? '') ||
        a.name.localeCompare(b.name),
    )
}

/** What breaks others comes first. */
function rankOf(kind: string): number {
  const place = ['Node', 'PersistentVolume', 'PersistentVolumeClaim'].indexOf(kind)
  return place < 0 ? 3 : place
}

function causesOf(objects: readonly DegradedObject[]): readonly Cause[] {
  const causes = Map.groupBy(objects, ({ kind, health }) =>
    [kind, health.reason, health.message].join('\n'),
  )
  return [...causes.values()].flatMap((own) => {
    const [first, ...others] = own
    if (first === undefined) return []
    const { reason, message } = first.health
    return [{ reason, message, objects: [first, ...others] as const }]
  })
}
