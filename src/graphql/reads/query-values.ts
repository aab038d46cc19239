import type {
  CanArguments,
  NamespacesArguments,
  PodLogsArguments,
} from '../schema/read-arguments.ts'
import type { PodLogsSource } from '../schema/read-context.ts'
import { clusterStates } from './fleet-state.ts'
import { canAnywhere, listedNamespaces } from './permissions.ts'
import type { ReadRun } from './read-run.ts'

/**
 * The value of `Query` in one run: its members are the fields of the gateway's own that are values all the way down. The
 * value writer reads them for plans, and graphql-js by default, with this as its root value. `undefined` stands for what
 * the server has to ask first; the run is repeated.
 */
export class QueryValues {
  readonly #run: ReadRun

  constructor(run: ReadRun) {
    this.#run = run
  }

  /** `null` if the server does not authenticate callers. */
  get viewer(): object | null {
    const run = this.#run
    const { access } = run.parts
    if (access === undefined) return null
    const { username, groups } = access.viewer
    const namespaces = (args: NamespacesArguments) => listedNamespaces(run.served, run, args)
    return { username, groups, namespaces }
  }

  can(args: CanArguments): boolean | undefined {
    return canAnywhere(this.#run.served, this.#run, args)
  }

  gatewayClusters(): readonly object[] {
    return clusterStates(this.#run)
  }

  podLogs(args: PodLogsArguments): PodLogsSource | null {
    const { direct, budget } = this.#run
    const logs = direct.logs(args, budget)
    if (logs === undefined) return null
    budget.spend('rows', logs.lines.length)
    return logs
  }
}
