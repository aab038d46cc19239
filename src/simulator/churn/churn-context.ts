import type { Cluster } from './cluster.ts'
import type { EventRecorder } from './event-recorder.ts'
import type { PodLifecycle } from './pod-lifecycle.ts'

/** What activities are given. */
export interface ChurnContext {
  readonly cluster: Cluster
  readonly events: EventRecorder
  readonly lifecycle: PodLifecycle
}
