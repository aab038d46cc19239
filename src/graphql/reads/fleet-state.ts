import type { ClusterCache } from '../../cache/cluster-cache.ts'
import type { ResourcesArguments } from '../schema/read-arguments.ts'
import { CodedError } from '../../lib/coded-error.ts'
import { type ServedCluster, servesWrites } from '../served/served-schema.ts'
import { OncePerRun, type ReadRun } from './read-run.ts'
import { resourceStates } from './resource-states.ts'

/** The states of all clusters. */
export function clusterStates(run: ReadRun): readonly object[] {
  const states = Array.from(run.served.clusters.keys(), (name) => clusterState(run, name))
  return states.filter((one) => one !== null)
}

const known = new OncePerRun<object | null>()

/** The state of a cluster, whose members are the fields of `GatewayCluster`; `null` for an unknown one. The rows of a run share it, and pay for it once. */
export function clusterState(run: ReadRun, name: string): object | null {
  return known.of(run, name, () => {
    const cluster = run.served.clusters.get(name)
    return cluster === undefined ? null : stateOf(run, cluster)
  })
}

function stateOf(run: ReadRun, cluster: ClusterCache): object {
  run.budget.spend('fields', 1)
  const { name, connection, uid = null } = cluster
  const access = run.served.access.get(name)
  const isConnected = connection.state === 'connected'
  const member = run.served.members.get(name)
  if (member === undefined) throw new TypeError(`there is no cluster ${name}`)
  const { labels, source, state, since, problem } = member
  const whole = new Map<string, readonly object[]>()
  return {
    name,
    labels,
    source,
    state,
    since: since.toISOString(),
    problem: problemCode(member),
    problemText: run.parts.access === undefined ? (problem?.message ?? null) : null,
    version: isConnected ? connection.version : null,
    uid,
    writable: servesWrites(run.served),
    permissions:
      access?.state === undefined ? null : { state: access.state, resources: access.positions },
    resources(args: ResourcesArguments) {
      run.parts.dependsOnViewer?.()
      const asked = JSON.stringify(args)
      const seenBefore = whole.get(asked)
      if (seenBefore !== undefined) return seenBefore
      const states = resourceStates(run, cluster, args)
      const seen = states.filter((one) => one !== undefined)
      if (!states.includes(undefined)) whole.set(asked, seen)
      return seen
    },
  }
}

function problemCode({ state, problem }: ServedCluster): string | null {
  if (state === 'UNREACHABLE' || state === 'UNAUTHORIZED') return `CLUSTER_${state}`
  if (problem === undefined) return null
  return problem instanceof CodedError ? problem.code : 'UNKNOWN'
}
