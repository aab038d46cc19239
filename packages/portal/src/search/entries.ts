import type { HealthStatus } from '../look/health.tsx'
import type { IconName } from '../look/icons.tsx'

/** A line of the search: a kind, an object, a view, or something to do. */
export interface Entry {
  /** Unique, and the same whenever the entry is offered. */
  readonly key: string
  readonly icon: IconName
  readonly title: string
  /** Beside the title, dimmed: the namespace, the group. */
  readonly detail?: string | undefined
  /** At the end of the line: the kind of an object. */
  readonly tag?: string | undefined
  /** Why it was found, where the title does not say it: `image: nginx:1.27`. */
  readonly because?: string | undefined
  readonly status?: HealthStatus | undefined
  /** Other words that find it. */
  readonly also?: readonly string[]
  /** The `id` of an object. */
  readonly id?: string
  /** Something to do… */
  readonly run?: () => void
  /** …and the address of the page to go to then… */
  readonly href?: string
  /** …with its tab, if it is an object's. */
  readonly tab?: string | undefined
  /** What the field of the search has then, instead of opening anything. */
  readonly fill?: string
}

/** Entries under their heading. */
export interface EntryGroup {
  readonly name: 'recent' | 'kinds' | 'objects' | 'clusters' | 'views' | 'actions'
  readonly entries: readonly Entry[]
}
