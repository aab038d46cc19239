import { isLoopback } from '../server/guard/origin-check.ts'
import { describePopulation, summarizePopulation } from '../simulator/population/plan.ts'
import {
  type SimulatedFleet,
  type SimulatedFleetCluster,
  startSimulatedFleet,
} from '../simulator/simulated-fleet.ts'
import { startSimulatedCluster } from '../simulator/simulated-cluster.ts'
import { listenError } from '../server/listen.ts'
import { signInPaths } from '../access/sign-in/sign-in.ts'
import { bindDemoPeople, demoAuthentication, demoPeople, demoTeam } from './demo-people.ts'
import { type DemoPerson, DemoProvider } from './demo-provider.ts'
import { followCutKeys } from './cut-keys.ts'
import { firstQuery } from './example-operations.ts'
import { faultsPath, faultsRoute } from './faults-route.ts'
import { aborted, type CommandContext, runGateway } from './run-gateway.ts'

/** `demo`: the simulated clusters of a company and a gateway to them, until the signal aborts. */
export async function demo(context: CommandContext): Promise<void> {
  const { config, log, print, signal } = context
  const { eventsPerSecond, ...population } = config.simulator
  // Nothing can be broken here that a restart does not mend.
  const { allowWrites = true } = config
  await using provider = new DemoProvider()
  await using fleet = await startSimulatedFleet({
    population,
    access: { authorization: 'rbac', identifyToken: (token) => userOf(provider.personOf(token)) },
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
    { log, signal, print, config: { ...config, auth, allowWrites, clusters, clusterSources: [] } },
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
        `  curl ${url} -H 'content-type: application/json' \\\n    -d '${asBody(firstQuery)}'\n\n`,
      )
      if (hasFaults) print(faultsText(fleet, new URL(faultsPath, url).href))
      if (followCutKeys(process.stdin, { fleet, print, signal })) {
        const keys = fleet.clusters.map(({ name }, index) => `${index + 1} ${name}`).join(', ')
        print(`A key cuts a cluster off, and mends it when pressed again: ${keys}.\n`)
      }
      print('Ctrl-C stops it.\n')
    },
    hasFaults ? { [faultsPath]: faultsRoute(fleet) } : {},
  )
}

function userOf(
  person: DemoPerson | undefined,
): { user: string; groups: readonly string[] } | undefined {
  return person === undefined ? undefined : { user: person.email, groups: person.groups }
}

/** `simulate`: the simulated API server alone, until the signal aborts. */
export async function simulate(
  { config, log, print, signal }: CommandContext,
  port: number,
): Promise<void> {
  const { eventsPerSecond, ...population } = config.simulator
  const starting = startSimulatedCluster({
    port,
    population,
    metrics: true,
    churn: { seed: population.seed, eventsPerSecond },
    onChurnError: (error) => log.error('the simulated cluster has stopped changing', { error }),
  })
  await using cluster = await starting.catch((error: NodeJS.ErrnoException) => {
    throw error.syscall === 'listen' ? listenError('127.0.0.1', port, error) : error
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
    `  ${name}: Kubernetes ${kubernetes}${labelsText(labels)}`,
    `    ${size}`,
    `    kubectl --server=${simulator.url} get pods -A`,
    ...(broken.length === 0 ? [] : ['    Broken on purpose:']),
    ...broken.map((sentence) => `      - ${sentence}`),
  ])
  return [`Simulating ${all[0]?.company ?? ''}: ${pods} pods in ${count}.`, ...parts, '', ''].join(
    '\n',
  )
}

function labelsText(labels: SimulatedFleetCluster['labels']): string {
  return Object.entries(labels)
    .map(([key, value]) => `, ${key}=${value}`)
    .join('')
}

function faultsText({ clusters }: SimulatedFleet, url: string): string {
  const name = (clusters[1] ?? clusters[0])?.name ?? ''
  const order = (fault: string): string => `'{"cluster":"${name}","fault":"${fault}"}'`
  return `Cut a cluster off, and mend it:\n\n  curl ${url} -d ${order('cut')}\n  curl ${url} -d ${order('mend')}\n\n`
}

function asBody(query: string): string {
  return JSON.stringify({ query: query.replaceAll(/\s+/g, ' ') })
}
