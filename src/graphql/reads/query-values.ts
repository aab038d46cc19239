import type {
  CanArguments,
  CompleteArguments,
  KubernetesObjectsArguments,
  NamespacesArguments,
  PodLogsArguments,
  ProblemsArguments,
  SearchArguments,
} from '../schema/read-arguments.ts'
import type { PodLogsSource } from '../schema/read-context.ts'
import { clusterStates } from './fleet-state.ts'
import { readAnyKinds } from './over-kinds/any-kinds-list.ts'
import { readProblems } from './over-kinds/problems-read.ts'
import { readCompletions, readSearch } from './over-kinds/search-read.ts'
import { canAnywhere, listedNamespaces } from './permissions.ts'
import type { ReadRun } from './read-run.ts'

/**
 * The value of `Query` in one run: its members are the fields of the gateway's own that are values all the way down. The
 * value writer reads them; its `memberNeeds` names the kinds that some of them need first. `undefined` stands for what
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

  kubernetesObjects(args: KubernetesObjectsArguments): object {
    return readAnyKinds(this.#run, args)
  }

  search(args: SearchArguments): object {
    return readSearch(this.#run, args)
  }

  complete(args: CompleteArguments): object {
    return readCompletions(this.#run, args)
  }

  problems(args: ProblemsArguments): object {
    return readProblems(this.#run, args)
  }

  podLogs(args: PodLogsArguments): PodLogsSource | null {
    const { direct, budget } = this.#run
    const logs = direct.logs(args, budget)
    if (logs === undefined) return null
    budget.spend('rows', logs.lines.length)
    return logs
  }
}
