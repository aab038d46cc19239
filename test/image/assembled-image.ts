import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { isInContext, lastOf, readDockerfile, type Stage } from './dockerfile.ts'

const run = promisify(execFile)

/** What an image would be made of, in a folder, and what it would be started with. */
export interface AssembledImage extends AsyncDisposable {
  /** The image's files beyond those of its base: what stands in `WORKDIR`. */
  readonly dir: string
  readonly workdir: string
  readonly user: string
  readonly entrypoint: readonly string[]
  readonly healthCheck: readonly string[]
}

const jsonOf = (text = ''): readonly string[] =>
  JSON.parse(text.slice(text.indexOf('['))) as readonly string[]

/** Runs a command as a stage would. What a stage installs to compile with is here already, as it would be there: by the same lock file. */
const runIn = async (dir: string, command: string): Promise<void> => {
  const isForTools = command.startsWith('npm ci') && !command.includes('--omit=dev')
  if (isForTools) return symlink(resolve('node_modules'), join(dir, 'node_modules'))
  const words = command.startsWith('npm ci') ? `${command} --prefer-offline` : command
  await run('sh', ['-c', words], { cwd: dir, maxBuffer: 16_777_216 })
}

/**
 * Does what the Dockerfile says, without an engine and without its bases: a folder for each stage, copies among them and from the
 * context that `.dockerignore` leaves. Paths are those below `WORKDIR`, or refused.
 */
export const assembleImage = async (): Promise<AssembledImage> => {
  const root = await mkdtemp(join(tmpdir(), 'informerql-image-'))
  const stages = readDockerfile('Dockerfile')
  const dirOf = (stage: string): string => join(root, stage)
  const copy = async (stage: Stage, text: string): Promise<void> => {
    const words = text.split(/\s+/)
    const from = words[0]?.startsWith('--from=') === true ? words.shift()?.slice(7) : undefined
    const target = words.pop() ?? ''
    const workdir = `${lastOf(stage, 'WORKDIR') ?? ''}/`
    for (const word of words) {
      if (from === undefined && !isInContext(word)) throw new Error(`${word}: not in the context`)
      if (from !== undefined && !word.startsWith(workdir)) throw new Error(`${word}: elsewhere`)
      const source = from === undefined ? word : join(dirOf(from), word.slice(workdir.length))
      const isFolder = word.endsWith('/') || !target.endsWith('/')
      const dest = join(dirOf(stage.name), target, isFolder ? '' : basename(word))
      await mkdir(join(dest, '..'), { recursive: true })
      await cp(source, dest, { recursive: true, verbatimSymlinks: true })
    }
  }
  for (const stage of stages) {
    await mkdir(dirOf(stage.name))
    for (const { name, text } of stage.instructions) {
      if (name === 'COPY') await copy(stage, text)
      if (name === 'RUN') await runIn(dirOf(stage.name), text)
    }
  }
  const last = stages.at(-1)
  if (last === undefined) throw new Error('the Dockerfile has no stage')
  return {
    dir: dirOf(last.name),
    workdir: lastOf(last, 'WORKDIR') ?? '',
    user: lastOf(last, 'USER') ?? '',
    entrypoint: jsonOf(lastOf(last, 'ENTRYPOINT')),
    healthCheck: jsonOf(lastOf(last, 'HEALTHCHECK')),
    [Symbol.asyncDispose]: async () => rm(root, { recursive: true, force: true }),
  }
}
