const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

/** The texts of the parts that pages of some kinds have: namespaces, nodes, pods, ConfigMaps and Secrets. */
export const pageWords = {
  copy: (what: string): string => `Copy ${what}`,
  copyShort: 'Copy',
  copied: 'Copied',
  copiedWhat: (what: string): string => `Copied ${what}`,
  more: (count: number): string => `${count.toLocaleString('en')} more`,
  less: 'Fewer',
  refused: (what: string, why: string): string => `${what} cannot be shown: ${why}`,
  env: {
    title: 'Environment',
    unset: 'empty',
    configMap: (key: string): string => `key ${key} of ConfigMap`,
    secret: (key: string): string => `not shown: key ${key} of Secret`,
    allOfConfigMap: 'all keys of ConfigMap',
    allOfSecret: 'not shown: all keys of Secret',
    field: (path: string): string => `${path} of the pod`,
    resource: (name: string): string => `${name} of the container`,
    other: (form: string): string => `by ${form}`,
    prefix: (prefix: string): string => `${prefix}…`,
    any: 'All keys',
    optional: ', optional',
    noKey: 'It has no such key now.',
    noConfigMap: 'There is none, or you may not see it.',
  },
  probes: {
    title: 'Probes',
    names: { startupProbe: 'Startup', readinessProbe: 'Readiness', livenessProbe: 'Liveness' },
    http: (scheme: string, host: string, port: string, path: string): string =>
      `GET ${scheme.toLowerCase()}://${host}:${port}${path}`,
    tcp: (port: string): string => `opens port ${port}`,
    grpc: (port: string, service: string | undefined): string =>
      `asks gRPC at port ${port}${service === undefined ? '' : ` for ${service}`}`,
    exec: (command: string): string => `runs ${command}`,
    other: 'asks in another way',
    when: (delay: number, period: number, timeout: number, failures: number): string =>
      `${delay === 0 ? '' : `after ${delay} s, `}every ${period} s, within ${timeout} s; ${plural(failures, 'failure')} in a row ${failures === 1 ? 'counts' : 'count'}`,
  },
  lastState: (exit: string, reason: string | undefined, code: number | undefined): string => {
    const named = reason === undefined || exit.includes(reason) ? exit : `${exit}, ${reason}`
    return code === undefined || exit.includes(`code ${code}`)
      ? named
      : `${named}, exit code ${code}`
  },
  volumes: {
    title: 'Volumes',
    emptyDir: (medium: string | undefined, limit: string | undefined): string =>
      `empty directory${medium === undefined ? '' : ` in ${medium.toLowerCase()}`}${limit === undefined ? '' : `, ${limit} at most`}; lost with the pod`,
    hostPath: (path: string): string => `${path} of the node`,
    downward: 'fields of the pod',
    token: 'token of the service account',
    csi: (driver: string): string => `driver ${driver}`,
    other: (form: string): string => form,
    unmounted: 'mounted by no container',
    mount: (path: string, container: string, isReadOnly: boolean): string =>
      `${path} in ${container}${isReadOnly ? ', read-only' : ''}`,
  },
  lines: {
    title: 'Last lines',
    all: 'All lines',
    none: 'It has written nothing yet.',
    label: 'The last lines of the log',
    before: (container: string | undefined): string =>
      `Run before the restart${container === undefined ? '' : ` of ${container}`}`,
    /** Both before how long ago. */
    ended: (exit: string): string => `It ended: ${exit}. Restarted`,
    present: 'These are of the present run, which began',
  },
  data: {
    title: 'Data',
    none: 'It has no data.',
    binary: (bytes: number): string => `${plural(bytes, 'byte')}, not text`,
    size: (characters: number, lines: number): string =>
      lines === 1 ? plural(characters, 'character') : plural(lines, 'line'),
    all: (lines: number): string => `Show all ${plural(lines, 'line')}`,
    fewer: 'Show fewer lines',
    empty: 'empty',
  },
  secret: {
    type: 'Type',
    none: 'It holds nothing.',
    reveal: (key: string): string => `Show the value of ${key}`,
    hide: (key: string): string => `Hide the value of ${key}`,
    show: 'Show',
    hideShort: 'Hide',
    hidden: '••••••••',
    audited:
      'A value is read when you ask for it, with your rights; the audit log names each read.',
    withheld:
      'This gateway does not serve its values; its operator can switch that on, by the setting secretData.',
    elsewhere: 'kubectl shows the values to those who may get the Secret.',
    unnamed: (count: number): string =>
      `and ${plural(count, 'key')} that no manager of its fields names`,
    command: 'the command',
    refused: (why: string): string => `You do not see what it holds: ${why}.`,
    gone: 'The Secret is gone, or another one has its name.',
  },
  quotas: {
    title: 'Quota',
    none: 'No quota limits it.',
    used: (used: string | undefined, hard: string): string =>
      used === undefined ? `${hard}, not counted yet` : `${used} of ${hard}`,
  },
  problems: {
    title: 'Problems',
    none: 'Nothing is wrong in it.',
  },
  workloads: {
    title: 'Workloads',
    none: 'It has no workloads.',
    pods: 'All pods',
    ready: (ready: number, wanted: number): string => `${ready} of ${wanted} ready`,
    first: (shown: number, all: number): string =>
      `The first ${shown} of ${plural(all, 'workload')}, the broken ones first.`,
    /** What gaps have: `its workloads are as last known`. */
    what: 'workloads',
  },
  warnings: {
    title: 'Warnings',
    none: 'No warnings of the last hour.',
    all: 'All events',
  },
  node: {
    resources: 'Capacity',
    resource: 'Resource',
    capacity: 'Capacity',
    allocatable: 'Allocatable',
    taints: 'Taints',
    noTaints: 'No taints: every pod may come here.',
    effects: {
      NoSchedule: 'new pods that do not tolerate it stay away',
      PreferNoSchedule: 'new pods that do not tolerate it go elsewhere if they can',
      NoExecute: 'pods that do not tolerate it are evicted',
    },
  },
} as const
