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
  frame: {
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
} as const
