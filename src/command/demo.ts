/*
 * `informerql demo` and `simulate`. The demo runs simulated clusters in this process, a gateway to them by the same
 * code as `serve`, an identity provider with three people, and a path that orders faults. On a terminal a key cuts a
 * cluster off and mends it.
 */

import { isLoopback, refuseRequest } from '../server/guard/request-guard.ts'
import { describePopulation, summarizePopulation } from '../simulator/population/plan.ts'
import {
  type SimulatedFleet,
  startSimulatedCluster,
  startSimulatedFleet,
} from '../simulator/simulated-fleet.ts'
import { listenError } from '../server/listen.ts'
import { signInPaths } from '../access/sign-in/sign-in.ts'
import { type DemoPerson, DemoProvider, demoClient } from './demo-provider.ts'
import { firstQuery } from './example-operations.ts'
import { aborted, type CommandContext, runGateway } from './run-gateway.ts'
import { CodedError } from '../lib/coded-error.ts'
import { isJsonObject, jsonIn } from '../lib/json.ts'
import { present } from '../lib/options.ts'
import type { Routes } from '../server/operation-options.ts'
import { Refusal } from '../simulator/api/status-refusal.ts'
import type { FaultOrder } from '../simulator/faults/faults.ts'
import { readBody } from '../simulator/http/exchange.ts'
import {
  type AuthenticationOptions,
  signInOptionsSchema,
} from '../access/authentication/authentication-options.ts'
import type { Unstructured } from '../kubernetes/object.ts'
import type { Storage } from '../simulator/storage/storage.ts'

/** `demo`: the simulated clusters of a company and a gateway to them, until the signal aborts. */
export async function demo(context: CommandContext): Promise<void> {
  const { config, log, print, signal } = context
  const { eventsPerSecond, ...population } = config.simulator
  // Nothing can be broken here that a restart does not mend.
  const { allowWrites = true } = config
  const exec = { ...config.exec, allow: config.exec.allow ?? true }
  const archive = { ...config.archive, url: config.archive.url ?? 'memory:' }
  await using provider = new DemoProvider()
  await using fleet = await startSimulatedFleet({
    population,
    access: {
      authorization: 'rbac',
      identifyToken(token) {
        const person = provider.personOf(token)
        return person && { user: person.email, groups: person.groups }
      },
    },
    churn: { seed: population.seed, eventsPerSecond },
    onChurnError: (error, cluster) =>
      log.error('a simulated cluster has stopped changing', { cluster, error }),
  })
  const clusters = fleet.clusters.map(({ name, labels, simulator }) => ({
    name,
    labels,
    server: simulator.url,
  }))
  // The faults and the people are for those who run the demo: they are not served beyond loopback.
  const hasFaults = isLoopback(config.server.host)
  const hasPeople = hasFaults && config.auth.mode === 'none'
  const team = demoTeam(fleet)
  bindDemoPeople(fleet, team)
  if (hasPeople) await provider.listen(demoPeople(team))
  const auth = hasPeople ? demoAuthentication(config.auth, provider.url) : config.auth
  await runGateway(
    {
      log,
      signal,
      print,
      config: { ...config, auth, allowWrites, exec, archive, clusters, clusterSources: [] },
      isSimulated: true,
    },
    ({ url, portalUrl }) => {
      if (portalUrl !== undefined) print(`  the portal, in a browser             ${portalUrl}\n`)
      print(`  GraphQL, and GraphiQL in a browser   ${url}\n`)
      if (hasPeople)
        print(`  to be one of three people            ${new URL(signInPaths.login, url).href}\n`)
      print('\n')
      print(fleetText(fleet))
      print(
        `About ${eventsPerSecond} changes per second (--rate), the same for the same --seed.\n\n`,
      )
      print(`A first query:\n\n${firstQuery.replaceAll(/^/gm, '  ')}\n\n`)
      print(
        `  curl ${url} -H 'content-type: application/json' \\\n    -d '${JSON.stringify({ query: firstQuery.replaceAll(/\s+/g, ' ') })}'\n\n`,
      )
      if (hasFaults) {
        const faultsUrl = new URL(faultsPath, url).href
        const name = (fleet.clusters[1] ?? fleet.clusters[0])?.name ?? ''
        const [cut, mend] = ['cut', 'mend'].map(
          (fault) => `  curl ${faultsUrl} -d '{"cluster":"${name}","fault":"${fault}"}'\n`,
        )
        print(`Cut a cluster off, and mend it:\n\n${cut}${mend}\n`)
      }
      if (followCutKeys(process.stdin, fleet, context)) {
        const keys = fleet.clusters.map(({ name }, index) => `${index + 1} ${name}`).join(', ')
        print(`A key cuts a cluster off, and mends it when pressed again: ${keys}.\n`)
      }
      print('Ctrl-C stops it.\n')
    },
    hasFaults ? { [faultsPath]: faultsRoute(fleet) } : {},
  )
}

/** The flags of `simulate` that are no options of the configuration. */
export interface SimulateOptions {
  readonly port: number
  readonly host: string
  readonly allowedHost?: readonly string[]
  readonly cluster?: string
}

/** `simulate`: the simulated API server alone, until the signal aborts. */
export async function simulate(
  { config, log, print, signal }: CommandContext,
  { port, host, allowedHost: allowedHosts = [], cluster: name }: SimulateOptions,
): Promise<void> {
  const { eventsPerSecond, ...company } = config.simulator
  const population = { ...company, cluster: name }
  const starting = startSimulatedCluster({
    port,
    host,
    allowedHosts,
    population,
    metrics: true,
    churn: { seed: population.seed, eventsPerSecond },
    onChurnError: (error) => log.error('the simulated cluster has stopped changing', { error }),
  })
  await using cluster = await starting.catch((error: NodeJS.ErrnoException) => {
    throw error.syscall === 'listen' ? listenError(host, port, error) : error
  })
  print(`Simulating ${describePopulation(population)}\n`)
  print(`  kubectl --server=${cluster.url} get pods -A\n`)
  print(`  informerql serve --server ${cluster.url}\n\nCtrl-C stops it.\n`)
  await aborted(signal)
}

/** The company, and each cluster with its address and what is broken in it. */
function fleetText({ clusters }: SimulatedFleet): string {
  const all = clusters.map((one) => ({ ...one, ...summarizePopulation(one.population) }))
  const pods = all.reduce((sum, one) => sum + one.pods, 0).toLocaleString('en')
  const count = all.length === 1 ? '1 cluster' : `${all.length} clusters`
  const parts = all.flatMap(({ name, labels, simulator, kubernetes, size, broken }) => [
    '',
    `  ${name}: Kubernetes ${kubernetes}${Object.entries(labels)
      .map(([key, value]) => `, ${key}=${value}`)
      .join('')}`,
    `    ${size}`,
    `    kubectl --server=${simulator.url} get pods -A`,
    ...(broken.length === 0 ? [] : ['    Broken on purpose:']),
    ...broken.map((sentence) => `      - ${sentence}`),
  ])
  return [`Simulating ${all[0]?.company ?? ''}: ${pods} pods in ${count}.`, ...parts, '', ''].join(
    '\n',
  )
}

/** The part of a terminal's input that is used. */
interface KeyInput {
  readonly isTTY?: boolean
  setRawMode?(isRaw: boolean): unknown
  on(event: 'data', listener: (keys: Buffer) => void): unknown
  resume(): unknown
  pause(): unknown
}

/**
 * Follows the keys of a terminal until the signal aborts: `1` cuts the first cluster off, or mends it if it is cut, and
 * so on. Returns `false` if the input is no terminal.
 */
function followCutKeys(
  input: KeyInput,
  { clusters }: SimulatedFleet,
  { print, signal }: Pick<CommandContext, 'print' | 'signal'>,
): boolean {
  if (input.isTTY !== true || input.setRawMode === undefined || signal.aborted) return false
  input.setRawMode(true)
  input.resume()
  input.on('data', (keys) => {
    for (const key of keys.toString()) {
      const end = signals[key]
      if (end !== undefined) process.kill(process.pid, end)
      const cluster = clusters[Number(key) - 1]
      if (cluster === undefined) continue
      const { name, simulator } = cluster
      const isServed = simulator.faults.connections === 'served'
      simulator.faults.inject({ fault: { type: isServed ? 'cut' : 'mend' } })
      print(isServed ? `${name} is cut off; ${key} mends it.\n` : `${name} is mended.\n`)
    }
  })
  signal.addEventListener(
    'abort',
    () => {
      input.setRawMode?.(false)
      input.pause()
    },
    { once: true },
  )
  return true
}

/** What a terminal in raw mode no longer makes of its keys. */
const signals: Readonly<Record<string, NodeJS.Signals>> = {
  '\u0003': 'SIGINT',
  '\u001C': 'SIGQUIT',
}

const faultsPath = '/faults'

/**
 * `POST /faults` orders a fault of one cluster: `{ "cluster": "prod-us", "fault": "cut" }`, or `fault`, `match` and
 * `times` as the simulator's own `/simulator/faults` takes them. `GET` says of each cluster whether it is cut.
 */
function faultsRoute(fleet: SimulatedFleet): Routes[string] {
  return async (request, response) => {
    const { method = '' } = request
    if (method !== 'POST' && method !== 'GET') {
      refuseRequest(response, {
        status: 405,
        reason: `${faultsPath} does not accept ${method}`,
        hint: 'POST {"cluster":…,"fault":…} orders a fault, GET shows the clusters',
        headers: { allow: 'GET, POST' },
      })
      return
    }
    try {
      if (method === 'POST') orderFault(fleet, await readBody(request))
    } catch (error) {
      if (!(error instanceof CodedError)) throw error
      const { message: reason, hint } = error
      const status = error instanceof Refusal ? error.httpStatus : 400
      refuseRequest(response, { status, reason, ...present({ hint }) })
      return
    }
    const clusters = fleet.clusters.map(({ name, simulator: { url, faults } }) => ({
      name,
      url,
      connections: faults.connections,
      pending: faults.pending(),
    }))
    response.setHeader('content-type', 'application/json; charset=utf-8')
    response.end(`${JSON.stringify({ clusters })}\n`)
  }
}

function refused(problem: string, value: unknown, hint: string): CodedError {
  return new CodedError('FAULT_REQUEST', problem, { value, hint })
}

function orderFault({ clusters }: SimulatedFleet, body: Buffer): void {
  const order = jsonIn(body.toString())
  if (!isJsonObject(order)) {
    const problem = `the body is not a JSON object: ${JSON.stringify(body.toString('utf8', 0, 60))}`
    throw refused(problem, body, 'POST {"cluster":"prod-us","fault":"cut"}')
  }
  const { cluster, fault, ...rest } = order
  const found = clusters.find(({ name }) => name === cluster)
  if (found === undefined) {
    const names = clusters.map(({ name }) => name).join(', ')
    const unknown = `there is no cluster ${JSON.stringify(cluster)}`
    const problem = cluster === undefined ? 'cluster is missing' : unknown
    throw refused(problem, cluster, `clusters are ${names}`)
  }
  const faults = typeof fault === 'string' ? { type: fault } : fault
  if (![faults].flat().every(isJsonObject)) {
    const unknown = `there is no fault ${JSON.stringify(fault)}`
    const problem = fault === undefined ? 'fault is missing' : unknown
    throw refused(problem, fault, 'a fault is cut, hang or mend, or one of docs/simulator.md')
  }
  found.simulator.faults.inject({ ...rest, fault: faults } as unknown as FaultOrder)
}

const rbac = 'rbac.authorization.k8s.io'
/** The team of the developer, where the scenario has it. */
const usualTeam = 'payments'

/**
 * The people of the demo: one who may do anything, a developer who may change what their team has and see nothing of
 * others, and one who may look at everything but Secrets. `team` is the developer's.
 */
function demoPeople(team: string | undefined): readonly DemoPerson[] {
  return [
    {
      email: 'sara@fjordholt.example',
      name: 'Sara, site reliability',
      does: 'May do anything, everywhere.',
      groups: ['sre'],
    },
    {
      email: 'deniz@fjordholt.example',
      name: `Deniz, developer${team === undefined ? '' : ` of ${team}`}`,
      does: `Sees and changes ${team === undefined ? 'the namespace default' : `the namespaces of the team ${team}`}, and nothing of other teams.`,
      groups: ['team:developers'],
    },
    {
      email: 'vera@fjordholt.example',
      name: 'Vera, support',
      does: 'Looks at everything but Secrets, and changes nothing.',
      groups: ['viewers'],
    },
  ]
}

/** The team whose developer can be signed in as: that of the scenario's namespaces. */
function demoTeam({ clusters }: SimulatedFleet): string | undefined {
  const teams = clusters.flatMap(({ simulator }) =>
    namespacesOf(simulator.storage).flatMap(({ metadata }) => metadata.labels?.['team'] ?? []),
  )
  return teams.includes(usualTeam) ? usualTeam : teams.toSorted()[0]
}

/** Gives the people their rights: roles and bindings of RBAC in each cluster. */
function bindDemoPeople({ clusters }: SimulatedFleet, team: string | undefined): void {
  for (const { simulator } of clusters) {
    const { storage } = simulator
    const reading = { verbs: ['get', 'list', 'watch'] }
    create(storage, 'clusterroles', 'ClusterRole', {
      metadata: { name: 'company:shared-reader' },
      rules: [
        { ...reading, apiGroups: [''], resources: ['nodes', 'namespaces', 'persistentvolumes'] },
        { ...reading, apiGroups: ['storage.k8s.io'], resources: ['storageclasses'] },
        { ...reading, apiGroups: ['scheduling.k8s.io'], resources: ['priorityclasses'] },
        {
          ...reading,
          apiGroups: ['apiextensions.k8s.io'],
          resources: ['customresourcedefinitions'],
        },
      ],
    })
    bind(storage, 'cluster-admin', ['sre'])
    bind(storage, 'view', ['viewers'])
    bind(storage, 'company:shared-reader', ['viewers', 'team:developers'])
    for (const { metadata } of namespacesOf(storage)) {
      const isTheirs =
        team === undefined ? metadata.name === 'default' : metadata.labels?.['team'] === team
      if (isTheirs) bind(storage, 'edit', ['team:developers'], { namespace: metadata.name })
    }
  }
}

/** How the demo's gateway signs its visitors in. Those who do not sign in see everything. */
function demoAuthentication(given: AuthenticationOptions, issuer: string): AuthenticationOptions {
  return {
    ...given,
    mode: 'oidc-login',
    tokenClusters: ['*'],
    oidc: {
      issuer,
      algorithms: ['ES256'],
      usernameClaim: 'email',
      groupsClaim: 'groups',
      groupsPrefix: '',
      extraClaims: {},
      requiredClaims: {},
    },
    login: signInOptionsSchema.parse({ clientId: demoClient, required: false }),
  }
}

function namespacesOf(storage: Storage): readonly Unstructured[] {
  return [...storage.list({ group: '', version: 'v1', resource: 'namespaces' })]
}

function bind(
  storage: Storage,
  role: string,
  groups: readonly string[],
  place: { readonly namespace?: string } = {},
): void {
  const kind = place.namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding'
  create(storage, `${kind.toLowerCase()}s`, kind, {
    metadata: { name: `demo:${role}`, ...place },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
    subjects: groups.map((name) => ({ apiGroup: rbac, kind: 'Group', name })),
  })
}

function create(storage: Storage, resource: string, kind: string, object: object): void {
  storage.create({ group: rbac, version: 'v1', resource }, {
    apiVersion: `${rbac}/v1`,
    kind,
    ...object,
  } as Unstructured)
}
