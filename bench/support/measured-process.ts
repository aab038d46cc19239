import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** What one measured process reports: figures by name, as its last line. */
export type Figures = Readonly<Record<string, number>>

export interface MeasureOptions {
  readonly deadlineMs?: number
  /** Options of Node besides `--expose-gc`. */
  readonly nodeOptions?: readonly string[]
  readonly onLine?: () => void
}

/**
 * Runs a script of `bench/process` in a process of its own and returns its figures, so that one contender's heap and
 * garbage are never another's. `onLine` is called for each line that it prints before them. Fails after `deadlineMs`.
 */
export async function measure(
  script: string,
  args: readonly (string | number)[],
  { deadlineMs = 300_000, nodeOptions = [], onLine }: MeasureOptions = {},
): Promise<Figures> {
  const options = ['--expose-gc', ...nodeOptions]
  const child = spawn(process.execPath, [...options, script, ...args.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), deadlineMs)
  let last = ''
  for await (const line of createInterface({ input: child.stdout })) {
    last = line
    if (!line.startsWith('{')) onLine?.()
  }
  clearTimeout(timer)
  try {
    return JSON.parse(last) as Figures
  } catch (cause) {
    throw new Error(`${script} ${args.join(' ')} reported ${JSON.stringify(last)}`, { cause })
  }
}

/** The median, figure by figure. */
export function medianOf(runs: readonly Figures[]): Figures {
  const medians: Record<string, number> = {}
  for (const name of Object.keys(runs[0] ?? {})) {
    const values = runs.flatMap((run) => run[name] ?? []).toSorted((a, b) => a - b)
    const middle = values[Math.floor(values.length / 2)]
    if (middle !== undefined) medians[name] = middle
  }
  return medians
}

/**
 * Runs every contender once per round, one after the other, and returns each one's median: a noisy minute then hits all
 * of them.
 */
export async function interleave(
  contenders: Readonly<Record<string, () => Promise<Figures>>>,
  rounds: number,
): Promise<Record<string, Figures>> {
  const runs: Record<string, Figures[]> = {}
  for (let round = 1; round <= rounds; round++) await runRound(contenders, round, runs)
  return mediansOf(runs)
}

/** Runs every contender once and adds what they report to `runs`. */
export async function runRound(
  contenders: Readonly<Record<string, () => Promise<Figures>>>,
  round: number,
  runs: Record<string, Figures[]>,
): Promise<void> {
  for (const [name, run] of Object.entries(contenders)) {
    const figures = await run()
    console.error(`round ${round}: ${name}: ${JSON.stringify(figures)}`)
    ;(runs[name] ??= []).push(figures)
  }
}

/** Each contender's median, figure by figure. */
export function mediansOf(
  runs: Readonly<Record<string, readonly Figures[]>>,
): Record<string, Figures> {
  return Object.fromEntries(Object.entries(runs).map(([name, all]) => [name, medianOf(all)]))
}
