import { objectWords } from './object/object-words.ts'
import { filterWords, tableWords } from './kinds/table-words.ts'

const health = {
  DEGRADED: 'Degraded',
  UNKNOWN: 'Unknown',
  PROGRESSING: 'Progressing',
  TERMINATING: 'Terminating',
  SUSPENDED: 'Suspended',
  HEALTHY: 'Healthy',
} as const

/** All texts of the page, so that they can be translated. Views add theirs under their own name. */
export const words = {
  health,
  object: objectWords,
  frame: {
    product: 'informerql',
    overview: 'Overview',
    applications: 'Applications',
    kinds: 'Kinds',
    search: 'Search',
    theme: { light: 'Light', dark: 'Dark', system: 'As the system' },
    line: {
      idle: 'Connected',
      live: 'Live',
      offline: (since: string): string => `Offline since ${since}`,
    },
    notFound: 'There is no such page.',
    failure: {
      title: 'This could not be read.',
      view: 'This view has failed.',
      viewNext: 'The rest of the page still works.',
      forbidden: 'You may not see this.',
      again: 'Try again',
    },
  },
  graph: {
    title: 'What is around it',
    list: 'As a list',
    back: 'Back to where it began',
    fold: 'Fold again',
    nearer: 'Fewer steps',
    further: 'More steps',
    alone: 'Nothing leads to it or from it, as far as the gateway has looked.',
    kind: 'Kind',
    name: 'Name',
    health: 'Health',
    leadsTo: 'Leads to',
    folded: (count: number, status?: keyof typeof health): string =>
      status === undefined ? String(count) : `${count} ${health[status].toLowerCase()}`,
    centre: (name: string): string => `Show what is around ${name}`,
    truncated: (count: number): string => `There is more than the ${count} objects shown.`,
    incomplete: (types: readonly string[]): string =>
      `Not looked into, as they are not loaded or you may not list them: ${types.length} kinds.`,
    node: (node: {
      readonly kind: string
      readonly namespace?: string | null
      readonly name?: string
    }): string =>
      [node.kind, [node.namespace, node.name].filter(Boolean).join('/')].join(' ').trim(),
  },
  loading: 'Loading…',
  application: {
    title: 'Application',
    gone: 'There is no such object any more.',
    noWorkload: (kind: string): string => `A ${kind} is no workload.`,
    openObject: 'Open as an object',
    pods: 'Pods by revision',
    noPods: 'It has no pods now.',
    morePods: (shown: number, total: number): string =>
      `${shown} of ${total} pods, the worst first.`,
    progress: 'Rollout',
    rollout: ({
      desired,
      updated,
      ready,
      isGoing,
    }: {
      readonly desired: number
      readonly updated: number
      readonly ready: number
      readonly isGoing: boolean
    }): string =>
      isGoing
        ? `${ready} of ${desired} pods are ready; ${updated} of ${desired} are of the current revision.`
        : `All ${desired} pods are ready and of the current revision.`,
    revision: (number: string): string => `Revision ${number}`,
    current: 'current',
    old: 'old',
    healthyPods: (ready: number, of: number): string => `${ready} of ${of} healthy`,
    waysIn: 'What leads to it',
    noServices: 'No Service selects its pods.',
    uses: 'What it uses',
    usesNothing: 'It uses no ConfigMap, Secret or claim.',
    guards: 'What scales and guards it',
    noGuards: 'No autoscaler, disruption budget or network policy.',
    events: 'Recent events of its pods',
    noEvents: 'No events.',
    none: 'There are no workloads here.',
    name: 'Application',
    health: 'Health',
    workloads: 'Workloads',
    age: 'Age',
    more: (shown: number, total: number): string =>
      `${shown} of ${total} workloads, the worst first. Choose namespaces to see the others.`,
  },
  showQuery: 'Show the query',
  filter: filterWords,
  table: tableWords,
} as const
