import type { KubernetesObject } from 'informerql/kubernetes'
import { type PopulationOptions, population } from 'informerql/simulator'

/** All objects of a cluster by kind; within a kind by `namespace/name`, cluster-scoped ones by `/name`. */
export class Collected {
  readonly #kinds = new Map<string, Map<string, KubernetesObject>>()
  readonly uids: Map<string, KubernetesObject> = new Map()

  add(object: KubernetesObject): void {
    const { namespace = '', name, uid = '' } = object.metadata
    const kind = this.#kinds.get(object.kind) ?? new Map<string, KubernetesObject>()
    this.#kinds.set(object.kind, kind)
    if (kind.has(`${namespace}/${name}`))
      throw new Error(`twice: ${object.kind} ${namespace}/${name}`)
    if (this.uids.has(uid)) throw new Error(`one UID twice: ${object.kind} ${namespace}/${name}`)
    kind.set(`${namespace}/${name}`, object)
    this.uids.set(uid, object)
  }

  get(kind: string, namespace: string, name: string): KubernetesObject | undefined {
    return this.#kinds.get(kind)?.get(`${namespace}/${name}`)
  }

  all(kind: string): readonly KubernetesObject[] {
    return [...(this.#kinds.get(kind)?.values() ?? [])]
  }

  kinds(): readonly string[] {
    return [...this.#kinds.keys()]
  }
}

/** A moment for all tests. */
export const noon: Date = new Date('2026-11-21T12:00:00Z')

/** A population, as a reader would look things up in it. */
export function collect(options: PopulationOptions = {}): Collected {
  const collected = new Collected()
  for (const { object } of population({ now: noon, ...options })) collected.add(object)
  return collected
}

type Step = readonly [key: string, isEach: boolean]

/** Paths are few, and read for each object at each step. */
const known = new Map<string, readonly Step[]>()

function stepsOf(path: string): readonly Step[] {
  let found = known.get(path)
  if (found === undefined) {
    found = path.split('.').map((step): Step => {
      const [, key = '', each] = /^(\w+)(\[\*\])?$/.exec(step) ?? []
      return [key, each !== undefined]
    })
    known.set(path, found)
  }
  return found
}

/** Every value at a path such as `spec.containers[*].env[*].valueFrom`; an absent one gives nothing. */
export function valuesAt(object: unknown, path: string): unknown[] {
  let values: unknown[] = [object]
  for (const [key, isEach] of stepsOf(path)) {
    values = values.flatMap((value) => {
      const found = (value as Record<string, unknown> | undefined)?.[key]
      if (found === undefined || found === null) return []
      return isEach ? found : [found]
    })
  }
  return values
}

/** The one value at a path. */
export function valueAt(object: unknown, path: string): unknown {
  return valuesAt(object, path)[0]
}

/** Whether a pod has each of these labels. */
export function hasLabels(pod: KubernetesObject, selector: unknown): boolean {
  return Object.entries(selector as Record<string, string>).every(
    ([key, value]) => pod.metadata.labels?.[key] === value,
  )
}
