import type { Placement } from '../population/node-plan.ts'

/** What the churn remembers of a pod; all else is read from the storage when it is needed. */
export interface PodRecord {
  readonly name: string
  readonly uid: string
  /** `undefined` until it is scheduled. */
  at: Placement | undefined
  /** Whether it has its address yet. */
  addressed: boolean
  ready: boolean
  terminating: boolean
  /** Succeeded or failed: it counts no more. */
  finished: boolean
}

/** The controllers whose pods the churn follows. */
export type GroupKind = 'ReplicaSet' | 'StatefulSet' | 'DaemonSet' | 'Job'

/** A controller and its pods. */
export interface PodGroup {
  readonly kind: GroupKind
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** The labels of its pod template. */
  readonly labels: Readonly<Record<string, string>>
  readonly pods: Map<string, PodRecord>
  readonly services: Set<ServiceRecord>
  readonly budgets: Set<SelectorRecord>
  /** The number of a ReplicaSet's revision, else 0. */
  readonly revision: number
  /** Of a ReplicaSet. */
  readonly deployment: DeploymentRecord | undefined
  /** The counts that its controller's status shows; `''` where that is not known. */
  counted: string
  /** An activity is replacing one of its pods. */
  busy: boolean
}

/** An object that selects pods by their labels. */
export interface SelectorRecord {
  readonly namespace: string
  readonly name: string
  readonly selector: Readonly<Record<string, string>>
  readonly groups: Set<PodGroup>
  /** The counts that its status shows; `''` where that is not known. */
  counted: string
}

/** A Service and its endpoint slices. */
export interface ServiceRecord extends SelectorRecord {
  /** Each slice's name, and its endpoints as last written. */
  readonly slices: { readonly name: string; written: string }[]
}

/** A Deployment and its ReplicaSets. */
export interface DeploymentRecord {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Its first number of replicas, around which it scales. */
  readonly baseline: number
  /** By age of their revision, the current one last. */
  readonly revisions: PodGroup[]
  /** An activity is changing it: others stay away. */
  busy: boolean
  /** A new revision is on its way. */
  rollingOut: boolean
  /** It was unwell from the beginning, and is meant to stay so. */
  broken: boolean
}

/** An object that is found again by its name. */
export interface NamedRecord {
  readonly namespace: string
  readonly name: string
}

/** Its active pods: those that run or will run, without the terminating and the finished. */
export function activePods(group: Pick<PodGroup, 'pods'>): PodRecord[] {
  return [...group.pods.values()].filter(({ terminating, finished }) => !terminating && !finished)
}

/** Whether nothing is going on with a Deployment: one revision has pods, and all of them are ready. */
export function isSettled(deployment: DeploymentRecord): boolean {
  const current = deployment.revisions.at(-1)
  if (deployment.busy || current === undefined || current.pods.size === 0) return false
  return deployment.revisions.every((group) =>
    group === current
      ? [...group.pods.values()].every(({ ready, terminating }) => ready && !terminating)
      : group.pods.size === 0,
  )
}
