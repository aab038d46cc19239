import { accessWords } from './access/access-words.ts'
import { certificateWords } from './certificates/certificate-words.ts'
import { objectWords } from './object/object-words.ts'
import { actionWords } from './actions/action-words.ts'
import { bulkWords } from './bulk/bulk-words.ts'
import { deliveryWords } from './delivery/delivery-words.ts'
import { editWords } from './edit/edit-words.ts'
import { exportWords } from './export/export-words.ts'
import { filterWords, tableWords } from './kinds/table-words.ts'
import { moment, timeOfDay } from './look/times.ts'

const health = {
  DEGRADED: 'Degraded',
  UNKNOWN: 'Unknown',
  PROGRESSING: 'Progressing',
  TERMINATING: 'Terminating',
  SUSPENDED: 'Suspended',
  HEALTHY: 'Healthy',
} as const

/** A number with the word for what it counts. */
const counted = (number: number, one: string, many: string): string =>
  `${number.toLocaleString()} ${number === 1 ? one : many}`

const gibibyte = 2 ** 30

/** With one decimal place below ten. */
const rounded = (number: number): string =>
  number.toLocaleString(undefined, { maximumFractionDigits: number < 10 ? 1 : 0 })

interface Pods {
  readonly done: number
  readonly wanted: number
}

const unchanged = {
  all: 'Nothing has changed',
  status: 'Nothing but the status has changed',
  such: 'There was no such change',
} as const

const unseen = {
  all: 'No change was seen',
  status: 'No change was seen but of the status',
  such: 'No such change was seen',
} as const

const sinceArchive = (since: Date | undefined): string =>
  since === undefined ? '' : ` since ${moment(since)}, when the archive begins`

/** All texts of the page, so that they can be translated. Views add theirs under their own name. */
export const words = {
  health,
  rollout: {
    of: ({ done, wanted }: Pods): string => `Rolling out: ${done} of ${wanted}`,
    /** Where there is little room. */
    short: ({ done, wanted }: Pods): string => `Rollout ${done}/${wanted}`,
  },
  access: accessWords,
  certificates: certificateWords,
  object: objectWords,
  bulk: bulkWords,
  export: exportWords,
  frame: {
    product: 'informerql',
    productTitle: 'informerql: to the overview',
    overview: 'Overview',
    problems: 'Problems',
    applications: 'Applications',
    create: 'Create',
    createOf: (kind: string): string => `Create a ${kind}`,
    viewFailed: (name: string): string => `The view ${name} cannot be loaded.`,
    kinds: 'Kinds',
    search: 'Search',
    searchHint: 'Search kinds, objects, actions',
    skip: 'Skip to the content',
    menu: 'Menu',
    close: 'Close',
    theme: { title: 'Theme', light: 'Light', dark: 'Dark', system: 'As the system' },
    line: {
      live: 'Live',
      liveTitle: 'What you see is up to date.',
      catchingUp: (span: string): string => `Catching up ${span}`,
      catchingUpTitle: (since: Date): string =>
        `Up to date until ${moment(since)}. The page shows what was known then, and goes on by itself.`,
      cut: 'Cut off',
      cutTitle: 'The gateway cannot read a cluster: the row below says which, and since when.',
      refused: "it does not accept the gateway's credentials; its objects are as last known.",
      objects: 'objects',
      offline: (since: Date): string => `Offline since ${moment(since)}`,
      offlineTitle:
        'The gateway cannot be reached. The page shows what it knew, and goes on by itself.',
    },
    notFound: 'There is no such page.',
    notFoundNext: 'Go to the overview',
    unknownClusters: (names: readonly string[]): string =>
      `The gateway has no cluster ${names.join(', ')}.`,
    failure: {
      title: 'This could not be read.',
      view: 'This view has failed.',
      file: (why: string): string => `A file of the page is missing. ${why}`,
      away: 'This view cannot be loaded now.',
      awayNext:
        'The gateway cannot be reached, and this view was not opened before. It opens by itself when the gateway is back.',
      viewNext: 'The rest of the page still works.',
      forbidden: 'You may not see this.',
      again: 'Try again',
      /** A hint of the gateway, as a sentence. */
      hint: (hint: string): string =>
        `${hint.charAt(0).toUpperCase()}${hint.slice(1)}${/[.!?]$/.test(hint) ? '' : '.'}`,
    },
    rail: {
      groups: {
        workloads: 'Workloads',
        network: 'Network',
        config: 'Config',
        storage: 'Storage',
        access: 'Access',
        nodes: 'Nodes',
        cluster: 'Cluster',
      },
      more: (quiet: number): string => counted(quiet, 'more kind', 'more kinds'),
      fewer: 'Fewer kinds',
      moreTitle: 'Kinds without objects, and kinds that the gateway has not read yet',
      degraded: (number: number): string => `${number.toLocaleString()} degraded`,
      pinned: 'Pinned',
      pin: 'Pin this view',
      unpinThis: 'Unpin this view',
      unpin: (title: string): string => `Unpin ${title}`,
      fold: 'Fold the menu',
      unfold: 'Unfold the menu',
    },
    scope: {
      cluster: 'Cluster',
      allClusters: 'All clusters',
      someClusters: (number: number): string => counted(number, 'cluster', 'clusters'),
      findCluster: 'Find a cluster',
      noCluster: (text: string): string => `No cluster has “${text}” in its name.`,
      only: 'only',
      away: 'cannot be reached',
      namespaces: 'Namespaces',
      all: 'All namespaces',
      allOfYours: (number: number): string =>
        `All of your ${counted(number, 'namespace', 'namespaces')}`,
      some: (number: number): string => counted(number, 'namespace', 'namespaces'),
      find: 'Find a namespace',
      clear: 'Show all namespaces',
      none: (text: string): string => `No namespace has “${text}” in its name.`,
      use: (name: string): string => `Use “${name}”`,
      loading: 'Loading the namespaces',
    },
    who: {
      title: 'You',
      everyone: 'This gateway does not ask who you are.',
      groups: 'Groups',
      all: 'You may list objects in every namespace.',
      some: (names: readonly string[]): string =>
        names.length > 3
          ? `You may list objects in ${names.length} namespaces: ${names.slice(0, 3).join(', ')} and ${names.length - 3} more.`
          : `You may list objects in ${names.join(' and ')} only.`,
      none: 'You may not list objects in any namespace.',
      nobody: 'You have not signed in. This gateway then shows everything.',
      switchUser: 'Switch user',
      signOut: 'Sign out',
      calm: 'Sign in to see your clusters',
      calmNext: 'You see what you may see in each cluster, and come back to this page.',
      ended: 'Your session has ended',
      endedNext: 'Sign in again, and you come back to this page.',
      useToken: 'Use the token',
      byToken: 'Use a bearer token instead',
      asks: 'This gateway asks who you are',
      give: 'Give a bearer token. It is kept in this tab only, and forgotten when you close it.',
      example: 'For example: kubectl create token NAME',
      refused:
        'The gateway does not accept this token. It may have expired, or be of another cluster.',
      token: 'Bearer token',
      signIn: 'Sign in',
    },
    keys: {
      title: 'Keys',
      show: 'Show the keys',
      search: 'Search',
      rail: 'Fold or unfold the menu',
      go: (to: string): string => `Go to ${to}`,
      pin: 'Pin or unpin this view',
      theme: 'Change the theme',
    },
  },
  overview: {
    title: 'Overview',
    clusters: 'Clusters',
    clusterStates: {
      CONNECTED: 'Connected',
      UNREACHABLE: 'Cannot be reached',
      UNAUTHORIZED: 'Refuses the gateway',
      MISCONFIGURED: 'Cannot be used',
    },
    unreachable: (name: string): string => `${name} cannot be reached. You see what was known.`,
    unauthorized: (name: string): string =>
      `${name} does not accept the gateway's credentials. You see what was known.`,
    version: (version: string): string => `Kubernetes ${version}`,
    objects: (number: number, kinds: number): string =>
      `${counted(number, 'object', 'objects')} of ${counted(kinds, 'kind', 'kinds')}`,
    lag: (kinds: number): string => `${counted(kinds, 'kind is', 'kinds are')} catching up`,
    inStep: 'All kinds are up to date',
    capacity: {
      title: 'Requested of what there is',
      titleOfYours: 'Requested by your pods',
      yours: 'Of your pods alone: you may not list the others.',
      requested: 'requested',
      used: 'used now',
      ofCluster: (name: string): string => `Shares of all that ${name} has.`,
      fullest: {
        cluster: (shown: number, all: number): string => `The ${shown} fullest of ${all} clusters.`,
        node: (shown: number, all: number): string => `The ${shown} fullest of ${all} nodes.`,
        namespace: (shown: number, all: number): string =>
          `The ${shown} of ${all} namespaces that request most.`,
      },
      waiting: (pods: number, cores: number, bytes: number): string =>
        `${counted(pods, 'pod has', 'pods have')} no node yet, and ${pods === 1 ? 'requests' : 'request'} ${rounded(cores)} cores and ${rounded(bytes / gibibyte)} GiB more.`,
      cpuShort: 'CPU',
      memoryShort: 'Memory',
      cores: (number: number): string => `${rounded(number)} cores`,
      bytes: (number: number): string => `${rounded(number / gibibyte)} GiB`,
      cpu: (requested: number, allocatable: number | undefined, used: number | undefined): string =>
        `CPU: ${rounded(requested)} ${allocatable === undefined ? '' : `of ${rounded(allocatable)} `}cores requested${used === undefined ? '' : `, ${rounded(used)} used`}`,
      memory: (
        requested: number,
        allocatable: number | undefined,
        used: number | undefined,
      ): string =>
        `Memory: ${rounded(requested / gibibyte)} ${allocatable === undefined ? '' : `of ${rounded(allocatable / gibibyte)} `}GiB requested${used === undefined ? '' : `, ${rounded(used / gibibyte)} used`}`,
    },
    health: 'Health by kind',
    kind: 'Kind',
    total: 'Total',
    notLoaded: 'Not read yet',
    warnings: 'Recent warnings',
    noWarnings: 'No warnings.',
    times: (number: number): string => `${number}×`,
    yours: (names: readonly string[]): string =>
      `You see ${names.length > 5 ? `${names.length} namespaces` : names.join(', ')}: what you may list.`,
    partly: 'You see what you may list: the numbers are of that alone.',
  },
  problems: {
    severities: { CRITICAL: 'Critical', WARNING: 'Warning' },
    /** What gaps have: `its problems are as last known`. */
    what: 'problems',
    count: 'Number of problems',
    filters: 'Filter by severity and kind',
    newest: 'Newest first',
    newestTitle: 'Otherwise the worst first, of these what most objects have, of these the newest',
    none: 'Nothing is wrong.',
    noneNext: (objects: number, isOfYours: boolean): string =>
      `${counted(objects, 'object', 'objects')}${isOfYours ? ' that you may list' : ''} ${objects === 1 ? 'is' : 'are'} watched. What breaks appears here by itself.`,
    noneIn: (namespaces: readonly string[]): string =>
      `In ${namespaces.join(', ')}. Other namespaces are not looked at.`,
    noneOfFilter: 'No problem is of this severity and kind.',
    ready: (ready: number, wanted: number): string => `${ready} of ${wanted} ready`,
    /** What the last revision has changed, before its fields. */
    revision: (from: number, to: number): string => `Changed from revision ${from} to ${to}:`,
    members: (number: number, kind: string): string => `${number.toLocaleString()} × ${kind}`,
    others: (number: number): string => `and ${number.toLocaleString()} more`,
    all: (number: number): string => `All ${number.toLocaleString()} problems`,
    more: (shown: number, all: number): string =>
      `${shown.toLocaleString()} of ${all.toLocaleString()} problems: show more`,
    notLookedAt: (kinds: readonly string[]): string =>
      `Not looked at, as you may not list them or they cannot be read: ${kinds.join(', ')}.`,
    badge: (critical: number, warnings: number): string =>
      `${critical.toLocaleString()} critical, ${counted(warnings, 'warning', 'warnings')}`,
  },
  timeline: {
    title: 'Changes',
    latest: 'Latest changes',
    all: 'All changes',
    /** What gaps have: `its changes are as last known`. */
    what: 'changes',
    types: { ADDED: 'Created', MODIFIED: 'Changed', REMOVED: 'Removed' },
    by: (manager: string): string => `by ${manager}`,
    late: (after: string): string => `Seen late: it happened after ${after}.`,
    masked: 'changed; its value is not kept',
    none: (about: keyof typeof unchanged, since: Date | undefined): string =>
      `${unchanged[about]}${sinceArchive(since)}.`,
    /** Where not all that may have changed was seen. */
    notSeen: (about: keyof typeof unseen, since: Date | undefined): string =>
      `${unseen[about]}${sinceArchive(since)}.`,
    begins: (since: Date): string => `The archive begins ${moment(since)}.`,
    unseen: (cluster: string | undefined, from: Date, to: Date | undefined): string =>
      `${cluster === undefined ? '' : `${cluster}: `}${to === undefined ? `Since ${moment(from)} the gateway does not see what changes` : `From ${moment(from)} to ${moment(to)} the gateway did not see what changed`}.`,
    unread: (types: readonly string[]): string =>
      `The archive has nothing yet of ${types.length > 3 ? `${types.length} kinds` : types.join(', ')}.`,
    unnamed: 'a kind',
    noArchive: 'This gateway keeps no archive, so it knows no past (docs/archive.md).',
    older: 'Show older changes',
    compare: 'Compare with now',
    show: { before: 'As it was', last: 'Its last state' },
    asItWas: {
      before: (at: Date): string => `As it was at ${timeOfDay(at)}.`,
      last: (at: Date): string => `As it was when it was removed at ${timeOfDay(at)}.`,
    },
    back: 'Back to the changes',
    with: {
      status: 'With changes of the status alone',
      around: 'With its owners, what it owns and what it refers to',
    },
    withoutStatus: 'Without changes of the status alone',
    before: 'Before it:',
    revisions: {
      title: 'Revisions',
      oldest: 'The oldest that is kept.',
      same: 'Its pods are made as those of the one before.',
      rollBack: (number: number): string => `Roll back to ${number}…`,
    },
    filters: {
      type: 'Type: Deployment',
      name: 'Name contains',
      manager: 'Manager contains',
      path: 'Field contains: image',
    },
  },
  search: {
    title: 'Search',
    placeholder: 'Search kinds, objects, actions',
    hint: 'Type a name, a label or a kind',
    kinds: 'Kinds',
    objects: 'Objects',
    clusters: 'Clusters',
    views: 'Views',
    actions: 'Actions',
    recent: 'Recent',
    create: 'Objects from YAML, a file or a paste',
    nothing: (text: string): string => `Nothing has “${text}” in its name or labels.`,
    nothingNext: 'Try a part of the name, an image, an address or a label.',
    searching: 'Searching',
    results: (number: number): string => counted(number, 'result', 'results'),
    more: (number: number): string =>
      `${number.toLocaleString()} more objects: type more to narrow`,
    notLookedAt: (kinds: readonly string[]): string =>
      kinds.length > 3
        ? `Not looked into: ${kinds.length} kinds`
        : `Not looked into: ${kinds.join(', ')}`,
    inScope: (namespaces: readonly string[]): string => `In ${namespaces.join(', ')}`,
    select: 'select',
    open: 'open',
    leave: 'close',
    copyAddress: 'Copy the address of this view',
    copied: 'Copied',
    showKeys: 'Show the keys',
    pin: 'Pin this view',
    unpin: 'Unpin this view',
    themes: {
      light: 'Use the light theme',
      dark: 'Use the dark theme',
      system: 'Use the theme of the system',
    },
    allClusters: 'Show all clusters',
    allNamespaces: 'Show all namespaces',
    signOut: 'Sign out',
    graphiql: 'Open GraphiQL',
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
    openShared: (count: number, name: string): string =>
      `+${count}: show the other ${counted(count, 'object', 'objects')} around ${name}`,
    centre: (name: string): string => `Show what is around ${name}`,
    truncated: (count: number): string => `Only the nearest ${count} objects are looked at.`,
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
  /** A time to come. */
  ahead: (span: string): string => `in ${span}`,
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
        ? `${updated} of ${desired} pods are of the current revision; ${
            ready > desired
              ? `${ready} are ready, with those of earlier ones`
              : `${ready} are ready`
          }.`
        : `All ${desired} pods are ready and of the current revision.`,
    revision: (number: string): string => `Revision ${number}`,
    current: 'current',
    old: 'old',
    healthyPods: (ready: number, of: number): string =>
      ready > of ? `${ready} healthy, ${of} wanted` : `${ready} of ${of} healthy`,
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
  /** What is missing of clusters. `what`: `Pods`. */
  gaps: {
    CLUSTER_UNREACHABLE: (clusters: string, what: string, since: Date | undefined): string =>
      since === undefined
        ? `${clusters} cannot be reached: its ${what} are not here.`
        : `${clusters} cannot be reached since ${moment(since)}; its ${what} are as last known.`,
    FORBIDDEN: (clusters: string, what: string): string =>
      `You may not list ${what} in ${clusters}.`,
    NOT_SYNCED: (clusters: string, what: string): string =>
      `The gateway still reads ${clusters}: its ${what} follow by themselves.`,
    NOT_SERVED: (clusters: string, what: string): string => `There are no ${what} in ${clusters}.`,
    other: (clusters: string, message: string): string => `${clusters}: ${message}`,
    more: (clusters: string, others: number): string => `${clusters} and ${others} more`,
  },
  showQuery: 'Show the query',
  viewMenu: { title: 'More', copyGraphQL: 'Copy as GraphQL', variables: 'Variables' },
  actions: actionWords,
  edit: editWords,
  delivery: deliveryWords,
  filter: filterWords,
  table: tableWords,
} as const
