import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** What one measured process reports, as its last line of JSON. */
export type Report = Readonly<Record<string, number | string>>

/**
 * Runs a script of this folder in a process of its own, with garbage collection exposed, and returns its report: so
 * that one contender's heap and garbage are never another's. Fails after `deadlineMs`.
 */
export async function measure(
  script: string,
  args: readonly string[],
  deadlineMs = 300_000,
): Promise<Report> {
  const child = spawn(process.execPath, ['--expose-gc', script, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), deadlineMs)
  let last = ''
  for await (const line of createInterface({ input: child.stdout })) last = line
  clearTimeout(timer)
  if (last === '') throw new Error(`${script} ${args.join(' ')} reported nothing`)
  return JSON.parse(last) as Report
}

/** The median of the reports' numbers, figure by figure. */
export function medianOf(reports: readonly Report[]): Record<string, number> {
  const medians: Record<string, number> = {}
  for (const name of Object.keys(reports[0] ?? {})) {
    const values = reports
      .map((report) => report[name])
      .filter((value) => typeof value === 'number')
      .toSorted((a, b) => a - b)
    const middle = values[Math.floor(values.length / 2)]
    if (middle !== undefined) medians[name] = middle
  }
  return medians
}

/** Prints a table of figures, one row per contender, rounded for reading. */
export function printTable(rows: Readonly<Record<string, Record<string, number>>>): void {
  console.table(
    Object.fromEntries(
      Object.entries(rows).map(([name, row]) => [
        name,
        Object.fromEntries(
          Object.entries(row).map(([figure, value]) => [figure, Number(value.toPrecision(3))]),
        ),
      ]),
    ),
  )
}
