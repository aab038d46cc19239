import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import type { Figures } from './measured-process.ts'

/** A table of one benchmark: contenders by name, each with the same figures. */
export interface ResultTable {
  readonly title: string
  readonly rows: Readonly<Record<string, Figures>>
}

const file = new URL('../RESULTS.md', import.meta.url)
const mark = '<!-- newest first -->'

/** Prints tables as Markdown and, where asked to, puts them on top of `bench/RESULTS.md` with date, commit and machine. */
export function publish(
  benchmark: string,
  tables: readonly ResultTable[],
  notes: readonly string[],
  options: { readonly record: boolean },
): void {
  const body = [
    ...tables.map(({ title, rows }) => `${title}\n\n${markdownTable(rows)}`),
    notes.map((note) => `- ${note}`).join('\n'),
  ].join('\n\n')
  console.log(`\n${body}\n`)
  if (!options.record) return
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  const date = new Date().toISOString().slice(0, 10)
  const machine = `Node ${process.versions.node}, ${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)} at the end`
  const entry = `## ${benchmark}, ${date}, ${commit}\n\n${machine}.\n\n${body}\n`
  const [head = '', ...rest] = readFileSync(file, 'utf8').split(mark)
  writeFileSync(file, `${head}${mark}\n\n${entry}${rest.join(mark)}`)
}

function markdownTable(rows: Readonly<Record<string, Figures>>): string {
  const figures = [...new Set(Object.values(rows).flatMap((row) => Object.keys(row)))]
  const lines = Object.entries(rows).map(
    ([name, row]) => `| ${name} | ${figures.map((figure) => rounded(row[figure])).join(' | ')} |`,
  )
  return [
    `| | ${figures.join(' | ')} |`,
    `|---|${figures.map(() => '---:|').join('')}`,
    ...lines,
  ].join('\n')
}

/** Three digits that count: more would claim a precision that a shared machine does not have. */
function rounded(value: number | undefined): string {
  if (value === undefined) return ''
  return Number(value.toPrecision(3)).toLocaleString('en', { maximumSignificantDigits: 3 })
}

/** `2.3x`. */
export function ratio(a: number | undefined, b: number | undefined): string {
  return a === undefined || b === undefined || b === 0 ? '-' : `${(a / b).toPrecision(2)}x`
}
