import { logWords } from '../logs/log-words.ts'

const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const

/** A span of time in the words of a sentence: `40 minutes`. */
function span(ms: number): string {
  const [unit, size] = units.find(([, least]) => ms >= 2 * least) ?? units.at(-1)!
  return plural(Math.max(1, Math.round(ms / size)), unit)
}

/** A quantity of Kubernetes in numbers that can be read: `32400998Ki` as `30.9 GiB`, `7890m` as `7.89`. */
function quantity(text: string): string {
  const [, digits = '', unit = ''] = /^(\d+)(Ki|Mi|m|)$/.exec(text) ?? []
  if (unit === 'm') return String(Number(digits) / 1000)
  // No number of cores or pods has seven digits: without a unit, these are bytes.
  if (digits === '' || (unit === '' && digits.length < 7)) return text
  const mebibytes = Number(digits) / (unit === 'Ki' ? 1024 : unit === 'Mi' ? 1 : 1024 ** 2)
  return mebibytes < 1024 ? `${Math.round(mebibytes)} MiB` : `${(mebibytes / 1024).toFixed(1)} GiB`
}

const times = (count: number): string => (count === 1 ? 'once' : plural(count, 'time'))

/** The texts of an object's page and of the inspector. */
export const objectWords = {
  tabs: {
    summary: 'Summary',
    related: 'Related',
    graph: 'Graph',
    events: 'Events',
    logs: 'Logs',
    yaml: 'YAML',
    history: 'History',
    access: 'Access',
    shell: 'Shell',
  },
  showTab: (tab: string): string => `Show the tab ${tab}`,
  path: 'Where the object belongs',
  podsIn: (namespace: string): string => `Pods in ${namespace}`,
  compare: 'Compare',
  copy: 'Copy',
  copied: 'Copied',
  copyName: 'Name',
  copyAddress: 'Address of this page',
  copyCommand: 'kubectl get … -o yaml',
  age: 'Age',
  close: 'Close',
  open: 'Open as a page',
  inspector: 'Inspector',
  loading: 'Loading the object',
  missing: {
    title: 'There is nothing here that you may see.',
    text: 'The object was deleted, or you have no access to where it is. A new object of the same name has another address.',
    named:
      'No object has this name now, or you have no access to where it is. When one is made, it opens here.',
  },
  failed: 'The object cannot be shown.',
  overview: 'Go to the overview',
  deletedAt: (time: string): string => `Deleted at ${time}. This is its last state.`,
  hiddenAt: (time: string): string =>
    `Since ${time} you may not see this object any more. This is its last state.`,
  recreated: 'A new one has its name.',
  openNew: 'Open it',
  terminating: (finalizers: readonly string[]): string =>
    finalizers.length === 0
      ? 'It is being deleted.'
      : `It is being deleted, and waits for ${finalizers.join(', ')}.`,
  stale: (time: string): string =>
    `The gateway has lost its watch: this may be out of date since ${time}.`,
  more: (count: number): string => `${count.toLocaleString('en')} more`,
  count: plural,
  times,
  timesIn: (count: number, ms: number): string => `${times(count)} in ${span(ms)}`,
  ago: 'ago',
  labels: 'Labels',
  annotations: 'Annotations',
  conditions: 'Conditions',
  conditionStatus: (status: string): string =>
    ({ True: 'is true', False: 'is false', Unknown: 'is unknown' })[status] ?? status,
  reasonAndCount: (message: string, counted: string): string =>
    `${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.!?]$/.test(message) ? '' : '.'} ${counted}`,
  podsReady: (ready: number, wanted: number): string => {
    if (ready > wanted)
      return `${plural(ready, 'pod')} ready, ${wanted === 0 ? 'none' : wanted} wanted.`
    if (wanted === 0) return 'It is scaled to zero.'
    return `${ready} of ${plural(wanted, 'pod')} ${wanted === 1 ? 'is' : 'are'} ready.`
  },
  span,
  quantity,
  of: (count: number, all: number): string => `${count} of ${all}`,
  none: 'none',
  never: 'never',
  notIssued: 'not issued',
  due: (time: string): string => `due since ${time}`,
  noNode: 'none yet',
  yesNo: (is: boolean): string => (is ? 'yes' : 'no'),
  retries: (failed: number, limit: number): string =>
    `${failed}, ${plural(limit, 'retry', 'retries')} allowed`,
  history: (good: number, bad: number): string => `${good} good, ${bad} failed`,
  scaled: (now: number, wanted: number): string =>
    now === wanted ? `${now}` : `${now} now, ${wanted} wanted`,
  bounds: (least: number, most: number): string => `${least} to ${most}`,
  metric: (name: string, now: string | undefined, wanted: string): string =>
    `${name} ${now ?? 'unknown'} of ${wanted}`,
  bytes: (count: number): string =>
    count < 1024 ? plural(count, 'byte') : `${(count / 1024).toFixed(1)} KiB`,
  facts: {
    ready: 'Ready',
    restarts: 'Restarts',
    node: 'Node',
    podIP: 'Pod IP',
    serviceAccount: 'Service account',
    qosClass: 'QoS class',
    priority: 'Priority',
    restartPolicy: 'Restart policy',
    updated: 'Updated',
    available: 'Available',
    strategy: 'Strategy',
    revision: 'Revision',
    history: 'History kept',
    selector: 'Selector',
    nodeSelector: 'Node selector',
    deadline: 'Deadline',
    service: 'Service',
    podManagement: 'Pod management',
    claims: 'Claims',
    misscheduled: 'On wrong nodes',
    succeeded: 'Succeeded',
    active: 'Active',
    failed: 'Failed',
    started: 'Started',
    took: 'Took',
    parallelism: 'Parallelism',
    removedAfter: 'Removed after',
    schedule: 'Schedule',
    timeZone: 'Time zone',
    suspended: 'Suspended',
    lastRun: 'Last run',
    lastSuccess: 'Last success',
    concurrency: 'Concurrency',
    type: 'Type',
    clusterIP: 'Cluster IP',
    external: 'External',
    ports: 'Ports',
    affinity: 'Session affinity',
    traffic: 'Traffic policy',
    families: 'IP families',
    class: 'Class',
    hosts: 'Hosts',
    address: 'Address',
    tls: 'TLS',
    paths: 'Paths',
    defaultBackend: 'Default backend',
    roles: 'Roles',
    version: 'Version',
    system: 'System',
    allocatable: 'Allocatable',
    machine: 'Machine',
    zone: 'Zone',
    taints: 'Taints',
    phase: 'Phase',
    volume: 'Volume',
    capacity: 'Capacity',
    requested: 'Requested',
    accessModes: 'Access modes',
    storageClass: 'Storage class',
    volumeMode: 'Volume mode',
    keys: 'Keys',
    size: 'Size',
    immutable: 'Immutable',
    target: 'Target',
    replicas: 'Replicas',
    bounds: 'Bounds',
    metrics: 'Metrics',
    lastScaled: 'Last scaled',
    ends: 'Ends',
    renewal: 'Renewal',
    issuer: 'Issuer',
    clusterIssuer: 'Cluster issuer',
    secret: 'Secret',
    names: 'For',
  },
  related: {
    failed: 'What is around the object cannot be shown.',
    owners: 'Belongs to',
    owned: 'Owns',
    refersTo: 'Refers to',
    referredToBy: 'Referred to by',
    usedBy: 'Used by',
    secretUsedBy: 'Its Secret is used by',
    noSecret: 'There is no such Secret, or you may not see it.',
    unused: (types: number): string => `Nothing uses it, of the ${plural(types, 'kind')} that can.`,
    unknownUse: (why: string): string => `It is not known whether something uses it: ${why}`,
    unknownUsers: (types: readonly string[]): string =>
      `It is not known whether more objects use it. Not looked into: ${types.join(', ')}.`,
    none: 'Nothing is related to it, as far as the gateway looked.',
    truncated: 'There are more objects around it than are shown.',
    refused: (why: string): string => `Not everything could be looked into: ${why}`,
    notFollowed: (relations: readonly string[]): string =>
      `Not followed, as these kinds are not loaded: ${relations.join(', ')}.`,
    follow: 'Look there too',
    notLookedAt: (count: number): string =>
      `Its other relations to ${plural(count, 'kind')} are not known: the gateway has not looked into them`,
  },
  pods: {
    title: 'Pods',
    yours: 'Your pods',
    none: 'It has no pods.',
    noneOfYours: 'None of your pods is here: you may not list the others.',
    refused: (why: string): string => `The pods cannot be shown: ${why}`,
    first: (shown: number, total: number): string =>
      `The first ${shown} of ${plural(total, 'pod')}, the broken ones first.`,
  },
  events: {
    failed: 'The events cannot be shown.',
    none: 'There are no events about it.',
    kept: 'Kubernetes keeps events for a while only, an hour unless it is told otherwise.',
    wide: 'With those about what it owns',
    warning: 'Warning:',
    first: 'first',
    more: (shown: number, total: number): string =>
      `The last ${shown} of ${plural(total, 'event')}.`,
  },
  access: {
    failed: 'What you may do cannot be shown.',
    nobody:
      'This gateway does not ask who its users are, so everybody may read. Where it takes changes, it makes them in its own name.',
    you: (name: string, groups: readonly string[]): string =>
      groups.length === 0 ? `You are ${name}.` : `You are ${name}, of ${groups.join(', ')}.`,
    thisObject: (kind: string): string => `This ${kind}`,
    thisKind: (kinds: string, namespace: string | null): string =>
      namespace === null ? `All ${kinds}` : `${kinds} in ${namespace}`,
    may: (what: string): string => `You may ${what}.`,
    mayNot: (what: string): string => `You may not ${what}.`,
    unknown: (what: string): string => `The API server does not say whether you may ${what}.`,
    verbs: {
      get: 'see it',
      log: 'read its logs',
      exec: 'run commands in it',
      portForward: 'forward ports to it',
      debug: 'add debug containers to it',
      evict: 'evict it',
      scale: 'scale it',
      token: 'make tokens for it',
      patch: 'change it',
      update: 'replace it',
      delete: 'delete it',
    },
    kindVerbs: {
      list: 'list them',
      watch: 'follow them',
      create: 'create new ones',
      deletecollection: 'delete all of them at once',
    },
  },
  logs: logWords,
  yaml: {
    copy: 'Copy',
    search: 'Search (Ctrl+F)',
    unchanged: 'No change since you opened it.',
    changed: (count: number, since: string): string =>
      `${plural(count, 'place')} changed since ${since}.`,
    marks: 'Forget the marks',
    only: 'Changes only',
    secret:
      'The gateway holds the metadata of Secrets and no more: data, as kubectl shows it, is left out.',
    label: 'The object as YAML',
  },
  container: {
    it: (sentence: string): string => `Its container ${sentence}.`,
    named: (name: string, sentence: string): string => `Container ${name} ${sentence}.`,
    ready: 'runs and is ready',
    notReady: 'runs, but is not ready',
    recovers: (exit: string, often: string): string =>
      `has started again, and is not ready yet: ${exit}, ${often}`,
    starts: 'is being created',
    notStarted: 'has not started',
    done: 'has done its work',
    ended: (exit: string): string => `has failed: ${exit}`,
    exitCode: (code: number): string => `exit code ${code}`,
    signal: (signal: number): string => `ended by signal ${signal}`,
    outOfMemory: (limit: string | undefined): string =>
      limit === undefined ? 'killed for its memory' : `killed for its memory (limit ${limit})`,
    crashes: (often: string): string => `crashes again and again, restarted ${often}`,
    crashesAtStart: (exit: string, often: string): string => `crashes at start: ${exit}, ${often}`,
    crashesAfter: (ms: number, exit: string, often: string): string =>
      `crashes after ${span(ms)}: ${exit}, ${often}`,
    noImage: (image: string): string => `cannot start: the image ${image} does not exist`,
    imagePull: (image: string): string => `cannot start: the image ${image} cannot be pulled`,
    cannotStart: (why: string): string => `cannot start: ${why}`,
    waits: (why: string): string => `waits: ${why}`,
    lastExit: 'Last exit:',
    restarts: (count: number): string => `restarted ${times(count)}`,
    roles: { container: '', init: 'init', sidecar: 'sidecar', ephemeral: 'debug' },
    requests: 'Requests',
    limits: 'Limits',
    ports: 'Ports',
    title: 'Containers',
  },
} as const
