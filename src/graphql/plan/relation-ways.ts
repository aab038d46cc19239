import type { KindAt, KindPart } from '../operation/kind-part.ts'
import { partOnTheWay, targetOf } from '../operation/related-parts.ts'
import type { SchemaRelation } from '../operation/schema-relations.ts'
import type { PlanRun } from './plan-run.ts'

/** The kinds that a relation goes through and arrives at, which are the same for each row where everything may be seen. */
export class RelationWays {
  readonly #relation: SchemaRelation
  /** Nothing of a store is kept longer than the run. */
  readonly #parts = new WeakMap<PlanRun, Map<string, KindPart>>()
  readonly #targets = new Map<string, KindAt>()

  constructor(relation: SchemaRelation) {
    this.#relation = relation
  }

  /** What may be read of a type on the way from an object of a namespace. Throws as `partOnTheWay` does. */
  part(run: PlanRun, cluster: string, type: string, namespace: () => string): KindPart {
    if (!run.parts.isOpen) return this.#read(run, cluster, type, namespace())
    let parts = this.#parts.get(run)
    if (parts === undefined) this.#parts.set(run, (parts = new Map()))
    let part = parts.get(type)
    if (part?.cluster !== cluster) {
      parts.set(type, (part = this.#read(run, cluster, type, undefined)))
    }
    return part
  }

  /** Where the relation arrives in a cluster. */
  target(cluster: string): KindAt {
    let target = this.#targets.get(cluster)
    if (target === undefined) {
      this.#targets.set(cluster, (target = targetOf(this.#relation, cluster)))
    }
    return target
  }

  #read(run: PlanRun, cluster: string, type: string, namespace: string | undefined): KindPart {
    return partOnTheWay(run, this.#relation, { cluster, type, namespace })
  }
}
