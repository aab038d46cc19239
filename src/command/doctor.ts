import { version as nodeVersion } from 'node:process'
import type { Config } from '../config/config.ts'
import { packageVersion } from '../gateway/package-version.ts'
import { boundedParallel } from '../lib/concurrency.ts'
import { DeadlineError, withDeadline } from '../lib/deadline.ts'
import { ClusterExamination } from './cluster-examination.ts'
import type { Finding } from './credential-facts.ts'
import { examineProgram } from './program-examination.ts'

/** What is known of one cluster, or, in `program`, of the gateway itself. */
interface Examined {
  readonly name: string
  readonly findings: readonly Finding[]
}

/** The report of `informerql doctor --json`. */
export interface DoctorReport {
  readonly informerql: string
  readonly node: string
  readonly program: readonly Finding[]
  readonly clusters: readonly Examined[]
  readonly problems: number
  readonly warnings: number
}

/** How many clusters are examined side by side. */
const mostClusters = 8
/** For all steps of one cluster, its dry start included. */
const clusterDeadlineMs = 90_000

/**
 * Examines what the gateway needs: its configuration, and of each cluster the way to it, the credentials, the clock,
 * the versions, the rights, and a start. The signal ends it early.
 */
export async function examine(config: Config, signal: AbortSignal): Promise<DoctorReport> {
  const examining = examineProgram(config)
  const clusters = await boundedParallel(config.clusters, mostClusters, async (cluster) => {
    const examination = new ClusterExamination(cluster, config)
    const running = examination.run()
    const what = `examining ${cluster.name}`
    await withDeadline(what, running, clusterDeadlineMs, signal).catch((error: unknown) => {
      const isLate = error instanceof DeadlineError
      examination.stop(isLate ? error : new Error(`the examination ended: ${String(error)}`))
    })
    return { name: cluster.name, findings: examination.findings }
  })
  const program = await examining
  const all = [...program, ...clusters.flatMap(({ findings }) => findings)]
  const count = (state: Finding['state']): number =>
    all.filter((finding) => finding.state === state).length
  return {
    informerql: packageVersion(),
    node: nodeVersion,
    program,
    clusters,
    problems: count('problem'),
    warnings: count('warning'),
  }
}

const widthOfState = 8
const widthOfCheck = 15

/** The report for people: a line for each finding, and the way out below. */
export function reportText(report: DoctorReport): string {
  const { informerql, node, program, clusters, problems, warnings } = report
  const parts = [
    { name: `informerql ${informerql}, Node ${node}`, findings: program },
    ...clusters,
  ].map(({ name, findings }) => [name, ...findings.flatMap(linesOf), ''].join('\n'))
  const sum = `${plural(clusters.length, 'cluster')}: ${plural(problems, 'problem')}, ${plural(warnings, 'warning')}`
  return `${parts.join('\n')}\n${sum}\n`
}

function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

function linesOf({ check, state, message, hint }: Finding): readonly string[] {
  const ahead = `  ${state.padEnd(widthOfState)} ${check.padEnd(widthOfCheck)} `
  const line = ahead + oneLine(message)
  return hint === undefined ? [line] : [line, `${' '.repeat(ahead.length)}→ ${oneLine(hint)}`]
}

/** API servers and plugins write the messages: no control character of theirs reaches the terminal. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/\p{Cc}/gu, '\u{FFFD}')
}
