import { readFileSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { parseDocument } from 'yaml'
import { isRecord } from '../../lib/json.ts'
import { ClusterConfigError } from './cluster-config.ts'

/** An entry of a kubeconfig's lists: its name, and its body with absolute paths. */
export interface KubeconfigEntry {
  readonly name: string
  readonly body: Readonly<Record<string, unknown>>
  /** The file that contains it. */
  readonly file: string
}

/** The contents of one or several merged kubeconfig files. */
export interface Kubeconfig {
  readonly files: readonly string[]
  readonly clusters: ReadonlyMap<string, KubeconfigEntry>
  readonly users: ReadonlyMap<string, KubeconfigEntry>
  readonly contexts: ReadonlyMap<string, KubeconfigEntry>
  readonly currentContext: string | undefined
}

/** Paths that client-go resolves relative to their file. */
const pathFields: readonly string[] = [
  'certificate-authority',
  'client-certificate',
  'client-key',
  'tokenFile',
]

/** Reads a file; `undefined` if it does not exist. Throws {@link ClusterConfigError}, with the line if known. */
export function readKubeconfig(file: string): Kubeconfig | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new ClusterConfigError(
      'KUBECONFIG_UNREADABLE',
      `kubeconfig ${file} cannot be read: ${(error as Error).message}`,
      { value: file, cause: error, hint: 'make the file readable for the user of this process' },
    )
  }
  return parseKubeconfig(text, file)
}

/** Merges like kubectl: the first file wins for entries with the same name, and for the current context. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const merge = (part: 'clusters' | 'users' | 'contexts') =>
    new Map(configs.toReversed().flatMap((config) => [...config[part]]))
  return {
    files: configs.flatMap(({ files }) => files),
    clusters: merge('clusters'),
    users: merge('users'),
    contexts: merge('contexts'),
    currentContext: configs.find(({ currentContext }) => currentContext !== undefined)
      ?.currentContext,
  }
}

function parseKubeconfig(text: string, file: string): Kubeconfig {
  const document = parseDocument(text, { prettyErrors: false })
  const [error] = document.errors
  if (error !== undefined) {
    const line = text.slice(0, error.pos[0]).split('\n').length
    throw invalid(file, `line ${line}: ${error.message}`, error)
  }
  const root: unknown = document.toJS() ?? {}
  if (!isRecord(root)) throw invalid(file, 'it is not a mapping')
  const current = root['current-context']
  return {
    files: [file],
    clusters: entriesOf(root, 'clusters', 'cluster', file),
    users: entriesOf(root, 'users', 'user', file),
    contexts: entriesOf(root, 'contexts', 'context', file),
    currentContext: typeof current === 'string' && current !== '' ? current : undefined,
  }
}

function entriesOf(
  root: Readonly<Record<string, unknown>>,
  list: string,
  member: string,
  file: string,
): Map<string, KubeconfigEntry> {
  const values = root[list] ?? []
  if (!Array.isArray(values)) throw invalid(file, `${list} is not a list`)
  const entries = new Map<string, KubeconfigEntry>()
  for (const [position, value] of (values as unknown[]).entries()) {
    const name = isRecord(value) ? value['name'] : undefined
    if (typeof name !== 'string' || name === '') {
      throw invalid(file, `${list}[${position}] has no name`)
    }
    const body = (value as Record<string, unknown>)[member] ?? {}
    if (!isRecord(body)) throw invalid(file, `${list}[${position}].${member} is not a mapping`)
    if (!entries.has(name)) entries.set(name, { name, file, body: withAbsolutePaths(body, file) })
  }
  return entries
}

function withAbsolutePaths(
  body: Readonly<Record<string, unknown>>,
  file: string,
): Readonly<Record<string, unknown>> {
  const absolute: Record<string, unknown> = { ...body }
  const directory = dirname(file)
  for (const field of pathFields) {
    const path = body[field]
    if (typeof path === 'string' && path !== '' && !isAbsolute(path)) {
      absolute[field] = join(directory, path)
    }
  }
  const exec = body['exec']
  if (isRecord(exec) && typeof exec['command'] === 'string') {
    const { command } = exec
    // A bare name is searched in PATH; only a path is relative to the file.
    const isPath = /[/\\]/.test(command) && !isAbsolute(command)
    absolute['exec'] = { ...exec, command: isPath ? join(directory, command) : command }
  }
  return absolute
}

function invalid(file: string, problem: string, cause?: unknown): ClusterConfigError {
  return new ClusterConfigError('KUBECONFIG_INVALID', `kubeconfig ${file}: ${problem}`, {
    value: file,
    cause,
    hint: 'kubectl config view --kubeconfig FILE shows what kubectl makes of it',
  })
}
