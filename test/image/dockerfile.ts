import { readFileSync } from 'node:fs'

/** One instruction of a Dockerfile, lines put together. */
export interface Instruction {
  /** `COPY` */
  readonly name: string
  readonly text: string
}

/** What stands between one `FROM` and the next. */
export interface Stage {
  /** As `AS` calls it, or its number. */
  readonly name: string
  readonly base: string
  readonly instructions: readonly Instruction[]
}

/** The stages of a Dockerfile without its comments. */
export const readDockerfile = (file: string): readonly Stage[] => {
  const text = readFileSync(file, 'utf8').replaceAll(/^#.*\n/gm, '')
  const lines = text.replaceAll(/\\\n\s*/g, '').split('\n')
  const stages: { name: string; base: string; instructions: Instruction[] }[] = []
  for (const line of lines) {
    const [, name = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line.trim()) ?? []
    if (name === 'FROM') {
      const [base = '', , as] = rest.split(/\s+/)
      stages.push({ name: as ?? String(stages.length), base, instructions: [] })
    } else if (name !== '') stages.at(-1)?.instructions.push({ name, text: rest })
  }
  return stages
}

/** The last instruction of a name, as it counts. */
export const lastOf = ({ instructions }: Stage, name: string): string | undefined =>
  instructions.findLast((one) => one.name === name)?.text

/** What of the repository an engine would be given: nothing but what `.dockerignore` lets through by name. */
export const isInContext = (path: string): boolean => {
  const [everything, ...kept] = readFileSync('.dockerignore', 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  if (everything !== '*') throw new Error('.dockerignore lets everything through')
  const plain = path.replace(/\/$/, '')
  return kept.some((line) => `${plain}/`.startsWith(`${line.slice(1)}/`))
}
