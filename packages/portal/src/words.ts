/** All texts of the page, so that they can be translated. Views add theirs under their own name. */
export const words = {
  health: {
    DEGRADED: 'Degraded',
    UNKNOWN: 'Unknown',
    PROGRESSING: 'Progressing',
    TERMINATING: 'Terminating',
    SUSPENDED: 'Suspended',
    HEALTHY: 'Healthy',
  },
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
} as const
