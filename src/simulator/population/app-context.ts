import type { AppPlan } from './company-plan.ts'
import type { NodePlan, Placement, Placer } from './node-plan.ts'
import { type Random, uidDigest } from './random.ts'
import type { PopulationResource } from './resources.ts'

/** What the parts of one app are written out with. */
export interface AppContext {
  readonly app: AppPlan
  readonly seed: string
  readonly nowMs: number
  /** When the app was deployed for the first time. */
  readonly createdAtMs: number
  readonly random: Random
  readonly nodes: readonly NodePlan[]
  /** The zone of each node, by the node's name. */
  readonly zones: ReadonlyMap<string, string>
  readonly placer: Placer
}

/** A pod as its Service sees it. */
export interface BackendPod {
  readonly name: string
  readonly uid: string
  readonly at: Placement
  readonly ready: boolean
  readonly terminating: boolean
}

/** The UID of an object of the first population: it follows from the object's place. */
export function firstUid(
  seed: string,
  resource: PopulationResource,
  namespace: string,
  name: string,
): string {
  return uidDigest(`${seed}/${resource.group}/${resource.resource}/${namespace}/${name}`)
}
